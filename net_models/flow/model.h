// SPDX-License-Identifier: LGPL-2.1-or-later
// Payload is carried by SimGrid's fluid solver: every link's bandwidth is shared by the flows on it, max-min fair. The
// solver needs SimGrid's clock to move, so the engine's loop runs inside a SimGrid actor and lets us block there
// (Model::advance_external). Fixed delays are timeline events, never flows.
#pragma once

#include <unordered_map>
#include <vector>

#include <simgrid/s4u/Comm.hpp>

#include "net_models/core/host_writes.h"
#include "net_models/core/pool.h"
#include "net_models/flow/parameters.h"
#include "net_models/model.h"
#include "net_models/observer.h"

namespace umwelt::net
{

class FlowModel final : public Model
{
public:
  FlowModel(const ModelContext& context, const FlowParameters& parameters);
  ~FlowModel() override;

  [[nodiscard]] std::string_view name() const override { return "flow"; }
  bool start(Transfer& transfer) override;
  [[nodiscard]] SimTime issue_cost(const Transfer& transfer) const override;
  void write_to_host(NodeIndex node, WriteKind kind, HostWrite& write) override;
  [[nodiscard]] bool external_pending() const override { return !running_.empty() || !waiting_.empty(); }
  bool advance_external(SimTime limit) override;

private:
  enum class Stage : std::uint8_t { inject, header, done, failed };
  struct Flight final : TransferState, sim::Event {
    FlowModel* model = nullptr;
    Transfer* transfer = nullptr;
    Stage stage = Stage::inject;
    bool header_told = false;
    bool carried = false; // the last byte is at the target
    SimTime header_at = 0;
    SimTime started = 0; // for the observer
    void fire() override { model->advance(*this); }
  };

  void advance(Flight& flight);
  void inject(Flight& flight);
  void begin_waiting();
  void schedule(Flight& flight, Stage stage, SimTime when);
  void finish(Flight& flight);
  void tell(const Flight& flight, StageOutcome outcome) const;
  [[nodiscard]] SimTime simgrid_now() const;

  ModelContext context_;
  FlowParameters parameters_;
  sim::Pool<Flight> flights_;
  std::vector<HostWrites> writes_;                     // per node
  double epoch_;                                       // SimGrid's clock (seconds) at date 0 of the timeline
  std::unordered_map<std::uint64_t, SimTime> ordered_; // last header date per pair of processes
  std::vector<Flight*> waiting_;                       // to begin at the present date
  std::vector<simgrid::s4u::CommPtr> running_;         // in SimGrid, and
  std::vector<Flight*> running_flights_;               // whose they are
};

} // namespace umwelt::net
