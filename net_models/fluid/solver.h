// SPDX-License-Identifier: LGPL-2.1-or-later
// Bytes that SimGrid's fluid solver moves between two hosts, beside the timeline (Model::advance_external). It shares
// every link max-min fair among all that are under way on it. SimGrid may be entered from its actor's own stack only,
// where advance_external() is called; events fire on whatever stack the engine is on.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Host.hpp>

#include "runtime/base/timeline.h"

namespace umwelt::net
{

// Whose bytes they are.
class FluidFlow
{
};

class FluidSolver
{
public:
  explicit FluidSolver(const sim::Timeline& timeline);

  [[nodiscard]] bool idle() const { return running_.empty(); }
  // SimGrid's clock, which stands still between calls, comes up to the timeline's: before begin().
  void catch_up();
  void begin(FluidFlow& flow, simgrid::s4u::Host* from, simgrid::s4u::Host* to, std::uint64_t bytes);
  // Those for which it is true end here and now.
  void stop_if(const std::function<bool(FluidFlow&)>& which);

  struct Done {
    FluidFlow* flow = nullptr; // null: none ends before the limit
    bool broken = false;       // a link of its way went down in SimGrid
    sim::SimTime when = 0;     // that was; not in the timeline's past
  };
  // On to the first that ends, or to `limit`.
  Done advance(sim::SimTime limit);

private:
  [[nodiscard]] sim::SimTime now() const;
  void forget(std::size_t index);

  const sim::Timeline& timeline_;
  const double epoch_; // SimGrid's clock (seconds) at time 0 of the timeline
  std::vector<simgrid::s4u::CommPtr> running_;
  std::vector<FluidFlow*> flows_; // whose they are
};

} // namespace umwelt::net
