// SPDX-License-Identifier: LGPL-2.1-or-later
// `flow`: each message on its way is a flow of SimGrid's fluid solver, which shares every link max-min fair among the
// flows on it. No packets, no buffers, no order: what is under way advances all at once, from its source on. A NIC
// begins the next message when the one before would have left over an idle link, so flows of a node overlap where the
// network is slower.
//
// A message of several packets is at the target's NIC when its first packet would be there on an empty way, and has
// arrived when its flow ends. What carries nothing but a header takes its time and no bandwidth. SimGrid's latencies
// stay out of it, as in the model `flow` (flow/README.md).
#pragma once

#include <unordered_map>
#include <vector>

#include "net_models/core/framed_fabric.h"
#include "net_models/fluid/solver.h"
#include "platforms/platform.h"
#include "runtime/base/pool.h"
#include "runtime/base/timeline.h"

namespace umwelt::net
{

class FluidFabric final : public FramedFabric
{
public:
  // `faults` may be null. The run has to be in an actor of SimGrid (Model::advance_external).
  FluidFabric(const platform::Platform& platform, const Framing& framing, LinkFaults* faults, sim::Timeline& timeline,
              Client& client);
  ~FluidFabric() override;

  Entry enter(Passage& passage) override;
  bool pass(Passage& passage) override;

  [[nodiscard]] bool has_external() const override { return true; }
  [[nodiscard]] bool external_pending() const override { return !waiting_.empty() || !solver_.idle(); }
  bool advance_external(sim::SimTime limit) override;

private:
  struct Trip final : sim::Event, FluidFlow {
    FluidFabric* fabric = nullptr;
    Passage* passage = nullptr; // null: nobody waits for it any more
    const platform::Route* route = nullptr;
    platform::NodeIndex source = 0;
    platform::NodeIndex target = 0;
    std::uint64_t bytes = 0; // of SimGrid's, whose links have their full rate
    bool broken = false;     // a link of the platform's file went down
    void fire() override { fabric->finish(*this); }
  };

  void stop(Passage& passage) override;
  void begin_waiting();
  void finish(Trip& trip);
  [[nodiscard]] sim::SimTime wire_time(std::uint64_t bytes, const platform::Route& route) const;

  FluidSolver solver_;
  sim::Pool<Trip> trips_;
  std::unordered_map<const Passage*, Trip*> trip_of_; // until finish()
  std::vector<Trip*> waiting_;                        // to begin at the present time
};

} // namespace umwelt::net
