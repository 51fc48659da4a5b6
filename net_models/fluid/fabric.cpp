// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/fluid/fabric.h"

#include <algorithm>
#include <cmath>

#include <simgrid/Exception.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>

namespace umwelt::net
{

using sim::SimTime;

FluidFabric::FluidFabric(const platform::Platform& platform, const Framing& framing, LinkFaults* faults,
                         sim::Timeline& timeline, Client& client)
    : platform_(platform), framing_(framing), faults_(faults), timeline_(timeline), client_(client),
      epoch_(simgrid::s4u::Engine::get_clock() - sim::to_seconds(timeline.now()))
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

SimTime FluidFabric::simgrid_now() const
{
  return sim::from_seconds(simgrid::s4u::Engine::get_clock() - epoch_);
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
    const std::uint64_t packets = (passage.bytes - framing_.header + framing_.full - 1) / framing_.full;
    passage.hop = there;
    passage.head =
        now + passage.pause / static_cast<SimTime>(packets) + route.latency + wire_time(framing_.most(), route);
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

SimTime FluidFabric::injection(const Passage& passage)
{
  return sim::transfer_time(passage.bytes, platform_.link(passage.route->links.front()).bandwidth * framing_.coding);
}

bool FluidFabric::control(const platform::Route& route, SimTime when, SimTime& arrival)
{
  arrival = when + route.latency + wire_time(framing_.header, route);
  return faults_ == nullptr || std::all_of(route.links.begin(), route.links.end(), [&](platform::LinkIndex link) {
           return faults_->cross(link, when) == LinkFaults::Outcome::passes;
         });
}

// ---- SimGrid's side ----

// Events fire on whatever stack the engine is on; SimGrid may be entered from its actor's own stack only, which is
// where advance_external() is called.
void FluidFabric::begin_waiting()
{
  const SimTime now = timeline_.now();
  if (simgrid_now() < now) // between our calls SimGrid's clock stands still
    simgrid::s4u::this_actor::sleep_until(epoch_ + sim::to_seconds(now));
  for (Trip* const trip : waiting_) {
    simgrid::s4u::CommPtr comm =
        simgrid::s4u::Comm::sendto_init(platform_.node(trip->source).host, platform_.node(trip->target).host);
    comm->set_payload_size(trip->bytes);
    comm->start();
    running_.push_back(std::move(comm));
    running_trips_.push_back(trip);
  }
  waiting_.clear();
}

bool FluidFabric::advance_external(SimTime limit)
{
  if (!waiting_.empty())
    begin_waiting();
  const double seconds_left = limit == sim::never ? -1 : sim::to_seconds(limit - simgrid_now());
  if (limit != sim::never && seconds_left <= 0)
    return false;
  ssize_t done = -1;
  bool broken = false;
  try {
    done = simgrid::s4u::Comm::wait_any_for(running_, seconds_left);
  } catch (const simgrid::NetworkFailureException&) { // a link went down: platform files can say so
    done = std::find_if(running_.begin(), running_.end(),
                        [](const simgrid::s4u::CommPtr& comm) {
                          return comm->get_state() == simgrid::s4u::Activity::State::FAILED;
                        }) -
           running_.begin();
    broken = true;
  }
  if (done < 0)
    return false;
  const auto index = static_cast<std::size_t>(done);
  Trip& trip = *running_trips_[index];
  running_[index] = std::move(running_.back());
  running_.pop_back();
  running_trips_[index] = running_trips_.back();
  running_trips_.pop_back();
  trip.broken = broken;
  // Solver and timeline round differently: never in the timeline's past.
  timeline_.schedule(trip, std::max(simgrid_now(), timeline_.now()));
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
