// SPDX-License-Identifier: LGPL-2.1-or-later
// What a trace or a statistic sees of the engine: one record per message that crossed the network.
#pragma once

#include <cstdint>

#include "net_models/core/model.h"

namespace umwelt::portals
{

struct MessageRecord {
  net::TransferKind kind;     // an operation and its ack or reply are two messages
  std::uint32_t initiator;    // rank that began the operation
  std::uint32_t target;       // rank it addresses; no_rank if there is no such process
  net::NodeIndex source_node; // where this message came from
  net::NodeIndex target_node;
  std::uint64_t payload; // bytes carried
  sim::SimTime start;    // the NIC took the command
  sim::SimTime end;      // delivered, or given up
  bool delivered;
};

inline constexpr std::uint32_t no_rank = 0xffffffff;

class Observer
{
public:
  virtual void message(const MessageRecord& record) = 0;

protected:
  ~Observer() = default;
};

} // namespace umwelt::portals
