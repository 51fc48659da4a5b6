// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/fluid/fabric.h"

#include <cmath>

namespace umwelt::net
{

using sim::SimTime;

FluidFabric::FluidFabric(const platform::Platform& platform, const Framing& framing, LinkFaults* faults,
                         sim::Timeline& timeline, Client& client)
    : FramedFabric(platform, framing, 0, faults, timeline, client), solver_(timeline)
{
}

FluidFabric::~FluidFabric()
{
  for (const auto& [passage, trip] : trip_of_)
    timeline_.cancel(*trip);
}

SimTime FluidFabric::wire_time(std::uint64_t bytes, const platform::Route& route) const
{
  return sim::transfer_time(bytes, route.bandwidth * framing_.coding);
}

// ---- The NIC's side ----

Fabric::Entry FluidFabric::enter(Passage& passage)
{
  passage.start = timeline_.now();
  passage.lost = false;
  return Entry::free;
}

bool FluidFabric::pass(Passage& passage)
{
  if (passage.lost)
    return false;
  if (passage.at_target())
    return true;
  const platform::Route& route = *passage.route;
  const SimTime now = timeline_.now();
  if (load_ != nullptr) [[unlikely]]
    load_->carried(route, passage.bytes, now);
  if (faults_ != nullptr)
    for (const platform::LinkIndex link : route.links) {
      const LinkFaults::Outcome outcome = faults_->cross(link, now);
      if (outcome == LinkFaults::Outcome::lost)
        return false;
      passage.corrupted |= outcome == LinkFaults::Outcome::corrupted;
    }
  const auto there = static_cast<std::uint32_t>(route.links.size());
  if (passage.bytes <= framing_.header) {
    passage.hop = passage.known = there;
    passage.head = passage.tail = now + passage.pause + route.latency + wire_time(passage.bytes, route);
    return true;
  }
  if (!passage.one_packet) {
    passage.hop = there;
    passage.head = now + passage.pause / static_cast<SimTime>(framing_.packets(passage.bytes)) + route.latency +
                   wire_time(framing_.most(), route);
  }
  Trip& trip = trips_.acquire();
  trip.fabric = this;
  trip.passage = &passage;
  trip.route = &route;
  trip.source = passage.source;
  trip.target = passage.target;
  // What coding takes of the rate is bytes here, and a sender that pauses keeps its share of the links.
  trip.bytes = static_cast<std::uint64_t>(std::llround(static_cast<double>(passage.bytes) / framing_.coding +
                                                       sim::to_seconds(passage.pause) * route.bandwidth));
  trip.broken = false;
  trip_of_[&passage] = &trip;
  waiting_.push_back(&trip);
  return true;
}

void FluidFabric::stop(Passage& passage)
{
  const auto found = trip_of_.find(&passage);
  if (found == trip_of_.end())
    return;
  found->second->passage = nullptr; // its flow goes on in vain, as packets of a message do that are under way
  trip_of_.erase(found);
}

// ---- SimGrid's side ----

void FluidFabric::begin_waiting()
{
  solver_.catch_up();
  for (Trip* const trip : waiting_)
    solver_.begin(*trip, platform_.node(trip->source).host, platform_.node(trip->target).host, trip->bytes);
  waiting_.clear();
}

bool FluidFabric::advance_external(SimTime limit)
{
  if (!waiting_.empty())
    begin_waiting();
  const FluidSolver::Done done = solver_.advance(limit);
  if (done.flow == nullptr)
    return false;
  Trip& trip = static_cast<Trip&>(*done.flow);
  trip.broken = done.broken;
  timeline_.schedule(trip, done.when);
  return true;
}

// The last bit has left the source; it has still the way to go.
void FluidFabric::finish(Trip& trip)
{
  if (Passage* const passage = trip.passage; passage != nullptr) {
    trip_of_.erase(passage);
    passage->hop = passage->known = static_cast<std::uint32_t>(trip.route->links.size());
    passage->tail = timeline_.now() + trip.route->latency;
    if (passage->one_packet) {
      passage->lost = trip.broken;
      client_.entered(*passage);
    } else {
      passage->cut = trip.broken;
      client_.settled(*passage);
    }
  }
  trips_.release(trip);
}

} // namespace umwelt::net
