// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/bxi/model.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <stdexcept>

#include <fmt/format.h>

#include "runtime/base/parameters.h"

namespace umwelt::net
{

namespace
{

// Queues of a NIC: the four virtual networks, and acknowledgements apart from replies, since the NIC makes them itself
// and need not send them in order.
enum QueueIndex : std::uint8_t { requests = 0, responses = 2, acks = 4, queue_count = 6 }; // + 1: service

constexpr std::size_t most_engines = 16;

std::uint64_t pair_key(std::uint32_t from, std::uint32_t to)
{
  return static_cast<std::uint64_t>(from) << 32 | to;
}

} // namespace

// The life of a transfer in the model. It may outlive the transfer: the client is done when the payload is visible, the
// NIC only when the end-to-end ack has come.
struct BxiModel::Flight final : TransferState, sim::Event {
  BxiModel* model = nullptr;
  Transfer* transfer = nullptr; // null once the client is done

  // Copied: the transfer may be gone when a copy of the message is sent again.
  std::uint64_t payload = 0;
  NodeIndex source = 0;
  NodeIndex target = 0;
  std::uint32_t initiator_process = 0;
  std::uint32_t target_process = 0;
  TransferKind kind = TransferKind::put;
  std::uint8_t queue = 0;
  bool from_host = true;

  Stage stage = Stage::inject;
  bool source_told = false; // source_read() was called
  bool received = false;    // matched at the target: what arrives now is a duplicate
  bool parked = false;      // waits at the target for earlier requests of its flow
  bool holds_slot = false;  // of the command queue
  bool holds_entry = false; // of the end-to-end table
  bool holds_node_credit = false;
  bool holds_process_credit = false;
  bool credited = false;  // has all it needs
  bool set_aside = false; // until the request before it in its flow is credited
  std::uint32_t retries = 0;

  SimTime command_at = 0; // time from which the NIC can look at the command
  SimTime sent_at = 0;
  SimTime posted = 0; // the last payload byte was handed to the target's PCI

  // For the observer alone: times that nothing else would keep, and its number of the transfer.
  SimTime read_asked = 0; // the first PCI packet of the payload was asked for, and
  SimTime read_begin = 0; // came
  SimTime left_at = 0;    // the virtual network was free again
  SimTime matched = 0;
  SimTime write_begin = 0; // the first PCI packet went to the host
  std::uint64_t observed = 0;
  BxiFabric::Passage passage;

  Flow* flow = nullptr; // order of requests; null for messages that need none
  Flight* flow_previous = nullptr;
  Flight* flow_next = nullptr;
  Flight* next = nullptr; // in whatever list it is

  void fire() override { model->advance(*this); }
};

// Requests from one node to another in one virtual network, in the order in which they must be matched.
struct BxiModel::Flow {
  Flight* first = nullptr;
  Flight* last = nullptr;
};

// A limit on unacknowledged messages; who finds none left waits here and is given the next that is returned.
struct BxiModel::Credit {
  std::uint64_t left = 0;
  FlightList waiting;
};

struct BxiModel::Queue {
  FlightList list;       // the first one is being prepared or injected
  SimTime free = 0;      // the previous message has been injected
  SimTime processed = 0; // the NIC can look at the next command
  std::uint64_t slots_used = 0;
};

struct BxiModel::Nic final : sim::Event {
  BxiModel* model = nullptr;
  std::array<Queue, queue_count> queues;
  sim::Pipe read;  // PCI, host to NIC
  sim::Pipe write; // PCI, NIC to host
  sim::Pipe loop;
  SimTime dma_free = 0;
  SimTime events_free = 0; // event engine
  std::array<SimTime, most_engines> engines{};
  FlightList arrived; // waiting for a receive engine
  Credit entries;     // of the end-to-end table
  HostWrites writes;
  bool refused = false; // somebody waits for a command slot

  void fire() override { model->serve(*this); }
};

void BxiModel::FlightList::push(Flight& flight)
{
  flight.next = nullptr;
  (first == nullptr ? first : last->next) = &flight;
  last = &flight;
}

BxiModel::Flight& BxiModel::FlightList::pop()
{
  Flight& flight = *first;
  first = flight.next;
  return flight;
}

BxiModel::BxiModel(const ModelContext& context, const BxiParameters& parameters)
    : context_(context), parameters_(parameters), fabric_(context.platform, parameters),
      tracked_(parameters.e2e && (fabric_.faulty() || parameters.e2e_entries != 0 || parameters.inflight_node != 0 ||
                                  parameters.inflight_process != 0)),
      nics_(context.platform.node_count())
{
  const auto at_least_one = [](const char* key, std::uint64_t value, std::uint64_t most) {
    if (value == 0 || value > most)
      throw std::invalid_argument(
          fmt::format("parameter {} of model bxi: expected 1 to {}, got {}. Correct the value.", key, most, value));
  };
  at_least_one("rx_engines", parameters_.rx_engines, most_engines);
  at_least_one("queue_depth", parameters_.queue_depth, std::uint64_t{1} << 32);
  at_least_one("packet", parameters_.packet, std::uint64_t{1} << 32);
  at_least_one("page", parameters_.page, std::uint64_t{1} << 32);
  if (parameters_.coding == 0)
    throw std::invalid_argument(
        "parameter coding of model bxi: expected a fraction above 0, got 0. Correct the value.");
  read_service();
  if (!parameters_.pci) {
    parameters_.pci_latency = 0;
    parameters_.pci_read = 0;
    parameters_.dma_gap = 0;
    parameters_.page_miss = 0;
    parameters_.rx_page_gap = 0;
  }
  for (Nic& nic : nics_) {
    nic.model = this;
    nic.entries.left = parameters_.e2e_entries;
  }
}

BxiModel::~BxiModel() = default;

void BxiModel::read_service()
{
  constexpr std::uint64_t most = 1'000'000;
  std::string_view list = parameters_.service;
  all_service_ = list == "*";
  while (!list.empty() && !all_service_) {
    const auto end = list.find(';');
    const std::string_view item = list.substr(0, end);
    const auto dash = item.find('-');
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (!parse_count(item.substr(0, dash), first) ||
        !parse_count(dash == std::string_view::npos ? item : item.substr(dash + 1), last) || last < first ||
        last >= most)
      throw std::invalid_argument(
          fmt::format("parameter service of model bxi: expected ranks and ranges separated by ';' "
                      "(0;4-7), or '*', got '{}'. Correct the list.",
                      item));
    if (service_.size() <= last)
      service_.resize(last + 1);
    std::fill(service_.begin() + static_cast<std::ptrdiff_t>(first),
              service_.begin() + static_cast<std::ptrdiff_t>(last) + 1, true);
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
}

// ---- Small rules ----

// The NIC has a copy of short payloads; the buffer of longer ones is needed until nothing has to be sent again.
bool BxiModel::keeps_buffer(const Flight& flight) const
{
  return flight.payload > parameters_.inline_max;
}

// Short replies are read together with the list entry (reply_time). The host writes short requests itself; what the NIC
// sends on its own account or a second time it must read.
bool BxiModel::reads_payload(const Flight& flight) const
{
  if (flight.payload <= parameters_.inline_max)
    return !is_response(flight.kind) && !flight.from_host && flight.payload > 0;
  return is_response(flight.kind) || !flight.from_host || flight.retries > 0 ||
         !parameters_.stored_by_host(flight.payload);
}

// Whether the process's messages, and the responses to them, go over the service networks.
bool BxiModel::on_service(const Transfer& transfer) const
{
  return transfer.service || (transfer.initiator_process < service_.size() && service_[transfer.initiator_process]) ||
         all_service_;
}

SimTime BxiModel::pci_time(std::uint64_t bytes) const
{
  return parameters_.pci ? sim::transfer_time(bytes, std::min(parameters_.pci_transfer, parameters_.pci_shared)) : 0;
}

// Events and responses that a delivery causes follow the payload on PCI and in the NIC; they do not wait until the
// host could see it.
SimTime BxiModel::cause() const
{
  return std::min(cause_, context_.timeline.now());
}

void BxiModel::schedule(Flight& flight, Stage stage, SimTime when)
{
  flight.stage = stage;
  context_.timeline.schedule(flight, when);
}

void BxiModel::advance(Flight& flight)
{
  switch (flight.stage) {
  case Stage::inject:
    return inject(flight);
  case Stage::depart:
    return depart(flight);
  case Stage::fabric:
    if (!fabric_.pass(flight.passage))
      return lose(flight, TransferFailure::undeliverable);
    return travel(flight);
  case Stage::arrive:
    return arrive(flight);
  case Stage::write:
    return deliver(flight);
  case Stage::acknowledged:
    return acknowledged(flight);
  case Stage::resend:
    return resend(flight);
  }
}

// ---- Sending ----

std::uint8_t BxiModel::queue_of(const Transfer& transfer) const
{
  const auto base = transfer.kind == TransferKind::ack ? acks : is_response(transfer.kind) ? responses : requests;
  return static_cast<std::uint8_t>(base + (on_service(transfer) ? 1 : 0));
}

bool BxiModel::reserve(Transfer& transfer)
{
  Nic& nic = nics_[transfer.source];
  Queue& queue = nic.queues[queue_of(transfer)];
  if (context_.listener != nullptr && queue.slots_used >= parameters_.queue_depth) {
    nic.refused = true;
    return false;
  }
  ++queue.slots_used;
  transfer.reserved = true;
  return true;
}

void BxiModel::unreserve(Transfer& transfer)
{
  Nic& nic = nics_[transfer.source];
  --nic.queues[queue_of(transfer)].slots_used;
  transfer.reserved = false;
  if (std::exchange(nic.refused, false))
    context_.listener->command_slot_free(transfer.source);
}

bool BxiModel::start(Transfer& transfer)
{
  if (transfer.from_host && !transfer.reserved && !reserve(transfer))
    return false;
  Nic& nic = nics_[transfer.source];
  const std::uint8_t index = queue_of(transfer);

  Flight& flight = flights_.acquire();
  flight.model = this;
  flight.transfer = &transfer;
  flight.payload = transfer.payload;
  flight.source = transfer.source;
  flight.target = transfer.target;
  flight.initiator_process = transfer.initiator_process;
  flight.target_process = transfer.target_process;
  flight.kind = transfer.kind;
  flight.queue = index;
  flight.from_host = transfer.from_host;
  flight.source_told = false;
  flight.received = false;
  flight.parked = false;
  flight.credited = false;
  flight.set_aside = false;
  flight.retries = 0;
  flight.passage = {};
  flight.passage.route = &context_.platform.route(transfer.source, transfer.target);
  flight.passage.bytes = parameters_.wire_bytes(transfer.payload);
  flight.passage.one_packet = transfer.payload <= parameters_.packet;
  flight.flow = nullptr;
  flight.holds_slot = transfer.from_host;
  transfer.state = &flight;

  if (transfer.from_host) {
    const bool stored = parameters_.stored_by_host(transfer.payload);
    flight.command_at =
        context_.timeline.now() + parameters_.pci_latency + (stored ? pci_time(transfer.payload) : SimTime{0});
  } else {
    // A response goes out behind the events that were written before it.
    flight.command_at = std::max(cause(), is_response(transfer.kind) ? nic.events_free : SimTime{0});
  }
  if (!is_response(transfer.kind) && !transfer.unordered) {
    const std::uint32_t network = index % 2 != 0 ? 1U << 31 : 0;
    Flow& flow = flows_[pair_key(transfer.source | network, transfer.target)];
    flight.flow = &flow;
    flight.flow_next = nullptr;
    flight.flow_previous = flow.first == nullptr ? nullptr : flow.last;
    (flow.first == nullptr ? flow.first : flow.last->flow_next) = &flight;
    flow.last = &flight;
  }
  enqueue(flight);
  return true;
}

void BxiModel::enqueue(Flight& flight)
{
  Nic& nic = nics_[flight.source];
  Queue& queue = nic.queues[flight.queue];
  const bool idle = queue.list.empty();
  queue.list.push(flight);
  if (idle)
    prepare(nic, queue);
}

// Schedules the injection of the first command of a queue. The NIC works ahead: by now it may long have looked at the
// command and have its payload.
void BxiModel::prepare(Nic& nic, Queue& queue)
{
  Flight& flight = *queue.list.first;
  const SimTime looked_at = std::max(flight.command_at, queue.processed);
  queue.processed = looked_at + parameters_.tx_gap;
  const SimTime work = flight.kind == TransferKind::ack     ? parameters_.ack_time
                       : flight.kind == TransferKind::reply ? parameters_.reply_time
                                                            : parameters_.tx_time;
  SimTime ready = looked_at + work;
  if (flight.kind == TransferKind::ack && parameters_.quick_ack)
    ready = context_.timeline.now();
  if (reads_payload(flight))
    ready = payload_ready(nic, flight, ready);
  schedule(flight, Stage::inject, std::max(ready, queue.free));
}

// When the first PCI packet of the payload is in the NIC.
SimTime BxiModel::payload_ready(Nic& nic, Flight& flight, SimTime processed)
{
  const SimTime asked = std::max(processed, nic.dma_free);
  nic.dma_free = asked + parameters_.dma_gap;
  if (!parameters_.pci)
    return asked;
  const std::uint64_t first = std::min(flight.payload, parameters_.pci_packet);
  const SimTime share = sim::transfer_time(flight.payload, parameters_.pci_shared);
  const SimTime packet = sim::transfer_time(parameters_.pci_packet, parameters_.pci_shared);
  const SimTime begin = flight.payload <= parameters_.pci_packet
                            ? nic.read.book_short(asked + parameters_.pci_read, share, packet)
                            : nic.read.book_long(asked + parameters_.pci_read, share);
  flight.read_asked = asked;
  flight.read_begin = begin;
  return begin + pci_time(first);
}

void BxiModel::inject(Flight& flight)
{
  Flight* const next = flight.next; // waiting for a credit puts the flight into another list
  if (tracked_ && !acquire_credits(flight))
    return leave_queue(flight, next);
  BxiFabric::Passage& passage = flight.passage;
  const SimTime now = context_.timeline.now();
  passage.hop = 0;
  passage.corrupted = false;
  passage.head = now;
  if (flight.source == flight.target) {
    const SimTime share = sim::transfer_time(flight.payload, parameters_.pci_shared);
    const SimTime packet = sim::transfer_time(parameters_.packet, parameters_.pci_shared);
    passage.start = passage.one_packet ? nics_[flight.source].loop.book_short(now, share, packet)
                                       : nics_[flight.source].loop.book_long(now, share);
  } else if (flight.kind == TransferKind::ack && parameters_.quick_ack) {
    passage.start = now;
  } else {
    fabric_.book(passage);
  }
  if (passage.start > now)
    schedule(flight, Stage::depart, passage.start);
  else
    depart(flight);
}

bool BxiModel::acquire_credits(Flight& flight)
{
  const auto acquire = [&flight](bool& holds, Credit& credit) {
    if (holds)
      return true;
    if (credit.left == 0) {
      credit.waiting.push(flight);
      return false;
    }
    --credit.left;
    return holds = true;
  };
  // Requests of a flow take their credits in its order: one that has them all may wait at the target for those before
  // it, which must not wait for what it holds. Across flows, classes are taken in this order by everybody: nobody waits
  // in a circle.
  if (flight.flow != nullptr && flight.flow_previous != nullptr && !flight.flow_previous->credited) {
    flight.set_aside = true;
    return false;
  }
  flight.credited = (parameters_.e2e_entries == 0 || flight.holds_entry ||
                     acquire(flight.holds_entry, nics_[flight.source].entries)) &&
                    (parameters_.inflight_node == 0 || flight.holds_node_credit ||
                     acquire(flight.holds_node_credit, node_credit(flight))) &&
                    (parameters_.inflight_process == 0 || flight.holds_process_credit ||
                     acquire(flight.holds_process_credit, process_credit(flight)));
  if (flight.credited && flight.flow != nullptr && flight.flow_next != nullptr && flight.flow_next->set_aside) {
    flight.flow_next->set_aside = false;
    enqueue(*flight.flow_next);
  }
  return flight.credited;
}

BxiModel::Credit& BxiModel::node_credit(const Flight& flight)
{
  // Six queues per pair of nodes; node indexes stay below 2^29.
  const std::uint32_t from = flight.source | static_cast<std::uint32_t>(flight.queue) << 29;
  const auto [found, fresh] = node_credits_.try_emplace(pair_key(from, flight.target));
  if (fresh)
    found->second.left = parameters_.inflight_node;
  return found->second;
}

BxiModel::Credit& BxiModel::process_credit(const Flight& flight)
{
  const std::uint32_t from = flight.initiator_process | static_cast<std::uint32_t>(flight.queue) << 29;
  const auto [found, fresh] = process_credits_.try_emplace(pair_key(from, flight.target_process));
  if (fresh)
    found->second.left = parameters_.inflight_process;
  return found->second;
}

// The message that heads its queue goes on or is set aside: the next one may be prepared.
void BxiModel::leave_queue(const Flight& flight, Flight* next)
{
  Nic& nic = nics_[flight.source];
  Queue& queue = nic.queues[flight.queue];
  assert(queue.list.first == &flight);
  queue.list.first = next;
  if (!queue.list.empty())
    prepare(nic, queue);
}

void BxiModel::depart(Flight& flight)
{
  Nic& nic = nics_[flight.source];
  Queue& queue = nic.queues[flight.queue];
  BxiFabric::Passage& passage = flight.passage;
  const SimTime now = context_.timeline.now();
  const bool instant = flight.kind == TransferKind::ack && parameters_.quick_ack;
  const bool loop = flight.source == flight.target;
  const SimTime stalled = parameters_.stall(flight.payload);
  const SimTime injection = instant ? 0 : loop ? pci_time(flight.payload) : fabric_.injection(passage);

  flight.sent_at = now;
  ++statistics_.messages;
  statistics_.wire_bytes += passage.bytes;
  queue.free = flight.left_at = now + injection + stalled;
  leave_queue(flight, flight.next);

  passage.tail = now;
  bool lost = false;
  if (instant || loop) {
    passage.hop = passage.route->links.size();
    passage.head = now + (loop ? parameters_.loopback : 0);
    passage.tail = passage.head + injection;
  } else {
    lost = !fabric_.pass(passage);
  }
  passage.tail += stalled;

  bool freed = false;
  if (flight.holds_slot) {
    flight.holds_slot = false;
    --queue.slots_used;
    freed = nic.refused;
    nic.refused = false;
  }
  const NodeIndex source = flight.source;
  if (!flight.source_told && !keeps_buffer(flight)) {
    flight.source_told = true;
    Transfer& transfer = *flight.transfer;
    transfer.client->source_read(transfer);
  }
  if (lost)
    lose(flight, TransferFailure::undeliverable);
  else
    travel(flight);
  if (freed)
    context_.listener->command_slot_free(source);
}

// On through the fabric as far as nothing is in the way.
void BxiModel::travel(Flight& flight)
{
  BxiFabric::Passage& passage = flight.passage;
  while (!BxiFabric::at_target(passage)) {
    fabric_.book(passage);
    if (passage.start > passage.head)
      return schedule(flight, Stage::fabric, passage.start);
    if (!fabric_.pass(passage))
      return lose(flight, TransferFailure::undeliverable);
  }
  SimTime whole = passage.tail;
  if (!passage.one_packet)
    whole =
        passage.head + (passage.route->links.empty() ? sim::transfer_time(parameters_.packet, parameters_.pci_transfer)
                                                     : fabric_.last_packet(passage));
  const bool instant = flight.kind == TransferKind::ack && parameters_.quick_ack;
  schedule(flight, Stage::arrive, whole + (instant ? 0 : parameters_.rx_time));
}

void BxiModel::lose(Flight& flight, TransferFailure why)
{
  ++statistics_.lost;
  if (context_.observer != nullptr) [[unlikely]]
    tell_loss(flight);
  if (!parameters_.e2e && why == TransferFailure::corrupted)
    return fail(flight, why);
  schedule(flight, Stage::resend, std::max(context_.timeline.now(), flight.sent_at + parameters_.e2e_timeout));
}

// ---- Receiving ----

// The header has been in the NIC for rx_time.
void BxiModel::arrive(Flight& flight)
{
  if (flight.passage.corrupted)
    return lose(flight, TransferFailure::corrupted); // the receiver's check finds it
  if (flight.received) {                             // the payload had arrived, its ack had not
    if (context_.observer != nullptr) [[unlikely]]
      tell_duplicate(flight);
    flight.posted = context_.timeline.now();
    return await_acknowledgement(flight);
  }
  if (flight.kind == TransferKind::ack && parameters_.quick_ack) {
    SimTime no_engine = 0;
    return match(flight, no_engine);
  }
  if (flight.flow != nullptr && flight.flow->first != &flight)
    flight.parked = true; // a later message overtook an earlier one: requests are matched in order
  else
    receive(flight);
}

void BxiModel::receive(Flight& flight)
{
  Nic& nic = nics_[flight.target];
  flight.parked = false;
  SimTime& engine = *std::min_element(nic.engines.begin(), nic.engines.begin() + parameters_.rx_engines);
  if (nic.arrived.empty() && engine <= context_.timeline.now() - parameters_.rx_time)
    return match(flight, engine);
  nic.arrived.push(flight);
  if (!nic.pending())
    context_.timeline.schedule(nic, engine + parameters_.rx_time);
}

// A receive engine is done with its work and takes the next message.
void BxiModel::serve(Nic& nic)
{
  SimTime& engine = *std::min_element(nic.engines.begin(), nic.engines.begin() + parameters_.rx_engines);
  if (engine <= context_.timeline.now() - parameters_.rx_time && !nic.arrived.empty())
    match(nic.arrived.pop(), engine);
  if (!nic.arrived.empty() && !nic.pending()) {
    const SimTime free = *std::min_element(nic.engines.begin(), nic.engines.begin() + parameters_.rx_engines);
    context_.timeline.schedule(nic, free + parameters_.rx_time);
  }
}

void BxiModel::match(Flight& flight, SimTime& engine)
{
  const SimTime now = context_.timeline.now();
  Nic& nic = nics_[flight.target];
  Transfer& transfer = *flight.transfer;
  flight.received = true;
  engine = std::max(engine, now - parameters_.rx_time) + parameters_.rx_gap +
           (flight.payload > parameters_.page ? parameters_.rx_page_gap : 0);
  leave_flow(flight);

  transfer.searched = 0;
  transfer.client->header_arrived(transfer);
  const SimTime searching = static_cast<SimTime>(transfer.searched) * parameters_.search;
  engine += searching;
  const SimTime matched = now + searching;
  flight.matched = matched;
  const std::uint64_t bytes = transfer.deposit;
  const bool atomic = flight.kind == TransferKind::atomic || flight.kind == TransferKind::fetch_atomic;
  if (bytes == 0) {
    flight.posted = matched + (atomic ? parameters_.atomic_time : 0);
    if (flight.posted == now)
      return deliver(flight);
    return schedule(flight, Stage::write, flight.posted);
  }

  const SimTime last_packet_in = flight.passage.tail + parameters_.rx_time + searching;
  const std::uint64_t last = std::min(bytes, parameters_.pci_packet);
  flight.posted = std::max(matched, last_packet_in);
  if (parameters_.pci) {
    const SimTime share = sim::transfer_time(bytes, parameters_.pci_shared);
    const SimTime packet = sim::transfer_time(parameters_.pci_packet, parameters_.pci_shared);
    const SimTime begin = bytes <= parameters_.pci_packet ? nic.write.book_short(matched, share, packet)
                                                          : nic.write.book_long(matched, share);
    flight.posted = std::max(begin + pci_time(bytes), last_packet_in + pci_time(last));
    flight.write_begin = begin;
  }
  if (atomic)
    flight.posted += parameters_.atomic_time;
  schedule(flight, Stage::write, flight.posted + parameters_.pci_latency);
}

void BxiModel::deliver(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  TransferClient& client = *transfer.client;
  const SimTime posted = flight.posted;
  if (context_.observer != nullptr) [[unlikely]]
    tell_arrival(flight);
  if (!flight.source_told && !parameters_.e2e) {
    flight.source_told = true;
    client.source_read(transfer);
  }
  const bool ends = flight.source_told;
  if (ends)
    flight.transfer = nullptr;
  if (tracked_ || !ends)
    await_acknowledgement(flight);
  else
    recycle(flight);
  cause_ = posted;
  client.delivered(transfer);
  cause_ = sim::never;
}

// The end-to-end ack shares the response's packet if there is one; it takes the same time and no bandwidth of its own.
void BxiModel::await_acknowledgement(Flight& flight)
{
  if (parameters_.quick_ack)
    return schedule(flight, Stage::acknowledged, context_.timeline.now());
  SimTime arrival = 0;
  const platform::Route& back = context_.platform.route(flight.target, flight.source);
  const SimTime sent = flight.posted + parameters_.ack_time;
  const bool arrives = fabric_.control(back, sent, arrival);
  if (context_.observer != nullptr) [[unlikely]]
    tell_acknowledgement(flight, sent, arrives ? arrival : sent, arrives ? StageOutcome::done : StageOutcome::lost);
  if (!arrives)
    return lose(flight, TransferFailure::undeliverable);
  schedule(flight, Stage::acknowledged, arrival + parameters_.rx_time);
}

void BxiModel::acknowledged(Flight& flight)
{
  Transfer* const transfer = flight.source_told ? nullptr : flight.transfer;
  release_credits(flight);
  recycle(flight);
  if (transfer != nullptr)
    transfer->client->source_read(*transfer);
}

// ---- Ending ----

void BxiModel::resend(Flight& flight)
{
  if (!parameters_.e2e || flight.retries >= parameters_.e2e_retries)
    return fail(flight, TransferFailure::undeliverable);
  ++flight.retries;
  ++statistics_.resent;
  flight.command_at = context_.timeline.now();
  enqueue(flight);
}

void BxiModel::fail(Flight& flight, TransferFailure why)
{
  ++statistics_.failed;
  Transfer* const transfer = flight.transfer;
  leave_flow(flight);
  release_credits(flight);
  recycle(flight);
  if (transfer != nullptr)
    transfer->client->failed(*transfer, why);
}

void BxiModel::leave_flow(Flight& flight)
{
  if (flight.flow == nullptr)
    return;
  Flow& flow = *flight.flow;
  (flight.flow_previous == nullptr ? flow.first : flight.flow_previous->flow_next) = flight.flow_next;
  (flight.flow_next == nullptr ? flow.last : flight.flow_next->flow_previous) = flight.flow_previous;
  flight.flow = nullptr;
  if (flow.first != nullptr && flow.first->parked) {
    // It has been through rx_time already; the engine sees it right behind the one that made way.
    Flight& next = *flow.first;
    next.parked = false;
    Nic& nic = nics_[next.target];
    nic.arrived.push(next);
    if (!nic.pending())
      context_.timeline.schedule(nic,
                                 *std::min_element(nic.engines.begin(), nic.engines.begin() + parameters_.rx_engines) +
                                     parameters_.rx_time);
  }
}

void BxiModel::release_credits(Flight& flight)
{
  const auto release = [this](bool& holds, Credit& credit, bool Flight::*flag) {
    if (!holds)
      return;
    holds = false;
    if (credit.waiting.empty()) {
      ++credit.left;
      return;
    }
    Flight& next = credit.waiting.pop();
    next.*flag = true; // handed on, so that nobody can take it in between
    enqueue(next);
  };
  if (flight.holds_process_credit)
    release(flight.holds_process_credit, process_credit(flight), &Flight::holds_process_credit);
  if (flight.holds_node_credit)
    release(flight.holds_node_credit, node_credit(flight), &Flight::holds_node_credit);
  if (flight.holds_entry)
    release(flight.holds_entry, nics_[flight.source].entries, &Flight::holds_entry);
}

void BxiModel::recycle(Flight& flight)
{
  flights_.release(flight);
}

// ---- Telling the observer ----

// All of a message that has come, at once and last: the way there pays one test.
void BxiModel::tell_arrival(Flight& flight)
{
  const Transfer& transfer = *flight.transfer;
  tell_departure(flight);
  tell_message(flight, flight.passage.tail, StageOutcome::done);
  const SimTime seen = flight.matched - static_cast<SimTime>(transfer.searched) * parameters_.search;
  tell(flight, StageKind::receive, flight.payload, std::max(flight.sent_at, seen - parameters_.rx_time),
       flight.matched);
  if (transfer.deposit > 0 && parameters_.pci)
    tell(flight, StageKind::payload_write, transfer.deposit, flight.write_begin, context_.timeline.now());
}

void BxiModel::tell_loss(Flight& flight)
{
  if (flight.received && flight.posted >= flight.sent_at)
    return; // not sent again since it came: it is the end-to-end acknowledgement that was lost
  tell_departure(flight);
  tell_message(flight, context_.timeline.now(), StageOutcome::lost);
}

void BxiModel::tell_duplicate(Flight& flight)
{
  tell_departure(flight);
  tell_message(flight, flight.passage.tail, StageOutcome::duplicate);
}

// What one copy of a message went through before it left.
void BxiModel::tell_departure(Flight& flight)
{
  const bool first = flight.retries == 0;
  if (first)
    flight.observed = context_.observer->started(*flight.transfer);
  if (first && flight.from_host && parameters_.pci) {
    const bool stored = flight.payload > 0 && parameters_.stored_by_host(flight.payload);
    const SimTime written = flight.command_at - (stored ? pci_time(flight.payload) : SimTime{0});
    const SimTime issued = written - parameters_.pci_latency;
    tell(flight, StageKind::command, 0, issued, written);
    if (stored)
      tell(flight, StageKind::pio_payload, flight.payload, issued, flight.command_at);
  }
  if (reads_payload(flight) && parameters_.pci) {
    tell(flight, StageKind::dma_request, 0, flight.read_asked, flight.read_asked + parameters_.pci_read);
    tell(flight, StageKind::dma_payload, flight.payload, flight.read_begin,
         flight.read_begin + pci_time(flight.payload));
  }
  tell(flight, StageKind::queue, flight.payload, std::min(flight.command_at, flight.sent_at), flight.sent_at);
  tell(flight, StageKind::transmit, flight.passage.bytes, flight.sent_at, flight.left_at);
}

void BxiModel::tell(const Flight& flight, StageKind kind, std::uint64_t bytes, SimTime start, SimTime end) const
{
  const bool receiving = kind == StageKind::receive || kind == StageKind::payload_write;
  const NodeIndex node = receiving ? flight.target : flight.source;
  context_.observer->stage({.kind = kind,
                            .service = flight.queue % 2 != 0,
                            .response = is_response(flight.kind),
                            .node = node,
                            .peer = node,
                            .transfer = flight.observed,
                            .initiator_process = flight.initiator_process,
                            .target_process = flight.target_process,
                            .bytes = bytes,
                            .start = start,
                            .end = end});
}

void BxiModel::tell_message(const Flight& flight, SimTime end, StageOutcome outcome) const
{
  context_.observer->stage({.kind = StageKind::message,
                            .outcome = outcome,
                            .service = flight.queue % 2 != 0,
                            .response = is_response(flight.kind),
                            .node = flight.source,
                            .peer = flight.target,
                            .transfer = flight.observed,
                            .initiator_process = flight.initiator_process,
                            .target_process = flight.target_process,
                            .bytes = flight.payload,
                            .start = flight.sent_at,
                            .end = std::max(end, flight.sent_at)});
}

void BxiModel::tell_acknowledgement(const Flight& flight, SimTime start, SimTime end, StageOutcome outcome) const
{
  context_.observer->stage({.kind = StageKind::acknowledgement,
                            .outcome = outcome,
                            .service = flight.queue % 2 != 0,
                            .response = true,
                            .node = flight.target,
                            .peer = flight.source,
                            .transfer = flight.observed,
                            .initiator_process = flight.initiator_process,
                            .target_process = flight.target_process,
                            .start = start,
                            .end = end});
}

// ---- Events ----

void BxiModel::write_to_host(NodeIndex node, WriteKind kind, HostWrite& write)
{
  Nic& nic = nics_[node];
  const SimTime gap = kind == WriteKind::full_event ? parameters_.event_gap : parameters_.counter_gap;
  nic.events_free = std::max(nic.events_free, cause()) + gap;
  if (context_.observer != nullptr && parameters_.pci) [[unlikely]]
    context_.observer->stage({.kind = StageKind::event,
                              .node = node,
                              .peer = node,
                              .start = nic.events_free,
                              .end = nic.events_free + parameters_.pci_latency});
  nic.writes.post(context_.timeline, nic.events_free + parameters_.pci_latency, write);
}

} // namespace umwelt::net
