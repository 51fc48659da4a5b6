// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/computing.h"

#include "runtime/base/usage_error.h"
#include "runtime/job/energy.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

Computing::Computing(const plan::NodeCpus& cpus, const rank_host::Cpu& cpu, const platform::Platform& platform)
    : cpus_(cpus), changes_(cpus.change()), cpu_(cpu), platform_(platform), assignment_(assignment_of(cpus_))
{
  if (!cpus_.regions.empty())
    regions_ = std::make_unique<NodeRegions>(cpus_, assignment_);
}

void Computing::begins(Rank& rank, sim::SimTime now)
{
  const engine::CpuPolicy& policy = cpus_.kinds[assignment_.at(rank.node, now)];
  const double pace = energy_ != nullptr ? energy_->pace(rank.node, now) : 1;
  cpu_.use(rank.gate.clock, policy, platform_.node(rank.node).speed * pace, pace);
  rank.gate.times_copies = policy.measures() ? 1 : 0;
}

std::size_t Computing::set(const plan::CpuChoice& choice, sim::SimTime now)
{
  if (choice.policy.measures() && !cpu_.measured())
    throw UsageError(choice.text, "none or fixed=NS, for in this run nothing is measured", choice.policy.text(),
                     "Start it with --cpu measured or scale=F, and set cpu=none then.");
  const std::vector<std::uint32_t> nodes = cpus_.nodes_of(choice);
  assignment_.set(nodes, cpus_.kind_of(choice), now);
  return nodes.size();
}

observe::CpusRecord Computing::record() const
{
  observe::CpusRecord record;
  record.change = changes_;
  record.changes = changes_of(assignment_, [this](auto index) { return cpus_.kinds[index].text(); });
  record.not_reached = not_reached(cpus_, assignment_, regions_.get());
  return record;
}

} // namespace umwelt::job
