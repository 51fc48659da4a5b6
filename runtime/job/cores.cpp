// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/cores.h"

#include <algorithm>

namespace umwelt::job
{

class Cores::Node final : public engine::Neighbours
{
public:
  explicit Node(engine::Scheduler& scheduler) : scheduler_(scheduler) {}

  engine::Core& at(unsigned core)
  {
    if (core >= cores_.size())
      cores_.resize(core + 1);
    if (!cores_[core])
      cores_[core] = std::make_unique<engine::Core>(scheduler_, this);
    return *cores_[core];
  }

  // Takes a burst over from the busiest that can give one, if that then still has as many as this one.
  void relieved(engine::Core& core) override
  {
    while (pull(core))
      ;
  }

private:
  bool pull(engine::Core& core)
  {
    const auto number = static_cast<unsigned>(
        std::find_if(cores_.begin(), cores_.end(), [&core](const auto& own) { return own.get() == &core; }) -
        cores_.begin());
    std::vector<engine::Core*> busier;
    for (const auto& other : cores_)
      if (other && other->load() >= core.load() + 2)
        busier.push_back(other.get());
    std::stable_sort(busier.begin(), busier.end(),
                     [](const engine::Core* a, const engine::Core* b) { return a->load() > b->load(); });
    return std::any_of(busier.begin(), busier.end(),
                       [&core, number](engine::Core* other) { return core.take_over(*other, number); });
  }

  engine::Scheduler& scheduler_;
  std::vector<std::unique_ptr<engine::Core>> cores_;
};

Cores::Cores(engine::Scheduler& scheduler, std::size_t nodes) : scheduler_(scheduler), nodes_(nodes)
{
}

Cores::~Cores() = default;

engine::Core& Cores::at(std::uint32_t node, unsigned core)
{
  if (!nodes_[node])
    nodes_[node] = std::make_unique<Node>(scheduler_);
  return nodes_[node]->at(core);
}

engine::Core& Cores::choose(std::uint32_t node, engine::CoreBinding& place)
{
  const auto& allowed = place.allowed;
  if (allowed.size() == 1)
    return at(node, place.core = allowed.front());
  if (!std::binary_search(allowed.begin(), allowed.end(), place.core))
    place.core = allowed.front();
  if (at(node, place.core).load() > 0)
    for (const unsigned other : allowed)
      if (at(node, other).load() < at(node, place.core).load())
        place.core = other;
  return at(node, place.core);
}

} // namespace umwelt::job
