// SPDX-License-Identifier: LGPL-2.1-or-later
// Switches: packets in buffers ask for channels, channels choose among them, credits come back.
//
// What one step causes at the same time (a packet leaves, the one behind it asks for another channel) is not done in
// the middle of it: channels that are to look for a packet are `touched_` and looked at in turn, so nothing recurs.
#include "net_models/packet/fabric.h"

#include <algorithm>
#include <cassert>
#include <tuple>

#include <fmt/format.h>

#include "runtime/base/mix.h"

namespace umwelt::net
{

using sim::SimTime;

void PacketFabric::learn(platform::LinkIndex index)
{
  if (index >= channels_.size())
    channels_.resize(std::max<std::size_t>(index + 1, platform_.link_count()));
  const platform::Link& link = platform_.link(index);
  PacketChannel& made = channel_memory_.acquire();
  made.fabric = this;
  made.index = index;
  made.bandwidth = link.bandwidth * framing_.coding;
  made.latency = link.latency;
  channels_[index] = &made;
}

PacketBuffer& PacketFabric::buffer(PacketChannel& channel, std::uint32_t slot)
{
  while (channel.buffers.size() <= slot)
    channel.buffers.emplace_back().credits = parameters_.buffer;
  return channel.buffers[slot];
}

void Packet::fire()
{
  at->channel->fabric->arrived(*this);
}

void PacketChannel::fire()
{
  fabric->free(*this);
}

// The head of a packet has come through the switch: its place in the buffer is known, and where it goes on.
void PacketFabric::arrived(Packet& packet)
{
  PacketChannel& from = *packet.at->channel;
  const std::uint32_t lane = packet.at->slot;
  PacketBuffer& into = from.buffers[lane];
  into.wire -= packet.bytes;
  if (routing_ != Routing::fixed && packet.at == packet.message->path)
    choose_way(packet);
  packet.at[1].channel->queued += packet.bytes;
  packet.next = nullptr;
  if (into.first != nullptr) {
    into.last->next = &packet;
    into.last = &packet;
    return;
  }
  into.first = into.last = &packet;
  ask(from, lane);
  settle_touched();
}

// The first packet of a buffer asks for its next channel.
void PacketFabric::ask(PacketChannel& input, std::uint32_t lane)
{
  const Packet& packet = *input.buffers[lane].first;
  const PacketHop& next = packet.at[1];
  next.channel->waiting.push_back({&input, nullptr, by_age_ ? packet.message->born : 0, packet.bytes, next.slot,
                                   input.index, lane, next.channel->asked++});
  touch(*next.channel);
}

void PacketFabric::touch(PacketChannel& channel)
{
  if (channel.touched != 0)
    return;
  channel.touched = 1;
  touched_.push_back(&channel);
}

// Earlier than it would be woken anyway, but not before it is free.
void PacketFabric::wake(PacketChannel& channel, SimTime when)
{
  when = std::max(when, channel.free_at);
  if (!channel.pending() || channel.when() > when)
    timeline_.schedule(channel, when);
}

void PacketFabric::free(PacketChannel& channel)
{
  touch(channel);
  settle_touched();
}

// The packet that a channel has sent is out of the input it came from: that may send on to others.
void PacketFabric::release(PacketChannel& channel)
{
  PacketChannel& input = *channel.serving;
  channel.serving = nullptr;
  --input.reads;
  for (const PacketBuffer& buffer : input.buffers)
    if (buffer.first != nullptr)
      touch(*buffer.first->at[1].channel);
}

void PacketFabric::settle_touched()
{
  if (settling_)
    return;
  settling_ = true;
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    PacketChannel& channel = *touched_[i];
    channel.touched = 0;
    arbitrate(channel);
  }
  touched_.clear();
  settling_ = false;
}

void PacketFabric::arbitrate(PacketChannel& channel)
{
  if (channel.free_at > timeline_.now()) {
    if (!channel.waiting.empty() || channel.serving != nullptr)
      wake(channel, channel.free_at);
    return;
  }
  if (channel.serving != nullptr)
    release(channel);
  if (channel.waiting.empty())
    return;
  collect(channel);
  const std::size_t which = choose(channel);
  if (which == channel.waiting.size()) {
    if (!channel.returns.empty())
      wake(channel, channel.returns.front().when);
    return; // else who gives credits or an input back wakes it
  }
  send(channel, which);
  if (!channel.waiting.empty() || channel.serving != nullptr)
    wake(channel, channel.free_at);
}

std::size_t PacketFabric::choose(const PacketChannel& channel) const
{
  const std::size_t none = channel.waiting.size();
  std::size_t best = none;
  std::tuple<SimTime, std::uint32_t, std::uint32_t> least;
  for (std::size_t i = 0; i < channel.waiting.size(); ++i) {
    const PacketChannel::Request& request = channel.waiting[i];
    if (request.slot != PacketChannel::no_buffer && request.slot < channel.buffers.size() &&
        channel.buffers[request.slot].credits < request.bytes)
      continue;
    if (parameters_.input_reads > 0 && request.input != nullptr && request.input->reads >= parameters_.input_reads)
      continue;
    // Ports in turn: who comes first behind the one served last. Within a port its buffers, as they asked: each asks
    // for its next packet when the one before has gone.
    const std::tuple key(by_age_ ? request.born : 0, request.port - channel.last_port - 1,
                         request.asked - channel.asked);
    if (best == none || key < least) {
      best = i;
      least = key;
    }
  }
  return best;
}

// Credits that have come back by now.
void PacketFabric::collect(PacketChannel& channel)
{
  while (!channel.returns.empty() && channel.returns.front().when <= timeline_.now()) {
    const PacketChannel::Return credit = channel.returns.pop();
    channel.buffers[credit.slot].credits += credit.bytes;
    channel.outstanding -= credit.bytes;
  }
}

void PacketFabric::give_back(PacketChannel& channel, const PacketChannel::Return& credit)
{
  channel.returns.push(credit); // packets of one buffer may leave over channels of different rates:
  for (std::size_t i = channel.returns.size() - 1; i > 0 && channel.returns[i - 1].when > channel.returns[i].when; --i)
    std::swap(channel.returns[i - 1], channel.returns[i]);
  if (!channel.waiting.empty())
    wake(channel, credit.when);
}

void PacketFabric::send(PacketChannel& channel, std::size_t which)
{
  const PacketChannel::Request request = channel.waiting[which];
  channel.waiting[which] = channel.waiting.back();
  channel.waiting.pop_back();
  channel.last_port = request.port;
  ++channel.sent;
  ++statistics_.hops;

  const bool from_source = request.input == nullptr;
  Packet& packet = from_source ? cut(*request.source, request.bytes) : *request.input->buffers[request.lane].first;
  const SimTime duration = sim::transfer_time(request.bytes, channel.bandwidth);
  const SimTime start = timeline_.now() + errors(channel, duration);
  // No faster than it comes in.
  const SimTime end = std::max(start + duration, packet.tail_in + (from_source ? 0 : parameters_.switch_time));
  channel.free_at = end;
  if (load_ != nullptr) [[unlikely]]
    load_->carried(channel.index, request.bytes, start);
  if (from_source) {
    cut_next(*request.source, end);
  } else {
    PacketChannel& before = *request.input;
    give_back(before, {end + before.latency, request.lane, request.bytes});
    channel.queued -= request.bytes;
    before.buffers[request.lane].first = packet.next;
    if (packet.next != nullptr)
      ask(before, request.lane);
    if (parameters_.input_reads > 0) {
      ++before.reads;
      channel.serving = &before;
    }
    ++packet.at;
  }

  if (faults_ != nullptr && packet.message->header == &packet && packet.message->passage != nullptr) {
    const LinkFaults::Outcome outcome = faults_->cross(channel.index, timeline_.now());
    packet.message->passage->corrupted |= outcome == LinkFaults::Outcome::corrupted;
    if (outcome == LinkFaults::Outcome::lost) {
      lose(packet);
      return finish_packet(packet);
    }
  }
  if (request.slot == PacketChannel::no_buffer)
    return reach(packet, end + channel.latency);
  PacketBuffer& into = buffer(channel, request.slot);
  assert(into.credits >= request.bytes);
  into.credits -= request.bytes;
  into.wire += request.bytes;
  channel.outstanding += request.bytes;
  packet.tail_in = end + channel.latency;
  timeline_.schedule(packet, start + channel.latency + parameters_.switch_time);
}

// How long a link takes to send again what it has garbled: until it hears of it, nothing else passes (go back N).
SimTime PacketFabric::errors(PacketChannel& channel, SimTime duration)
{
  SimTime lost = 0;
  if (parameters_.link_errors <= 0)
    return lost;
  std::uint64_t draw = sim::splitmix(sim::splitmix(sim::splitmix(seed_) ^ channel.index) ^ channel.sent);
  while (static_cast<double>(draw >> 11) * 0x1p-53 < parameters_.link_errors) {
    lost += duration + 2 * channel.latency + parameters_.link_retry;
    ++statistics_.resent;
    draw = sim::splitmix(draw);
  }
  return lost;
}

std::size_t PacketFabric::full_buffers(std::uint64_t bytes) const
{
  std::size_t full = 0;
  for (const PacketChannel* const channel : channels_)
    if (channel != nullptr)
      full += static_cast<std::size_t>(
          std::count_if(channel->buffers.begin(), channel->buffers.end(), [&](const PacketBuffer& buffer) {
            std::uint64_t returning = 0;
            for (std::size_t i = 0; i < channel->returns.size(); ++i)
              if (&channel->buffers[channel->returns[i].slot] == &buffer)
                returning += channel->returns[i].bytes;
            return buffer.credits + returning < bytes;
          }));
  return full;
}

std::string PacketFabric::audit() const
{
  for (const PacketChannel* const channel : channels_) {
    if (channel == nullptr)
      continue;
    std::vector<std::uint64_t> taken(channel->buffers.size());
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < channel->returns.size(); ++i)
      taken[channel->returns[i].slot] += channel->returns[i].bytes;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const PacketBuffer& buffer = channel->buffers[i];
      taken[i] += buffer.wire;
      for (const Packet* packet = buffer.first; packet != nullptr; packet = packet->next)
        taken[i] += packet->bytes;
      all += taken[i];
      if (buffer.credits > parameters_.buffer || taken[i] != parameters_.buffer - buffer.credits)
        return fmt::format("{}, buffer {}: {} bytes are taken, and {} of {} are free",
                           platform_.link(channel->index).name, i, taken[i], buffer.credits, parameters_.buffer);
    }
    if (all != channel->outstanding)
      return fmt::format("{}: {} bytes are taken, and {} were counted", platform_.link(channel->index).name, all,
                         channel->outstanding);
  }
  return {};
}

} // namespace umwelt::net
