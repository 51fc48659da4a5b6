// SPDX-License-Identifier: LGPL-2.1-or-later
// The BXI v2 NIC: a state machine per message, fed by the timeline. See README.md for the stages and their order.
#pragma once

#include <unordered_map>
#include <vector>

#include "net_models/bxi/fabric.h"
#include "net_models/bxi/parameters.h"
#include "net_models/core/host_writes.h"
#include "net_models/core/model.h"
#include "net_models/core/observer.h"
#include "runtime/base/pool.h"

namespace umwelt::net
{

class BxiModel final : public Model
{
public:
  BxiModel(const ModelContext& context, const BxiParameters& parameters);
  ~BxiModel() override;

  [[nodiscard]] std::string_view name() const override { return "bxi"; }
  bool start(Transfer& transfer) override;
  bool reserve(Transfer& transfer) override;
  void unreserve(Transfer& transfer) override;
  [[nodiscard]] SimTime issue_cost(const Transfer& transfer) const override { return parameters_.issue_cost(transfer); }
  [[nodiscard]] SimTime take_cost(WriteKind kind) const override { return parameters_.take_cost(kind); }
  void write_to_host(NodeIndex node, WriteKind kind, HostWrite& write) override;

  struct Statistics {
    std::uint64_t messages = 0;   // departures, resent ones included
    std::uint64_t wire_bytes = 0; // with headers
    std::uint64_t lost = 0;       // dropped or corrupted on a link
    std::uint64_t resent = 0;
    std::uint64_t failed = 0;
  };
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }
  // Messages the NICs know of, those included that only wait for their end-to-end ack.
  [[nodiscard]] std::size_t in_flight() const { return flights_.in_use(); }

private:
  struct Flight;
  struct Flow;
  struct Credit;
  struct Queue;
  struct Nic;
  enum class Stage : std::uint8_t { inject, depart, fabric, arrive, write, acknowledged, resend };

  // First-in first-out list through Flight::next.
  struct FlightList {
    Flight* first = nullptr;
    Flight* last = nullptr;
    [[nodiscard]] bool empty() const { return first == nullptr; }
    void push(Flight& flight);
    Flight& pop();
  };

  // Sending.
  void enqueue(Flight& flight);
  void prepare(Nic& nic, Queue& queue);
  SimTime payload_ready(Nic& nic, Flight& flight, SimTime processed);
  void inject(Flight& flight);
  bool acquire_credits(Flight& flight);
  void depart(Flight& flight);
  void leave_queue(const Flight& flight, Flight* next);
  void travel(Flight& flight);
  void lose(Flight& flight, TransferFailure why);

  // Receiving.
  void arrive(Flight& flight);
  void receive(Flight& flight);
  void serve(Nic& nic);
  void match(Flight& flight, SimTime& engine);
  void deliver(Flight& flight);
  void await_acknowledgement(Flight& flight);
  void acknowledged(Flight& flight);

  // Ending.
  void resend(Flight& flight);
  void fail(Flight& flight, TransferFailure why);
  void leave_flow(Flight& flight);
  void release_credits(Flight& flight);
  void recycle(Flight& flight);

  void advance(Flight& flight);
  void schedule(Flight& flight, Stage stage, SimTime when);
  [[nodiscard]] bool keeps_buffer(const Flight& flight) const;
  [[nodiscard]] bool reads_payload(const Flight& flight) const;
  [[nodiscard]] bool on_service(const Transfer& transfer) const;
  [[nodiscard]] std::uint8_t queue_of(const Transfer& transfer) const;
  void read_service();
  [[nodiscard]] SimTime pci_time(std::uint64_t bytes) const;
  [[nodiscard]] SimTime cause() const;

  // For the observer; callers make sure that there is one.
  [[gnu::cold]] void tell_arrival(Flight& flight);
  [[gnu::cold]] void tell_departure(Flight& flight);
  [[gnu::cold]] void tell_loss(Flight& flight);
  [[gnu::cold]] void tell_duplicate(Flight& flight);
  void tell(const Flight& flight, StageKind kind, std::uint64_t bytes, SimTime start, SimTime end) const;
  void tell_message(const Flight& flight, SimTime end, StageOutcome outcome) const;
  [[gnu::cold]] void tell_acknowledgement(const Flight& flight, SimTime start, SimTime end, StageOutcome outcome) const;

  Credit& node_credit(const Flight& flight);
  Credit& process_credit(const Flight& flight);

  ModelContext context_;
  BxiParameters parameters_;
  BxiFabric fabric_;
  bool tracked_; // every message needs its end-to-end ack, not only those whose buffer is kept
  std::vector<Nic> nics_;
  std::vector<bool> service_; // by process: uses the service networks
  bool all_service_ = false;
  sim::Pool<Flight> flights_;
  std::unordered_map<std::uint64_t, Flow> flows_;
  std::unordered_map<std::uint64_t, Credit> node_credits_;
  std::unordered_map<std::uint64_t, Credit> process_credits_;
  SimTime cause_ =
      sim::never; // during delivered(): when the last byte was posted; events and responses follow from there
  Statistics statistics_;
};

} // namespace umwelt::net
