// SPDX-License-Identifier: LGPL-2.1-or-later
// What a trace consists of, whatever its format.
//
// The types, their names and their numbers are those of S4BXI's log (enum bxi_log_type in include/s4bxi/BxiLog.hpp of
// github.com/s4bxi/s4bxi at eaf06b9), whose viewers know them by number.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "net_models/core/model.h"
#include "net_models/core/observer.h"

namespace umwelt::observe
{

enum class OperationType : std::uint8_t {
  e2e_ack,
  ptl_ack,
  ptl_get_response,
  ptl_put,
  ptl_get,
  ptl_atomic,
  ptl_fetch_atomic,
  ptl_fetch_atomic_response,
  pci_pio_payload,
  pci_dma_payload,
  pci_dma_request,
  pci_payload_write,
  pci_event,
  pci_command,
  compute,
};

inline constexpr std::array<std::string_view, 15> operation_type_names = {
    "E2E_ACK",         "PTL_ACK",         "PTL_GET_RESPONSE", "PTL_PUT",
    "PTL_GET",         "PTL_ATOMIC",      "PTL_FETCH_ATOMIC", "PTL_FETCH_ATOMIC_RESPONSE",
    "PCI_PIO_PAYLOAD", "PCI_DMA_PAYLOAD", "PCI_DMA_REQUEST",  "PCI_PAYLOAD_WRITE",
    "PCI_EVENT",       "PCI_COMMAND",     "COMPUTE"};

constexpr std::string_view name_of(OperationType type)
{
  return operation_type_names[static_cast<std::size_t>(type)];
}

// A stage of a transfer (net_models/core/observer.h) and the Portals operation it is part of.
struct OperationRecord {
  net::StageRecord stage;
  OperationType message = OperationType::ptl_put; // of the transfer
  std::uint64_t operation = 0;                    // from 1, the same for a request and its response; 0: not known
};

enum class RankState : std::uint8_t {
  compute,       // the program's own bursts
  communication, // CPU time for commands to the NIC and for taking events from it
  waiting,       // blocked
};

struct RankInterval {
  std::uint32_t rank = 0;
  RankState state = RankState::compute;
  sim::SimTime start = 0;
  sim::SimTime end = 0;
};

} // namespace umwelt::observe
