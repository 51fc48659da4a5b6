// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/mixed/assignment.h"

#include <utility>

namespace umwelt::net
{

Assignment::Assignment(std::vector<Index> of_node, std::vector<Change> changes)
    : base_(std::move(of_node)), override_(base_.size()), now_(base_), changes_(std::move(changes)),
      next_at_(changes_.empty() ? sim::never : changes_.front().at)
{
}

// A region that many ranks enter at a time is one line.
void Assignment::note(SimTime at, std::size_t nodes, Index model)
{
  if (!switched_.empty() && switched_.back().at == at && switched_.back().model == model)
    switched_.back().nodes += nodes;
  else if (nodes > 0)
    switched_.push_back({at, nodes, model});
}

void Assignment::set(const std::vector<NodeIndex>& nodes, Index model, SimTime now)
{
  std::size_t changed = 0;
  for (const NodeIndex node : nodes) {
    base_[node] = model;
    if (override_[node])
      continue;
    changed += now_[node] != model ? 1 : 0;
    now_[node] = model;
  }
  note(now, changed, model);
}

void Assignment::override_with(NodeIndex node, std::optional<Index> model, SimTime now)
{
  if (next_at_ <= now)
    catch_up(now);
  override_[node] = model;
  const Index becomes = model.value_or(base_[node]);
  const bool changes = now_[node] != becomes;
  now_[node] = becomes;
  note(now, changes ? 1 : 0, becomes);
}

void Assignment::catch_up(SimTime now)
{
  for (; next_ < changes_.size() && changes_[next_].at <= now; ++next_)
    set(changes_[next_].nodes, changes_[next_].model, changes_[next_].at);
  next_at_ = next_ < changes_.size() ? changes_[next_].at : sim::never;
}

} // namespace umwelt::net
