// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/bxi/fabric.h"

#include <algorithm>

#include "net_models/bxi/sharing.h"

namespace umwelt::net
{

using sim::SimTime;

BxiFabric::BxiFabric(const platform::Platform& platform, const BxiParameters& parameters, sim::Timeline& timeline,
                     Client& client, const platform::LinkFailures* failures)
    : platform_(platform), timeline_(timeline), client_(client), coding_(parameters.coding),
      full_packet_(parameters.packet + parameters.packet_header), header_(parameters.header), faults_(parameters),
      failures_(failures)
{
}

BxiFabric::~BxiFabric() = default;

void BxiFabric::learn(platform::LinkIndex upto)
{
  while (links_.size() <= upto) {
    const platform::Link& link = platform_.link(static_cast<platform::LinkIndex>(links_.size()));
    BxiLink& made = links_.emplace_back();
    made.bandwidth = link.bandwidth * coding_;
    made.latency = link.latency;
    made.packet = sim::transfer_time(full_packet_, made.bandwidth);
    made.faults = faults_.on(link.name);
    if (failures_ != nullptr)
      made.failures = failures_->periods(static_cast<platform::LinkIndex>(links_.size() - 1));
  }
  known_ = links_.size();
}

// The port of the switch (or the NIC's virtual network) through which a message comes to its next link.
std::uint32_t BxiFabric::input_of(const Passage& passage)
{
  return passage.hop == 0 ? passage.network : passage.route->links[passage.hop - 1];
}

BxiFabric::Entry BxiFabric::book(Passage& passage)
{
  const platform::LinkIndex index = passage.route->links[passage.hop];
  BxiLink& link = state(index);
  if (passage.one_packet) {
    const SimTime duration = sim::transfer_time(passage.bytes, link.bandwidth);
    passage.start = std::max(passage.head, link.short_free);
    if (link.end > passage.start)
      book_short(link, passage, duration);
    link.short_free = passage.start + duration;
    return passage.start > passage.head ? Entry::later : Entry::free;
  }
  const SimTime now = timeline_.now();
  passage.start = std::max({passage.head, link.short_free, now});
  if (link.end > passage.start) {
    // Rounding, or the packets of others, made the message before it in the same port late by less than a packet.
    const bool follows =
        link.end != sim::never && link.end - passage.start <= link.packet && link.input == input_of(passage);
    if (!follows) {
      if (passage.head <= now)
        return join(index, passage);
      passage.start = passage.head;
      return Entry::ahead;
    }
    passage.start = link.end;
  }
  return passage.start > std::max(passage.head, now) ? Entry::ahead : Entry::free;
}

// A message of one packet meets long ones: on average it waits for half a packet of each.
void BxiFabric::book_short(BxiLink& link, Passage& passage, SimTime duration)
{
  const auto others = link.sharing != nullptr ? std::max<SimTime>(1, link.sharing->count()) : 1;
  passage.start += std::min(link.end - passage.start, others * link.packet / 2);
  if (link.sharing != nullptr && link.sharing->count() > 0) {
    link.sharing->single_packets += static_cast<double>(passage.bytes);
  } else if (link.end != sim::never) {
    const SimTime idle = std::min(link.slack, duration);
    link.slack -= idle;
    link.end += duration - idle;
    link.delayed += duration - idle;
    if (link.owner != nullptr)
      link.owner->late = std::max(link.owner->late, link.delayed); // once, however many links they have in common
  }
}

bool BxiFabric::pass(Passage& passage)
{
  const platform::LinkIndex index = passage.route->links[passage.hop];
  BxiLink& link = state(index);
  const bool survived = link.failures == nullptr || survives(index, passage);
  if (passage.one_packet) {
    passage.tail = std::max(passage.tail, passage.start + sim::transfer_time(passage.bytes, link.bandwidth)) +
                   link.latency + (passage.hop == 0 ? passage.pause : 0);
    ++passage.known;
  } else if (passage.shares) {
    passage.shares = false;
  } else {
    own(link, passage);
  }
  passage.head = passage.start + link.latency;
  ++passage.hop;
  if (load_ != nullptr) [[unlikely]]
    load_->carried(index, passage.bytes, passage.start);
  if (!survived)
    return false;
  if (!faults_.any())
    return true;
  const BxiFaults::Outcome outcome = faults_.cross(link.faults, passage.start);
  passage.corrupted |= outcome == BxiFaults::Outcome::corrupted;
  return outcome != BxiFaults::Outcome::lost;
}

// Whether the link is there when a message enters it, and, of one packet, until that has passed. A longer one is cut if
// it is still on the link when that fails.
bool BxiFabric::survives(platform::LinkIndex index, Passage& passage)
{
  BxiLink& link = links_[index];
  const SimTime until =
      passage.start + (passage.one_packet ? sim::transfer_time(passage.bytes, link.bandwidth) : SimTime{0});
  const auto first = platform::LinkFailures::first_after(*link.failures, passage.start);
  if (first != link.failures->end() && first->first <= until) {
    passage.cut = true;
    return false;
  }
  if (!passage.one_packet)
    await_failure(index);
  return true;
}

void BxiFabric::await_failure(platform::LinkIndex index)
{
  BxiLink& link = links_[index];
  const SimTime now = timeline_.now();
  auto next = platform::LinkFailures::first_after(*link.failures, now);
  if (next != link.failures->end() && next->first <= now) // one that lasts
    ++next;
  if (next == link.failures->end())
    return;
  if (link.failure == nullptr)
    link.failure = std::make_unique<BxiLinkFailure>(*this, index);
  if (!link.failure->pending())
    timeline_.schedule(*link.failure, next->first);
}

void BxiLinkFailure::fire()
{
  fabric_.cut(link_);
}

void BxiFabric::cut(platform::LinkIndex index)
{
  BxiLink& link = links_[index];
  const SimTime now = timeline_.now();
  bool used = false;
  if (link.owner != nullptr && link.end > now) {
    used = true;
    link.owner->cut |= link.begin <= now;
  }
  if (link.sharing != nullptr)
    for (const BxiSharing::Message& message : link.sharing->messages) {
      used = true;
      message.passage->cut = true;
    }
  if (used)
    await_failure(index);
}

BxiFabric::Entry BxiFabric::advance(Passage& passage)
{
  while (!passage.at_target()) {
    if (const Entry entry = book(passage); entry != Entry::free)
      return entry;
    if (!pass(passage))
      return Entry::lost;
  }
  return Entry::free;
}

// A long message has the link for itself.
void BxiFabric::own(BxiLink& link, Passage& passage)
{
  link.owner = &passage;
  link.hop = static_cast<std::uint32_t>(passage.hop);
  link.input = input_of(passage);
  link.bytes = static_cast<double>(passage.bytes);
  link.begin = passage.start;
  link.tail_in = passage.tail;
  link.slack = 0;
  link.delayed = 0;
  if (!passage.foreseen()) {
    link.end = sim::never;
    return;
  }
  const SimTime least = passage.start + sim::transfer_time(passage.bytes, link.bandwidth);
  link.end = std::max(passage.tail, least);
  link.slack = link.end - least;
  passage.tail = link.end + link.latency + (passage.hop == 0 ? passage.pause : 0);
  ++passage.known;
}

SimTime BxiFabric::injection(const Passage& passage)
{
  return sim::transfer_time(passage.bytes, state(passage.route->links.front()).bandwidth);
}

SimTime BxiFabric::header_in(const Passage& passage)
{
  return passage.one_packet ? passage.tail : passage.head + state(passage.route->links.back()).packet;
}

bool BxiFabric::control(const platform::Route& route, SimTime when, SimTime& arrival)
{
  arrival = when + route.latency + sim::transfer_time(header_, route.bandwidth * coding_);
  if (failures_ != nullptr && failures_->first_failure(route, when, arrival) != sim::never)
    return false;
  if (!faults_.any())
    return true;
  return std::all_of(route.links.begin(), route.links.end(), [&](platform::LinkIndex index) {
    return faults_.cross(state(index).faults, when) == BxiFaults::Outcome::passes;
  });
}

} // namespace umwelt::net
