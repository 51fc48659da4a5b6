// SPDX-License-Identifier: LGPL-2.1-or-later
// What the simple models have in common: the times of a transfer are known when it starts, command queues are never
// full, nothing is lost. A derived model only says when (plan) and what the host pays. On a machine whose links fail a
// transfer is planned when there is a way for it, and again if a link of that way fails before its last byte is there
// (planned_failures.cpp).
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "net_models/core/host_writes.h"
#include "net_models/core/model.h"
#include "runtime/base/pool.h"

namespace umwelt::platform
{
struct Route;
}

namespace umwelt::net
{

class PlannedModel : public Model
{
public:
  explicit PlannedModel(const ModelContext& context);

  bool start(Transfer& transfer) final;
  void write_to_host(NodeIndex node, WriteKind kind, HostWrite& write) final;

protected:
  // Absolute times; source_free and header not before now, last_byte not before header.
  struct Plan {
    SimTime source_free = 0;
    SimTime header = 0;
    SimTime last_byte = 0;
  };
  // Of a transfer that departs now; over route_of() if the model looks at routes.
  virtual Plan plan(const Transfer& transfer) = 0;
  [[nodiscard]] const platform::Route& route_of(const Transfer& transfer) const;
  // Delay from the NIC's decision to write until the host can see it.
  [[nodiscard]] virtual SimTime write_delay(WriteKind kind) const = 0;

  [[nodiscard]] sim::Timeline& timeline() const { return context_.timeline; }

private:
  struct Flight;
  using Queue = std::deque<Flight*>;
  struct Flight final : TransferState, sim::Event {
    PlannedModel* model = nullptr;
    Transfer* transfer = nullptr;
    Plan plan;
    bool source_told = false;
    bool header_told = false;
    SimTime started = 0; // for the observer
    // Where links fail:
    bool departed = true; // `plan` counts
    bool undeliverable = false;
    SimTime waits_since = 0; // for a way; `never`: it does not
    Queue* queue = nullptr;  // what must not overtake, from the transfer on that has not departed
    void fire() override { model->advance(*this); }
  };

  void advance(Flight& flight);
  void schedule_next(Flight& flight);
  void keep_order(const Transfer& transfer, Plan& plan);
  void tell(const Flight& flight) const;

  // planned_failures.cpp
  void start_in_turn(Flight& flight);
  void begin_to_wait(Flight& flight);
  bool depart(Flight& flight);
  void try_again(Flight& flight);
  void let_depart(Queue& queue);

  ModelContext context_;
  sim::Pool<Flight> flights_;
  std::vector<HostWrites> writes_;                     // per node
  std::unordered_map<std::uint64_t, SimTime> ordered_; // last header time per pair of processes
  std::unordered_map<std::uint64_t, Queue> queues_;    // where links fail, likewise
  const platform::Route* route_ = nullptr;             // of the transfer that is planned, likewise
};

} // namespace umwelt::net
