// SPDX-License-Identifier: LGPL-2.1-or-later
// Max-min fair shares of one link's ports, and how a change there reaches the other links of its messages: their bytes
// come in at another rate, and their tails at another time.
#include "net_models/bxi/sharing.h"

#include <algorithm>
#include <cmath>

namespace umwelt::net
{

using sim::SimTime;

namespace
{

constexpr double per_picosecond = 1e-12;

SimTime duration(double bytes, double rate)
{
  return static_cast<SimTime>(std::ceil(bytes / rate));
}

} // namespace

// ---- One link ----

std::uint32_t BxiSharing::port_of(std::uint32_t input)
{
  std::size_t free = ports.size();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const bool used = ports[i].messages > 0 || ports[i].first_waiting != nullptr;
    if (used && ports[i].input == input)
      return static_cast<std::uint32_t>(i);
    if (!used)
      free = i;
  }
  if (free == ports.size())
    ports.emplace_back();
  ports[free] = {};
  ports[free].input = input;
  return static_cast<std::uint32_t>(free);
}

BxiSharing::Message* BxiSharing::find(const Passage& passage)
{
  for (Message& message : messages)
    if (message.passage == &passage)
      return &message;
  return nullptr;
}

void BxiSharing::add(Passage& passage, std::size_t hop, std::uint32_t port, double left, SimTime least)
{
  ++ports[port].messages;
  messages.push_back(
      {.passage = &passage, .hop = static_cast<std::uint32_t>(hop), .port = port, .left = left, .least = least});
}

void BxiSharing::remove(Message& message)
{
  --ports[message.port].messages;
  messages.erase(messages.begin() + (&message - messages.data()));
}

void BxiSharing::advance(SimTime now, double capacity)
{
  const auto passed = static_cast<double>(now - updated);
  if (passed <= 0)
    return;
  double moved = 0;
  for (const Message& message : messages)
    moved += message.rate * passed;
  // Single packets take what is left over, and then from all.
  const double taken = std::min(moved, std::max(0.0, single_packets - (capacity * passed - moved)));
  const double part = moved > 0 ? 1 - taken / moved : 1;
  for (Message& message : messages)
    message.left = std::max(0.0, message.left - message.rate * passed * part);
  single_packets = 0;
  updated = now;
}

void BxiSharing::divide(double capacity)
{
  std::size_t open = 0;
  for (Port& port : ports) {
    port.supply = 0;
    port.rate = -1; // has none yet
  }
  for (const Message& message : messages)
    ports[message.port].supply += message.supply;
  for (const Port& port : ports)
    open += port.messages > 0 ? 1 : 0;
  for (bool again = true; again && open > 0;) {
    again = false;
    const double fair = capacity / static_cast<double>(open);
    for (Port& port : ports)
      if (port.messages > 0 && port.rate < 0 && port.supply <= fair) {
        port.rate = port.supply;
        capacity = std::max(0.0, capacity - port.rate);
        --open;
        again = true;
      }
  }
  const double fair = open > 0 ? capacity / static_cast<double>(open) : 0;
  for (Port& port : ports)
    if (port.rate < 0)
      port.rate = fair;
  // In a port it is as in any queue: who has more in it leaves it faster.
  for (Message& message : messages) {
    const Port& port = ports[message.port];
    message.rate = port.supply > 0 ? message.supply * (port.rate / port.supply) : 0;
  }
}

// ---- Links together ----

// A message comes to a link that others use.
BxiFabric::Entry BxiFabric::join(platform::LinkIndex index, Passage& passage)
{
  const SimTime now = timeline_.now();
  if (links_[index].sharing == nullptr)
    links_[index].sharing = std::make_unique<BxiSharing>(*this, index);
  BxiLink& link = links_[index];
  BxiSharing& sharing = *link.sharing;
  if (sharing.messages.empty())
    share_with_owner(index);
  sharing.advance(now, link.bandwidth * per_picosecond);
  passage.shares = true;
  const std::uint32_t number = sharing.port_of(input_of(passage));
  BxiSharing::Port& port = sharing.ports[number];
  const bool behind = std::any_of(sharing.messages.begin(), sharing.messages.end(), [&](const auto& other) {
    return other.port == number && other.passage->known >= other.hop && other.passage->tail <= now;
  });
  if (behind || port.first_waiting != nullptr) {
    passage.next = nullptr;
    (port.first_waiting == nullptr ? port.first_waiting : port.last_waiting->next) = &passage;
    port.last_waiting = &passage;
    if (!sharing.pending() || sharing.messages.size() == 1)
      timeline_.schedule(sharing, now); // the one ahead was alone until now: its end is to be foreseen anew
    return Entry::waits;
  }
  passage.start = std::max(now, link.short_free) + sharing.count() * link.packet / 2;
  sharing.add(passage, passage.hop, number, static_cast<double>(passage.bytes),
              passage.start + sim::transfer_time(passage.bytes, link.bandwidth));
  touch(index);
  refresh();
  return Entry::free;
}

// The message that had the link for itself becomes one of several. Its end is not foreseen any more, here or further
// on.
void BxiFabric::share_with_owner(platform::LinkIndex index)
{
  BxiLink& link = links_[index];
  BxiSharing& sharing = *link.sharing;
  const SimTime now = timeline_.now();
  sharing.ports.clear();
  sharing.updated = now;
  sharing.single_packets = 0;
  if (link.owner != nullptr) {
    Passage& owner = *link.owner;
    double left = 0;
    if (link.end != sim::never) {
      left = now <= link.begin
                 ? link.bytes
                 : link.bytes * (static_cast<double>(link.end - now) / static_cast<double>(link.end - link.begin));
      owner.known = link.hop;
      owner.tail = link.tail_in;
      if (link.delayed > 0)
        owner.late = 0; // contained in what is left
      for (std::size_t hop = link.hop + 1; hop < owner.hop; ++hop) {
        BxiLink& next = link_of(owner, hop);
        if (next.owner == &owner && (next.sharing == nullptr || next.sharing->messages.empty()))
          next.end = sim::never;
      }
    } else {
      double rate = 0;
      left = std::max(upstream(owner, link.hop, rate),
                      link.bytes - link.bandwidth * per_picosecond * static_cast<double>(now - link.begin));
    }
    sharing.add(owner, link.hop, sharing.port_of(link.input), left,
                link.begin + sim::transfer_time(static_cast<std::uint64_t>(link.bytes), link.bandwidth));
  }
  link.owner = nullptr;
  link.end = sim::never;
}

// What of a message has not left the nearest link before `hop` that it shares, and how fast it does.
double BxiFabric::upstream(const Passage& passage, std::size_t hop, double& rate)
{
  while (hop-- > passage.known) {
    BxiLink& link = link_of(passage, hop);
    if (link.sharing == nullptr)
      continue;
    if (const BxiSharing::Message* message = link.sharing->find(passage); message != nullptr) {
      rate = message->rate;
      return std::max(0.0,
                      message->left - message->rate * static_cast<double>(timeline_.now() - link.sharing->updated));
    }
  }
  rate = 0;
  return 0;
}

// How fast the bytes of a message come, on average until the last; what waits in the switch counts as well. True: all
// of them have gone on, or will have when the tail comes in.
bool BxiFabric::supply(BxiLink& link, std::size_t which)
{
  BxiSharing::Message& message = link.sharing->messages[which];
  const Passage& passage = *message.passage;
  const double most = link.bandwidth * per_picosecond;
  message.supply = most;
  if (passage.known >= message.hop) {
    if (message.left <= BxiSharing::nothing)
      return true;
    const SimTime comes = passage.arrival() - timeline_.now();
    if (comes > 0)
      message.supply = std::min(most, message.left / static_cast<double>(comes));
    return false;
  }
  double rate = 0;
  const double to_come = upstream(passage, message.hop, rate);
  message.left = std::max(message.left, to_come);
  if (to_come > BxiSharing::nothing)
    message.supply = std::min(most, rate * (message.left / to_come));
  return false;
}

void BxiFabric::changed(platform::LinkIndex index)
{
  touch(index);
  refresh();
}

void BxiFabric::touch(platform::LinkIndex index)
{
  BxiSharing& sharing = *links_[index].sharing;
  if (sharing.touched)
    return;
  sharing.touched = true;
  touched_.push_back(index);
}

// The next link that the message shares.
void BxiFabric::touch_downstream(const Passage& passage, std::size_t hop)
{
  while (++hop < passage.hop) {
    BxiLink& link = link_of(passage, hop);
    if (link.sharing != nullptr && link.sharing->find(passage) != nullptr) {
      if (link.sharing->divisions < BxiSharing::most_divisions)
        touch(passage.route->links[hop]);
      return;
    }
  }
}

// Divides the links that something has changed on, and those that this changes.
void BxiFabric::refresh()
{
  if (refreshing_)
    return;
  refreshing_ = true;
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    BxiSharing& sharing = *links_[touched_[i]].sharing;
    sharing.touched = false;
    ++sharing.divisions;
    divide(touched_[i]);
  }
  for (const platform::LinkIndex index : touched_)
    links_[index].sharing->divisions = 0;
  touched_.clear();
  refreshing_ = false;
}

void BxiFabric::divide(platform::LinkIndex index)
{
  BxiLink& link = links_[index];
  BxiSharing& sharing = *link.sharing;
  sharing.advance(timeline_.now(), link.bandwidth * per_picosecond);
  finish(index);
  let_in(index);
  if (sharing.messages.size() <= 1)
    return leave_alone(index);
  std::vector<double>& before = rates_;
  before.clear();
  for (const BxiSharing::Message& message : sharing.messages)
    before.push_back(message.rate);
  sharing.divide(link.bandwidth * per_picosecond);
  SimTime next = sim::never;
  for (std::size_t i = 0; i < sharing.messages.size(); ++i) {
    const BxiSharing::Message& message = sharing.messages[i];
    if (message.passage->known >= message.hop)
      next = std::min(next, timeline_.now() + std::max<SimTime>(1, duration(message.left, message.rate)));
    if (message.rate != before[i])
      touch_downstream(*message.passage, message.hop);
  }
  if (next == sim::never)
    timeline_.cancel(sharing);
  else
    timeline_.schedule(sharing, next);
}

// Takes out what has passed and looks at what comes in for the others.
void BxiFabric::finish(platform::LinkIndex index)
{
  BxiLink& link = links_[index];
  BxiSharing& sharing = *link.sharing;
  const SimTime now = timeline_.now();
  for (std::size_t i = 0; i < sharing.messages.size();) {
    if (!supply(link, i)) {
      ++i;
      continue;
    }
    BxiSharing::Message& message = sharing.messages[i];
    Passage& passage = *message.passage;
    const SimTime end = std::max({now, passage.arrival(), message.least});
    sharing.remove(message);
    settle(passage, end);
  }
}

// Lets in what waited for those that were ahead of it in its port.
void BxiFabric::let_in(platform::LinkIndex index)
{
  BxiLink& link = links_[index];
  BxiSharing& sharing = *link.sharing;
  const SimTime now = timeline_.now();
  for (std::uint32_t number = 0; number < sharing.ports.size(); ++number) {
    BxiSharing::Port& port = sharing.ports[number];
    if (port.messages > 0)
      continue;
    const Passage* before = nullptr; // whose bytes may come in side by side with those of the next
    while (port.first_waiting != nullptr &&
           (before == nullptr || before->known < before->hop || before->tail > port.first_waiting->head)) {
      Passage& next = *port.first_waiting;
      before = &next;
      port.first_waiting = next.next;
      next.start = std::max(now, link.short_free);
      sharing.add(next, next.hop, number, static_cast<double>(next.bytes),
                  next.start + sim::transfer_time(next.bytes, link.bandwidth));
      supply(link, sharing.messages.size() - 1);
      client_.entered(next);
    }
  }
}

// One message or none is left.
void BxiFabric::leave_alone(platform::LinkIndex index)
{
  BxiLink& link = links_[index];
  BxiSharing& sharing = *link.sharing;
  timeline_.cancel(sharing);
  link.end = timeline_.now();
  link.owner = nullptr;
  if (sharing.messages.empty())
    return;
  BxiSharing::Message& message = sharing.messages.front();
  if (sharing.ports[message.port].first_waiting != nullptr) {
    // Others wait behind it: they are told when it ends.
    const double before = message.rate;
    sharing.divide(link.bandwidth * per_picosecond);
    link.end = sim::never;
    if (message.rate != before)
      touch_downstream(*message.passage, message.hop);
    if (message.passage->known >= message.hop)
      timeline_.schedule(sharing, timeline_.now() + std::max<SimTime>(1, duration(message.left, message.rate)));
    return;
  }
  Passage& passage = *message.passage;
  link.owner = &passage;
  link.hop = message.hop;
  link.input = sharing.ports[message.port].input;
  link.bytes = message.left;
  link.begin = timeline_.now();
  link.tail_in = passage.arrival();
  link.slack = 0;
  link.delayed = 0;
  link.end = sim::never;
  const SimTime least = std::max(message.least, link.begin + duration(message.left, link.bandwidth * per_picosecond));
  sharing.remove(message);
  if (passage.known < link.hop)
    return touch_downstream(passage, link.hop);
  link.end = std::max(link.tail_in, least);
  link.slack = link.end - least;
  settle(passage, link.end);
}

// The end of a message on the first link behind which its tail was not foreseen.
void BxiFabric::settle(Passage& passage, SimTime end)
{
  passage.tail = end + link_of(passage, passage.known).latency + (passage.known == 0 ? passage.pause : 0);
  passage.late = 0;
  ++passage.known;
  while (passage.known < passage.hop) {
    BxiLink& link = link_of(passage, passage.known);
    if (link.owner == &passage && link.end == sim::never) {
      const SimTime least = link.begin + duration(link.bytes, link.bandwidth * per_picosecond);
      link.tail_in = passage.tail;
      link.end = std::max(passage.tail, least);
      link.slack = link.end - least;
      passage.tail = link.end;
    } else if (link.sharing != nullptr && link.sharing->find(passage) != nullptr) {
      return touch(passage.route->links[passage.known]);
    }
    passage.tail += link.latency;
    ++passage.known;
  }
  if (passage.known == passage.hop && passage.at_target())
    client_.settled(passage);
}

void BxiFabric::stop(Passage& passage)
{
  if (passage.foreseen() && passage.arrival() <= timeline_.now())
    return;
  for (std::size_t hop = 0; hop < passage.hop; ++hop) {
    BxiLink& link = link_of(passage, hop);
    if (link.owner == &passage) {
      link.owner = nullptr;
      link.end = std::min(link.end, timeline_.now());
    } else if (link.sharing != nullptr) {
      if (BxiSharing::Message* message = link.sharing->find(passage); message != nullptr) {
        link.sharing->advance(timeline_.now(), link.bandwidth * per_picosecond);
        link.sharing->remove(*message);
        touch(passage.route->links[hop]);
      }
    }
  }
  refresh();
}

} // namespace umwelt::net
