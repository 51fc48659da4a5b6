// SPDX-License-Identifier: LGPL-2.1-or-later
// A node's NIC as the model has it: what its messages share, and since when or until when that is taken.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "net_models/bxi/engine.h"
#include "net_models/bxi/flight.h"
#include "net_models/bxi/parameters.h"
#include "net_models/core/host_writes.h"
#include "net_models/core/pipe.h"

namespace umwelt::net
{

// A limit on unacknowledged messages; who finds none left waits here and is given the next that is returned.
struct BxiCredit {
  std::uint64_t left = 0;
  BxiFlightList waiting;
};

// Commands of a virtual network.
struct BxiQueue {
  // The four virtual networks, and acknowledgements apart from replies, since the NIC makes them itself and need not
  // send them in order. One more each is that of the service networks.
  enum Index : std::uint8_t { requests = 0, responses = 2, acks = 4, count = 6 };

  BxiFlightList list;    // the first one is being prepared or injected
  SimTime free = 0;      // the previous message has been injected
  SimTime processed = 0; // the NIC can look at the next message of its own
  std::uint64_t slots_used = 0;
};

struct BxiNic final : sim::Event {
  static constexpr std::size_t most_engines = 16; // that receive

  BxiModel* model = nullptr;
  std::array<BxiQueue, BxiQueue::count> queues; // by BxiQueue::Index
  sim::Pipe read;                               // PCI, host to NIC
  sim::Pipe write;                              // PCI, NIC to host
  sim::Pipe loop;
  SimTime dma_free = 0;
  std::uint64_t writing = 0; // bytes of the messages that are being written to the host
  std::uint64_t reading = 0; // of the message that is being read
  SimTime reading_until = 0; // until then
  BxiEngine engine;          // commands and events
  std::array<SimTime, most_engines> engines{};
  BxiFlightList arrived; // waiting for a receive engine
  BxiCredit entries;     // of the end-to-end table
  HostWrites writes;
  bool refused = false; // somebody waits for a command slot

  // Behind the one that is being prepared.
  [[nodiscard]] bool commands_wait() const
  {
    return std::any_of(queues.begin(), queues.begin() + BxiQueue::responses,
                       [](const BxiQueue& queue) { return !queue.list.empty() && queue.list.first->next != nullptr; });
  }

  void fire() override;
};

// Of a single transfer over PCI.
inline SimTime pci_time(const BxiParameters& parameters, std::uint64_t bytes)
{
  return parameters.pci ? sim::transfer_time(bytes, std::min(parameters.pci_transfer, parameters.pci_shared)) : 0;
}

inline std::uint64_t pair_key(std::uint32_t from, std::uint32_t to)
{
  return static_cast<std::uint64_t>(from) << 32 | to;
}

} // namespace umwelt::net
