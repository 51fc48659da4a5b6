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
  void take_in(Transfer& transfer, SimTime tail) final;
  void tail_moved(Transfer& transfer, SimTime tail) final;

protected:
  // Absolute times; source_free and header not before now, last_byte not before header.
  struct Plan {
    SimTime source_free = 0;
    SimTime header = 0;
    SimTime last_byte = 0;
  };
  // Of a transfer that departs now; over route_of() if the model looks at routes. With a handover: up to the NIC of its
  // target, and nothing of that NIC is taken.
  virtual Plan plan(const Transfer& transfer) = 0;
  // What the target's NIC makes of a transfer of another model whose first bit is there now: `header` and, were all of
  // it there, `last_byte`.
  virtual Plan plan_of_target(const Transfer& transfer);
  [[nodiscard]] const platform::Route& route_of(const Transfer& transfer) const;
  // Delay from the NIC's decision to write until the host can see it.
  [[nodiscard]] virtual SimTime write_delay(WriteKind kind) const = 0;

  [[nodiscard]] sim::Timeline& timeline() const { return context_.timeline; }

private:
  struct Flight;
  using Queue = std::deque<Flight*>;
  // Requests between two processes whose headers have not arrived: these do in the order in which they were started,
  // also where their times are the same.
  struct Order {
    SimTime last = 0; // header time
    Flight* first = nullptr;
    Flight* end = nullptr;
  };
  struct Flight final : TransferState, sim::Event {
    PlannedModel* model = nullptr;
    Transfer* transfer = nullptr;
    Plan plan;
    bool source_told = false;
    bool header_told = false;
    Order* order = nullptr;          // it has a place there, before
    Flight* next_in_order = nullptr; // this one
    SimTime tail = 0;                // carried by another model: its last byte is not there before
    SimTime started = 0;             // for the observer
    // Where links fail:
    bool departed = true; // `plan` counts
    bool undeliverable = false;
    SimTime waits_since = 0; // for a way; `never`: it does not
    Queue* queue = nullptr;  // what must not overtake, from the transfer on that has not departed
    void fire() override { model->advance(*this); }
  };

  void advance(Flight& flight);
  void schedule_next(Flight& flight);
  Flight& take_off(Transfer& transfer);
  void keep_order(Flight& flight);
  void tell_header(Flight& flight);
  void forget(Flight& flight);
  [[nodiscard]] static SimTime last_byte(const Flight& flight);
  void tell(const Flight& flight) const;

  // planned_failures.cpp
  void start_in_turn(Flight& flight);
  void begin_to_wait(Flight& flight);
  bool depart(Flight& flight);
  void try_again(Flight& flight);
  void let_depart(Queue& queue);

  ModelContext context_;
  sim::Pool<Flight> flights_;
  std::vector<HostWrites> writes_;                   // per node
  std::unordered_map<std::uint64_t, Order> ordered_; // per pair of processes
  std::unordered_map<std::uint64_t, Queue> queues_;  // where links fail, likewise
  const platform::Route* route_ = nullptr;           // of the transfer that is planned, likewise
};

} // namespace umwelt::net
