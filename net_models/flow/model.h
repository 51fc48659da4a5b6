// SPDX-License-Identifier: LGPL-2.1-or-later
// What a message takes on the wire is carried by SimGrid's fluid solver: every link's bandwidth is shared by the flows
// on it, max-min fair. The solver needs SimGrid's clock to move, so the engine's loop runs inside a SimGrid actor and
// lets us block there (Model::advance_external). Fixed delays, those of the links included, are timeline events, never
// flows.
#pragma once

#include <unordered_map>
#include <vector>

#include "net_models/bxi/engine.h"
#include "net_models/core/host_writes.h"
#include "net_models/core/model.h"
#include "net_models/core/observer.h"
#include "net_models/flow/parameters.h"
#include "net_models/fluid/solver.h"
#include "runtime/base/pool.h"

namespace umwelt::platform
{
struct Route;
}

namespace umwelt::net
{

class FlowModel final : public Model
{
public:
  FlowModel(const ModelContext& context, const FlowParameters& parameters);
  ~FlowModel() override;

  [[nodiscard]] std::string_view name() const override { return "flow"; }
  bool start(Transfer& transfer) override;
  [[nodiscard]] SimTime issue_cost(const Transfer& transfer) const override { return parameters_.issue_cost(transfer); }
  [[nodiscard]] SimTime take_cost(WriteKind kind) const override { return parameters_.take_cost(kind); }
  [[nodiscard]] SimTime take_next_cost() const override { return parameters_.take_next; }
  void write_to_host(NodeIndex node, WriteKind kind, HostWrite& write) override;
  [[nodiscard]] bool external_pending() const override { return !solver_.idle() || !waiting_.empty(); }
  [[nodiscard]] bool has_external() const override { return true; }
  bool advance_external(SimTime limit) override;
  void take_in(Transfer& transfer, SimTime tail) override;
  void tail_moved(Transfer& transfer, SimTime tail) override;
  void taken(Transfer& transfer) override;

private:
  enum class Stage : std::uint8_t { inject, header, write, tail, acknowledged, failed };
  struct Flight final : TransferState, sim::Event, FluidFlow {
    FlowModel* model = nullptr;
    Transfer* transfer = nullptr;
    Stage stage = Stage::inject;
    bool header_told = false;
    bool carried = false; // `tail` is known
    bool source_told = false;
    bool inbound = false; // carried here by another model
    bool cut = false;     // before it was matched: its payload has to come again
    SimTime matched = 0;
    SimTime tail = 0;   // the last byte is in the target's NIC
    SimTime posted = 0; // and was handed to its PCI
    SimTime sent = 0;
    const platform::Route* route = nullptr;
    SimTime blocked_since = sim::never; // no way to the target; `never`: there is one
    void fire() override { model->advance(*this); }
  };
  // The time at which links fail that messages are on.
  struct Failure final : sim::Event {
    void fire() override { due = true; } // SimGrid may be entered from advance_external() only
    bool due = false;
  };

  void advance(Flight& flight);
  void inject(Flight& flight);
  void match(Flight& flight);
  void write(Flight& flight);
  void deliver(Flight& flight);
  void let_source_go(Flight& flight);
  Flight& take_on(Transfer& transfer);
  void begin_waiting();
  // failures.cpp
  SimTime* earliest(const Transfer& transfer);
  bool find_way(Flight& flight);
  void begin_to_wait(Flight& flight);
  void depart_at(Flight& flight, SimTime when);
  bool is_cut(Flight& flight, SimTime header_at);
  void await_failure(const Flight& flight);
  bool cut_running();
  void send_again(Flight& flight, SimTime when);
  void schedule(Flight& flight, Stage stage, SimTime when);
  void tell(const Flight& flight, SimTime end, StageOutcome outcome) const;

  [[nodiscard]] SimTime wire_time(std::uint64_t bytes, const platform::Route& route) const;
  [[nodiscard]] SimTime pci_time(std::uint64_t bytes) const;
  [[nodiscard]] bool reads_payload(const Transfer& transfer) const;
  [[nodiscard]] SimTime stall(const Transfer& transfer) const;
  [[nodiscard]] SimTime cause() const;

  ModelContext context_;
  FlowParameters parameters_;
  sim::Pool<Flight> flights_;
  std::vector<HostWrites> writes_; // per node
  std::vector<BxiEngine> engines_; // its commands and events, likewise
  SimTime cause_ =
      sim::never;     // during delivered(): when the last byte was posted; events and responses follow from there
  SimTime flush_ = 0; // likewise: how much later the host is told of what somebody else wrote
  FluidSolver solver_;
  std::unordered_map<std::uint64_t, SimTime> ordered_; // last header time per pair of processes
  std::vector<Flight*> waiting_;                       // to begin at the present time
  Failure failure_;
  std::unordered_map<std::uint64_t, SimTime> departs_; // not before, per pair of processes
};

} // namespace umwelt::net
