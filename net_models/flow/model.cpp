// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/flow/model.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "net_models/core/link_load.h"
#include "platforms/detour.h"
#include "platforms/link_failures.h"
#include "platforms/platform.h"

namespace umwelt::net
{

FlowModel::FlowModel(const ModelContext& context, const FlowParameters& parameters)
    : context_(context), parameters_(parameters), writes_(context.platform.node_count()),
      engines_(context.platform.node_count()), solver_(context.timeline)
{
  const auto not_zero = [](const char* key, bool zero, const char* expected) {
    if (zero)
      throw std::invalid_argument(
          fmt::format("parameter {} of model flow: expected {}, got 0. Correct the value.", key, expected));
  };
  not_zero("packet", parameters_.packet == 0, "at least 1");
  not_zero("page", parameters_.page == 0, "at least 1");
  not_zero("coding", parameters_.coding == 0, "a fraction above 0");
}

FlowModel::~FlowModel() = default;

// ---- Small rules, those of the bxi model ----

bool FlowModel::reads_payload(const Transfer& transfer) const
{
  if (transfer.payload <= parameters_.inline_max)
    return !is_response(transfer.kind) && !transfer.from_host && transfer.payload > 0;
  return is_response(transfer.kind) || !transfer.from_host || !parameters_.stored_by_host(transfer.payload);
}

SimTime FlowModel::wire_time(std::uint64_t bytes, const platform::Route& route) const
{
  return sim::transfer_time(bytes, route.bandwidth * parameters_.coding);
}

SimTime FlowModel::pci_time(std::uint64_t bytes) const
{
  return sim::transfer_time(bytes, parameters_.pci_transfer);
}

SimTime FlowModel::stall(const Transfer& transfer) const
{
  return parameters_.misses(transfer.payload, 0) + parameters_.small_misses(transfer);
}

SimTime FlowModel::cause() const
{
  return std::min(cause_, context_.timeline.now());
}

void FlowModel::schedule(Flight& flight, Stage stage, SimTime when)
{
  flight.stage = stage;
  context_.timeline.schedule(flight, when);
}

// ---- Sending ----

FlowModel::Flight& FlowModel::take_on(Transfer& transfer)
{
  Flight& flight = flights_.acquire();
  flight.model = this;
  flight.transfer = &transfer;
  flight.header_told = false;
  flight.carried = false;
  flight.source_told = false;
  flight.inbound = false;
  flight.cut = false;
  flight.blocked_since = sim::never;
  transfer.state = &flight;
  return flight;
}

bool FlowModel::start(Transfer& transfer)
{
  Flight& flight = take_on(transfer);
  SimTime ready = 0;
  if (transfer.from_host) {
    const SimTime now = context_.timeline.now();
    const SimTime stored = parameters_.stored_by_host(transfer.payload) ? pci_time(transfer.payload) : 0;
    ready = engines_[transfer.source].take_in(now, now + parameters_.pci_latency + stored,
                                              parameters_.command_gap + stored);
  } else { // a response goes out behind the events that were written before it
    ready = std::max(cause(), is_response(transfer.kind) ? engines_[transfer.source].events_free() : SimTime{0});
  }
  ready += transfer.kind == TransferKind::ack     ? parameters_.ack_time
           : transfer.kind == TransferKind::reply ? parameters_.reply_time
                                                  : parameters_.tx_time;
  if (reads_payload(transfer))
    ready += parameters_.pci_read + pci_time(std::min(transfer.payload, parameters_.pci_packet));
  schedule(flight, Stage::inject, ready);
  return true;
}

void FlowModel::advance(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  switch (flight.stage) {
  case Stage::inject:
    return inject(flight);
  case Stage::header:
    return match(flight);
  case Stage::write:
    return deliver(flight);
  case Stage::tail:
    return transfer.handover->foreseen(transfer, std::max(flight.tail, context_.timeline.now()));
  case Stage::acknowledged:
    flights_.release(flight);
    return transfer.client->source_read(transfer);
  case Stage::failed:
    if (context_.observer != nullptr) [[unlikely]]
      tell(flight, context_.timeline.now(), StageOutcome::lost);
    flights_.release(flight);
    return transfer.client->failed(transfer, TransferFailure::undeliverable);
  }
}

void FlowModel::inject(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  flight.route = &context_.platform.route(transfer.source, transfer.target);
  if (context_.failures != nullptr && !find_way(flight))
    return;
  const platform::Route& route = *flight.route;
  const SimTime now = context_.timeline.now();
  flight.sent = now;
  if (flight.header_told) // only the payload was cut
    return waiting_.push_back(&flight);

  // The NIC looks at a packet when it has it whole.
  const bool loop = route.links.empty();
  const std::uint64_t wire = parameters_.wire_bytes(transfer.payload);
  if (context_.load != nullptr) [[unlikely]]
    context_.load->carried(route, wire, now);
  const bool one_packet = transfer.payload <= parameters_.packet;
  const std::uint64_t first = one_packet ? wire : parameters_.packet + parameters_.packet_header;
  SimTime header_at = now + (transfer.handover == nullptr ? parameters_.rx_time : 0);
  if (loop)
    header_at += parameters_.loopback + pci_time(std::min(transfer.payload, parameters_.packet));
  else
    header_at += route.latency + wire_time(first, route);
  if (context_.failures != nullptr && is_cut(flight, header_at))
    return;
  if (transfer.ordered()) {
    SimTime& last = ordered_[transfer.processes()];
    header_at = last = std::max(last, header_at);
  }

  if (transfer.payload > 0 && !loop) {
    waiting_.push_back(&flight);
  } else { // control packets take no bandwidth, and a node's own messages meet nobody
    flight.carried = true;
    flight.tail = now + (loop ? parameters_.loopback + pci_time(transfer.payload) + stall(transfer)
                              : route.latency + wire_time(wire, route));
  }
  schedule(flight, Stage::header, header_at);
  if (transfer.payload <= parameters_.inline_max) {
    flight.source_told = true;
    transfer.client->source_read(transfer);
  }
}

void FlowModel::begin_waiting()
{
  solver_.catch_up();
  for (Flight* const flight : waiting_) {
    const Transfer& transfer = *flight->transfer;
    std::optional<platform::Detour> detour;
    if (context_.failures != nullptr) {
      await_failure(*flight);
      detour.emplace(context_.platform, *flight->route);
    }
    // SimGrid's links have their full rate: what coding takes of it are bytes here, and a stream that waits for its
    // addresses keeps its share.
    const double rate = flight->route->bandwidth;
    const double bytes = static_cast<double>(parameters_.wire_bytes(transfer.payload)) / parameters_.coding +
                         sim::to_seconds(stall(transfer)) * rate;
    solver_.begin(*flight, context_.platform.node(transfer.source).host, context_.platform.node(transfer.target).host,
                  static_cast<std::uint64_t>(std::llround(bytes)));
  }
  waiting_.clear();
}

bool FlowModel::advance_external(SimTime limit)
{
  if (failure_.due && cut_running())
    return true;
  if (!waiting_.empty())
    begin_waiting();
  const FluidSolver::Done done = solver_.advance(limit);
  if (done.flow == nullptr)
    return false;
  Flight& flight = static_cast<Flight&>(*done.flow);
  if (done.broken) {
    if (context_.failures == nullptr) // nobody knows when it will be back
      schedule(flight, Stage::failed, done.when);
    else
      send_again(flight, done.when + sim::nanosecond); // a link may be back here and not yet in SimGrid, which rounds
    return true;
  }
  flight.carried = true;
  flight.tail = done.when + flight.route->latency;
  if (flight.header_told)
    write(flight);
  return true; // otherwise the header, kept back by earlier requests, brings the payload along
}

// ---- Receiving ----

void FlowModel::match(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  flight.header_told = true;
  if (transfer.handover == nullptr) {
    transfer.searched = 0;
    transfer.client->header_arrived(transfer);
    flight.matched = context_.timeline.now() + static_cast<SimTime>(transfer.searched) * parameters_.search;
  } else {
    transfer.handover->reached(transfer, flight.carried ? std::max(flight.tail, context_.timeline.now()) : sim::never);
    if (!flight.cut)
      return;
  }
  if (flight.cut) {
    flight.cut = false;
    schedule(flight, Stage::inject, context_.timeline.now());
  } else if (flight.carried) {
    write(flight);
  }
}

// Header and last byte are there: the rest of the payload crosses PCI.
void FlowModel::write(Flight& flight)
{
  const Transfer& transfer = *flight.transfer;
  if (transfer.handover != nullptr) // this may be advance_external()
    return schedule(flight, Stage::tail, context_.timeline.now());
  const std::uint64_t bytes = transfer.deposit;
  flight.posted = flight.matched;
  if (transfer.payload > 0)
    flight.posted = std::max(flight.matched + pci_time(bytes),
                             flight.tail + parameters_.rx_time + pci_time(std::min(bytes, parameters_.pci_packet)));
  if (transfer.kind == TransferKind::atomic || transfer.kind == TransferKind::fetch_atomic)
    flight.posted += parameters_.atomic_time;
  const SimTime visible = flight.posted + (bytes > 0 ? parameters_.pci_latency : 0);
  if (transfer.payload == 0 &&
      visible == context_.timeline.now()) // never from advance_external(), where no client may run
    return deliver(flight);
  schedule(flight, Stage::write, visible);
}

void FlowModel::deliver(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  TransferClient& client = *transfer.client;
  if (context_.observer != nullptr && !flight.inbound) [[unlikely]]
    tell(flight, flight.tail, StageOutcome::done);
  const SimTime posted = flight.posted;
  let_source_go(flight);
  cause_ = posted;
  flush_ = parameters_.flushes(transfer) ? parameters_.flush_time : 0;
  client.delivered(transfer);
  cause_ = sim::never;
  flush_ = 0;
}

// The payload is in the target's memory.
void FlowModel::let_source_go(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  if (!flight.source_told && !parameters_.e2e) {
    flight.source_told = true;
    transfer.client->source_read(transfer);
  }
  if (flight.source_told) {
    flights_.release(flight);
  } else { // the buffer is kept until the end-to-end acknowledgement is back
    const platform::Route& back = context_.platform.route(transfer.target, transfer.source);
    const SimTime sent = context_.failures == nullptr
                             ? flight.posted
                             : context_.failures->find(transfer.target, transfer.source, flight.posted).from;
    schedule(flight, Stage::acknowledged,
             std::min(sent, sim::never / 2) + parameters_.ack_time + back.latency +
                 wire_time(parameters_.header, back) + parameters_.rx_time);
  }
}

// ---- Beside other models (core/model.h, Handover) ----

void FlowModel::taken(Transfer& transfer)
{
  Flight& flight = static_cast<Flight&>(*transfer.state);
  if (context_.observer != nullptr) [[unlikely]]
    tell(flight, std::max(flight.tail, flight.sent), StageOutcome::done);
  flight.posted = context_.timeline.now();
  let_source_go(flight);
}

void FlowModel::take_in(Transfer& transfer, SimTime tail)
{
  Flight& flight = take_on(transfer);
  flight.inbound = true;
  flight.source_told = true; // by the sender's model
  flight.route = &context_.platform.route(transfer.source, transfer.target);
  flight.carried = tail != sim::never;
  flight.tail = tail;
  flight.sent = context_.timeline.now();
  schedule(flight, Stage::header, context_.timeline.now() + parameters_.rx_time);
}

void FlowModel::tail_moved(Transfer& transfer, SimTime tail)
{
  Flight& flight = static_cast<Flight&>(*transfer.state);
  flight.carried = true;
  flight.tail = tail;
  if (flight.header_told)
    write(flight);
}

void FlowModel::tell(const Flight& flight, SimTime end, StageOutcome outcome) const
{
  const Transfer& transfer = *flight.transfer;
  context_.observer->stage({.kind = StageKind::message,
                            .outcome = outcome,
                            .service = transfer.service,
                            .response = is_response(transfer.kind),
                            .node = transfer.source,
                            .peer = transfer.target,
                            .transfer = context_.observer->started(transfer),
                            .initiator_process = transfer.initiator_process,
                            .target_process = transfer.target_process,
                            .bytes = transfer.payload,
                            .start = flight.sent,
                            .end = end});
}

// ---- Events ----

void FlowModel::write_to_host(NodeIndex node, WriteKind kind, HostWrite& write)
{
  const SimTime gap = kind == WriteKind::full_event ? parameters_.event_gap : parameters_.counter_gap;
  const SimTime written = engines_[node].write(cause(), gap, false) + flush_;
  writes_[node].post(context_.timeline, written + parameters_.pci_latency, write);
}

} // namespace umwelt::net
