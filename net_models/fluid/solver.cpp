// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/fluid/solver.h"

#include <algorithm>
#include <utility>

#include <simgrid/Exception.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>

#include "platforms/simgrid_versions.h"

namespace umwelt::net
{

using sim::SimTime;

FluidSolver::FluidSolver(const sim::Timeline& timeline)
    : timeline_(timeline), epoch_(simgrid::s4u::Engine::get_clock() - sim::to_seconds(timeline.now()))
{
}

SimTime FluidSolver::now() const
{
  return sim::from_seconds(simgrid::s4u::Engine::get_clock() - epoch_);
}

void FluidSolver::catch_up()
{
  if (now() < timeline_.now())
    simgrid::s4u::this_actor::sleep_until(epoch_ + sim::to_seconds(timeline_.now()));
}

void FluidSolver::begin(FluidFlow& flow, simgrid::s4u::Host* from, simgrid::s4u::Host* to, std::uint64_t bytes)
{
  simgrid::s4u::CommPtr comm = simgrid::s4u::Comm::sendto_init(from, to);
  comm->set_payload_size(bytes);
  comm->start();
  running_.push_back(std::move(comm));
  flows_.push_back(&flow);
}

void FluidSolver::stop_if(const std::function<bool(FluidFlow&)>& which)
{
  for (std::size_t i = 0; i < running_.size();) {
    if (!which(*flows_[i])) {
      ++i;
      continue;
    }
    running_[i]->cancel();
    forget(i);
  }
}

FluidSolver::Done FluidSolver::advance(SimTime limit)
{
  const double seconds_left = limit == sim::never ? -1 : sim::to_seconds(limit - now());
  if (limit != sim::never && seconds_left <= 0)
    return {};
  long done = -1;
  bool broken = false;
  try {
    done = platform::versions::wait_any(running_, seconds_left);
  } catch (const simgrid::NetworkFailureException&) { // shared objects give SimGrid profiles
    done = std::find_if(running_.begin(), running_.end(),
                        [](const simgrid::s4u::CommPtr& comm) {
                          return comm->get_state() == simgrid::s4u::Activity::State::FAILED;
                        }) -
           running_.begin();
    broken = true;
  }
  if (done < 0)
    return {};
  FluidFlow* const flow = flows_[static_cast<std::size_t>(done)];
  forget(static_cast<std::size_t>(done));
  return {flow, broken, std::max(now(), timeline_.now())}; // solver and timeline round differently
}

void FluidSolver::forget(std::size_t index)
{
  running_[index] = std::move(running_.back());
  running_.pop_back();
  flows_[index] = flows_.back();
  flows_.pop_back();
}

} // namespace umwelt::net
