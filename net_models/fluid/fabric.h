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

#include <simgrid/s4u/Comm.hpp>

#include "net_models/core/fabric.h"
#include "platforms/platform.h"
#include "runtime/base/pool.h"
#include "runtime/base/timeline.h"

namespace umwelt::net
{

class FluidFabric final : public Fabric
{
public:
  // `faults` may be null. The run has to be in an actor of SimGrid (Model::advance_external).
  FluidFabric(const platform::Platform& platform, const Framing& framing, LinkFaults* faults, sim::Timeline& timeline,
              Client& client);
  ~FluidFabric() override;

  Entry enter(Passage& passage) override;
  bool pass(Passage& passage) override;
  Entry advance(Passage& passage) override { return passage.at_target() ? Entry::free : Entry::waits; }
  sim::SimTime injection(const Passage& passage) override;
  sim::SimTime header_in(const Passage& passage) override { return passage.one_packet ? passage.tail : passage.head; }
  bool control(const platform::Route& route, sim::SimTime when, sim::SimTime& arrival) override;
  [[nodiscard]] bool faulty() const override { return faults_ != nullptr; }

  [[nodiscard]] bool has_external() const override { return true; }
  [[nodiscard]] bool external_pending() const override { return !waiting_.empty() || !running_.empty(); }
  bool advance_external(sim::SimTime limit) override;

private:
  struct Trip final : sim::Event {
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
  [[nodiscard]] sim::SimTime simgrid_now() const;

  const platform::Platform& platform_;
  const Framing framing_;
  LinkFaults* const faults_;
  sim::Timeline& timeline_;
  Client& client_;
  const double epoch_; // SimGrid's clock (seconds) at time 0 of the timeline
  sim::Pool<Trip> trips_;
  std::unordered_map<const Passage*, Trip*> trip_of_; // until finish()
  std::vector<Trip*> waiting_;                        // to begin at the present time
  std::vector<simgrid::s4u::CommPtr> running_;        // in SimGrid, and
  std::vector<Trip*> running_trips_;                  // whose they are
};

} // namespace umwelt::net
