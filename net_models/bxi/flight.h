// SPDX-License-Identifier: LGPL-2.1-or-later
// A message on its way through the NICs and the fabric, and the lists it waits in.
#pragma once

#include "net_models/bxi/observation.h"
#include "net_models/bxi/parameters.h"
#include "net_models/core/fabric.h"
#include "net_models/core/model.h"

namespace umwelt::net
{

class BxiModel;
struct BxiFlight;
struct BxiFlow;

struct BxiPassage final : Passage {
  BxiFlight* flight = nullptr;
};

// The life of a transfer in the model. It may outlive the transfer: the client is done when the payload is visible, the
// NIC only when the end-to-end ack has come.
struct BxiFlight final : TransferState, sim::Event {
  // What comes next.
  enum class Stage : std::uint8_t {
    inject,
    depart,
    head,
    fabric,
    arrive,
    write,
    handed_over,
    acknowledged,
    resend,
    blocked
  };

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
  bool copied = false;  // from memory to memory, within a node
  bool leaves = false;  // to a node of another model
  bool inbound = false; // from one: it was never sent here

  Stage stage = Stage::inject;
  bool source_told = false; // source_read() was called
  bool received = false;    // matched at the target: what arrives now is a duplicate
  bool parked = false;      // waits at the target for earlier requests of its flow
  bool holds_slot = false;  // of the command queue
  bool holds_entry = false; // of the end-to-end table
  bool holds_node_credit = false;
  bool holds_process_credit = false;
  bool credited = false;   // has all it needs
  bool set_aside = false;  // until the request before it in its flow is credited
  bool detour = false;     // its route is not the usual one
  bool incomplete = false; // matched, but its payload was cut: that comes again
  std::uint32_t retries = 0;

  SimTime command_at = 0;             // time from which the NIC can look at the command
  SimTime blocked_since = sim::never; // no way to the target; `never`: there is one
  SimTime stalled = 0;                // its stream, for addresses in small pages
  SimTime sent_at = 0;
  SimTime matched = 0;
  SimTime write_begin = 0; // the first PCI packet of the payload went to the host
  SimTime posted = 0;      // the last payload byte was handed to the target's PCI
  SimTime late = 0;        // of the passage's, what `posted` contains
  BxiObservation::Times times;
  BxiPassage passage;

  BxiFlow* flow = nullptr; // order of requests; null for messages that need none
  BxiFlight* flow_previous = nullptr;
  BxiFlight* flow_next = nullptr;
  BxiFlight* next = nullptr; // in whatever list it is

  void fire() override;

  // The NIC has a copy of short payloads; the buffer of longer ones is needed until nothing has to be sent again.
  [[nodiscard]] bool keeps_buffer(const BxiParameters& parameters) const { return payload > parameters.inline_max; }
  // Short replies are read together with the list entry (reply_time). The host writes short requests itself; what the
  // NIC sends on its own account or a second time it must read.
  [[nodiscard]] bool reads_payload(const BxiParameters& parameters) const
  {
    if (copied)
      return false;
    if (payload <= parameters.inline_max)
      return !is_response(kind) && !from_host && payload > 0;
    return is_response(kind) || !from_host || retries > 0 || !parameters.stored_by_host(payload);
  }
  // At the target, over PCI.
  [[nodiscard]] bool writes_payload(const BxiParameters& parameters) const
  {
    return parameters.pci && !copied && transfer->deposit > 0;
  }
};

// Requests from one node to another in one virtual network, in the order in which they must be matched.
struct BxiFlow {
  BxiFlight* first = nullptr;
  BxiFlight* last = nullptr;
};

// First-in first-out list through BxiFlight::next.
struct BxiFlightList {
  BxiFlight* first = nullptr;
  BxiFlight* last = nullptr;

  [[nodiscard]] bool empty() const { return first == nullptr; }
  void push(BxiFlight& flight)
  {
    flight.next = nullptr;
    (first == nullptr ? first : last->next) = &flight;
    last = &flight;
  }
  BxiFlight& pop()
  {
    BxiFlight& flight = *first;
    first = flight.next;
    return flight;
  }
};

} // namespace umwelt::net
