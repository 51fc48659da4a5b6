// SPDX-License-Identifier: LGPL-2.1-or-later
// What a trace sees of a model: where the time of a transfer goes between the moments its client is told of.
//
// The records of a transfer come together when it has arrived, or when a copy of it was lost, and are not sorted by
// time. A model that has no stages (delay, loggp, piecewise, flow) tells of `message` alone. In an ordinary run nobody
// listens: then a model pays a test of a pointer per message.
#pragma once

#include <cstdint>

#include "runtime/base/time.h"

namespace umwelt::net
{

class Transfer;

enum class StageKind : std::uint8_t {
  message,         // from the first bit on the first link until the last bit is at the target's NIC
  acknowledgement, // the same for the end-to-end acknowledgement of one NIC to the other

  // On the PCI bus of a node.
  command,       // a command the host writes to the NIC
  pio_payload,   // a payload the host writes with it
  dma_request,   // the NIC asks for a payload, until its first byte can come
  dma_payload,   // a payload the NIC reads
  payload_write, // a payload the NIC writes, until the host can see it
  event,         // an event or a counter, likewise

  // Inside a NIC.
  queue,    // a command waits and is prepared, until it departs
  transmit, // the message occupies the virtual network
  receive,  // the header is looked at and matched
};

enum class StageOutcome : std::uint8_t { done, lost, duplicate };

struct StageRecord {
  StageKind kind = StageKind::message;
  StageOutcome outcome = StageOutcome::done; // of messages and acknowledgements
  bool service = false;                      // virtual network, if the stage has one
  bool response = false;
  std::uint32_t node = 0;     // where it happens; for messages: where they come from
  std::uint32_t peer = 0;     // where messages go; `node` for all others
  std::uint64_t transfer = 0; // what started() answered; 0: belongs to no transfer, and the next two say nothing
  std::uint32_t initiator_process = 0;
  std::uint32_t target_process = 0;
  std::uint64_t bytes = 0; // of payload; with headers for `transmit`; 0 where the model does not count them
  sim::SimTime start = 0;
  sim::SimTime end = 0; // not before start
};

class Observer
{
public:
  // Records of `transfer` follow. The answer, never 0, stands for it in them: the object may be gone before the last.
  virtual std::uint64_t started(const Transfer& transfer) = 0;
  virtual void stage(const StageRecord& record) = 0;

protected:
  ~Observer() = default;
};

} // namespace umwelt::net
