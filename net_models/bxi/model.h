// SPDX-License-Identifier: LGPL-2.1-or-later
// The BXI v2 NIC: a state machine per message, fed by the timeline. See README.md for the stages and their order. Its
// parts are files of their own, named beside the functions that are there.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net_models/bxi/flight.h"
#include "net_models/bxi/observation.h"
#include "net_models/bxi/parameters.h"
#include "net_models/bxi/service.h"
#include "net_models/core/fabric.h"
#include "net_models/core/model.h"
#include "runtime/base/pool.h"

namespace umwelt::net
{

struct BxiCredit;
struct BxiNic;
struct BxiQueue;

class BxiModel final : public Model, private Fabric::Client
{
public:
  BxiModel(const ModelContext& context, const BxiParameters& parameters);
  ~BxiModel() override;

  [[nodiscard]] std::string_view name() const override
  {
    return parameters_.fabric == "packet" ? "bxi, fabric packet"
           : parameters_.fabric == "flow" ? "bxi, fabric flow"
                                          : "bxi";
  }
  bool start(Transfer& transfer) override;
  bool reserve(Transfer& transfer) override;
  void unreserve(Transfer& transfer) override;
  [[nodiscard]] SimTime issue_cost(const Transfer& transfer) const override { return parameters_.issue_cost(transfer); }
  [[nodiscard]] SimTime take_cost(WriteKind kind) const override { return parameters_.take_cost(kind); }
  [[nodiscard]] SimTime take_next_cost() const override { return parameters_.take_next; }
  void write_to_host(NodeIndex node, WriteKind kind, HostWrite& write) override;
  void take_in(Transfer& transfer, SimTime tail) override;
  void tail_moved(Transfer& transfer, SimTime tail) override;
  void taken(Transfer& transfer) override;
  [[nodiscard]] bool has_external() const override { return fabric_->has_external(); }
  [[nodiscard]] bool external_pending() const override { return fabric_->external_pending(); }
  bool advance_external(SimTime limit) override { return fabric_->advance_external(limit); }

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
  using Flight = BxiFlight;
  using Stage = BxiFlight::Stage;
  using Flow = BxiFlow;
  using Nic = BxiNic;
  using Queue = BxiQueue;
  using Credit = BxiCredit;
  friend BxiFlight; // the timeline calls back
  friend BxiNic;

  std::unique_ptr<Fabric> make_fabric();

  void advance(Flight& flight);
  Flight& take_on(Transfer& transfer);
  void schedule(Flight& flight, Stage stage, SimTime when)
  {
    flight.stage = stage;
    context_.timeline.schedule(flight, when);
  }
  // Events and responses that a delivery causes follow the payload on PCI and in the NIC; they do not wait until the
  // host could see it.
  [[nodiscard]] SimTime cause() const { return std::min(cause_, context_.timeline.now()); }

  // command_queue.cpp
  [[nodiscard]] std::uint8_t queue_of(const Transfer& transfer) const;
  void enqueue(Flight& flight);
  void prepare(Nic& nic, Queue& queue);
  SimTime payload_ready(Nic& nic, Flight& flight, SimTime processed);
  void leave_queue(const Flight& flight, Flight* next);

  // credits.cpp
  bool acquire_credits(Flight& flight);
  void release_credits(Flight& flight);
  Credit& node_credit(const Flight& flight);
  Credit& process_credit(const Flight& flight);

  // ways.cpp
  bool find_way(Flight& flight);
  void give_up(Flight& flight);
  const platform::Route* way_back(const Flight& flight, SimTime& sent);

  // wire.cpp
  void inject(Flight& flight);
  void depart(Flight& flight);
  void travel(Flight& flight);
  void entered(Passage& passage) override;
  void settled(Passage& passage) override;

  // receive.cpp
  void arrive(Flight& flight);
  void receive(Flight& flight);
  void serve(Nic& nic);
  void match(Flight& flight, SimTime& engine);
  void write_payload(Flight& flight);
  void deliver(Flight& flight);
  void leave_flow(Flight& flight);

  // handover.cpp
  void hand_over(Flight& flight);
  [[nodiscard]] SimTime known_tail(const Flight& flight) const;
  void foresee(Flight& flight);

  // end_to_end.cpp
  void lose(Flight& flight, TransferFailure why);
  void await_acknowledgement(Flight& flight);
  void acknowledged(Flight& flight);
  void resend(Flight& flight);
  void fail(Flight& flight, TransferFailure why);
  void recycle(Flight& flight);

  ModelContext context_;
  BxiParameters parameters_;
  BxiObservation observation_;
  std::unique_ptr<LinkFaults> faults_; // for fabrics that know only links
  std::unique_ptr<Fabric> fabric_;
  bool tracked_; // every message needs its end-to-end ack, not only those whose buffer is kept
  std::vector<Nic> nics_;
  BxiService service_;
  sim::Pool<Flight> flights_;
  std::unordered_map<std::uint64_t, Flow> flows_;
  std::unordered_map<std::uint64_t, Credit> node_credits_;
  std::unordered_map<std::uint64_t, Credit> process_credits_;
  SimTime cause_ =
      sim::never;     // during delivered(): when the last byte was posted; events and responses follow from there
  SimTime flush_ = 0; // likewise: how much later the host is told of what somebody else wrote
  Statistics statistics_;
};

} // namespace umwelt::net
