// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/bxi/fabric.h"

#include <algorithm>

namespace umwelt::net
{

BxiFabric::BxiFabric(const platform::Platform& platform, const BxiParameters& parameters)
    : platform_(platform), coding_(parameters.coding), full_packet_(parameters.packet + parameters.packet_header),
      header_(parameters.header), faults_(parameters)
{
}

BxiFabric::LinkState& BxiFabric::state(platform::LinkIndex index)
{
  while (links_.size() <= index) {
    const platform::Link& link = platform_.link(static_cast<platform::LinkIndex>(links_.size()));
    const double bandwidth = link.bandwidth * coding_;
    links_.push_back({{}, bandwidth, link.latency, sim::transfer_time(full_packet_, bandwidth), faults_.on(link.name)});
  }
  return links_[index];
}

void BxiFabric::book(Passage& passage)
{
  LinkState& link = state(passage.route->links[passage.hop]);
  const sim::SimTime duration = sim::transfer_time(passage.bytes, link.bandwidth);
  passage.start = passage.one_packet ? link.pipe.book_short(passage.head, duration, link.packet)
                                     : link.pipe.book_long(passage.head, duration);
}

bool BxiFabric::pass(Passage& passage)
{
  LinkState& link = state(passage.route->links[passage.hop]);
  passage.tail =
      std::max(passage.tail, passage.start + sim::transfer_time(passage.bytes, link.bandwidth)) + link.latency;
  passage.head = passage.start + link.latency;
  ++passage.hop;
  if (!faults_.any())
    return true;
  const BxiFaults::Outcome outcome = faults_.cross(link.faults, passage.start);
  passage.corrupted |= outcome == BxiFaults::Outcome::corrupted;
  return outcome != BxiFaults::Outcome::lost;
}

sim::SimTime BxiFabric::injection(const Passage& passage)
{
  return sim::transfer_time(passage.bytes, state(passage.route->links.front()).bandwidth);
}

sim::SimTime BxiFabric::last_packet(const Passage& passage)
{
  return state(passage.route->links.back()).packet;
}

bool BxiFabric::control(const platform::Route& route, sim::SimTime when, sim::SimTime& arrival)
{
  arrival = when + route.latency + sim::transfer_time(header_, route.bandwidth * coding_);
  if (!faults_.any())
    return true;
  return std::all_of(route.links.begin(), route.links.end(), [&](platform::LinkIndex index) {
    return faults_.cross(state(index).faults, when) == BxiFaults::Outcome::passes;
  });
}

} // namespace umwelt::net
