// SPDX-License-Identifier: LGPL-2.1-or-later
// Every constant of the BXI NIC model. Nothing is hard-coded elsewhere.
//
// Origins, named in brackets behind each default:
//   [fit]   fitted (umwelt calibrate) to measurements on BXI v2 NICs (J. Emmanuel, "A full stack simulator for
//           HPC", 2023, benchmark_data/4_portals): one set of values for all benchmarks and sizes
//   [data]  read off the same measurements: a size at which behaviour changes
//   [PCI]   PCI Express 3.0 x16: 16 lanes of 8 GT/s, 128b/130b
//   [S4BXI] behaviour or value stated by the S4BXI simulator, whose authors had the vendor's documentation
//   [guess] no measurement distinguishes it; a plausible value that does not matter for the fit
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "net_models/core/model.h"
#include "net_models/packet/parameters.h"
#include "runtime/base/parameters.h"
#include "runtime/base/time.h"

namespace umwelt::net
{

struct BxiParameters {
  // The host's own work.
  sim::SimTime issue = 60 * sim::nanosecond;      // [guess] a command of a cache line, stored write-combining
  double pio_store = 9e9;                         // [fit]
  sim::SimTime take_event = 80 * sim::nanosecond; // [guess] the line was just written by the NIC: a miss in every cache
  sim::SimTime take_next = 20 * sim::nanosecond;  // [guess] the processor has read ahead in the queue: a hit in a cache
  sim::SimTime take_counter = 80 * sim::nanosecond; // [guess] as an event: the same miss

  // Commands.
  std::uint64_t inline_max = 64; // [data], [S4BXI]
  std::uint64_t pio_max = 416;   // [data]
  std::string service;
  std::uint64_t queue_depth = 8192; // [fit] put_nowait at 6 KiB; as many entries as the E2E table has [S4BXI]

  // PCI.
  bool pci = true;
  sim::SimTime pci_latency = 200 * sim::nanosecond; // [S4BXI]
  sim::SimTime pci_read = 500 * sim::nanosecond;    // [fit]
  double pci_transfer = 12.5e9;                     // [S4BXI]
  double pci_shared = 15.75e9;                      // [PCI]
  std::uint64_t pci_packet = 512;                   // [S4BXI]
  sim::SimTime dma_gap = 390 * sim::nanosecond;     // [fit] get_nowait between 65 B and 4 KiB
  std::uint64_t page = 4096;                        // x86-64
  std::uint64_t translation_reach = 1 << 20;        // [fit]
  std::uint64_t translation_span = 448 << 10;       // [fit]
  sim::SimTime page_miss = 207 * sim::nanosecond;   // [fit]
  std::uint64_t small_region = 4 << 20;             // x86-64: less may be without a single huge page of 2 MiB
  sim::SimTime small_walk = 100 * sim::nanosecond;  // [fit] ptlperf_ack from 417 B on
  std::uint64_t small_reach = 128 << 10;            // [data] ptlperf_ack, ptlperf_match
  sim::SimTime small_miss = 31 * sim::nanosecond;   // [fit] the same beyond

  // Sending.
  sim::SimTime command_gap = 186 * sim::nanosecond; // [fit]
  sim::SimTime tx_time = 314 * sim::nanosecond;     // [fit]
  sim::SimTime tx_gap = 50 * sim::nanosecond;       // [guess] hidden behind the rate of requests
  sim::SimTime ack_time = 393 * sim::nanosecond;    // [fit]
  sim::SimTime reply_time = 375 * sim::nanosecond;  // [fit]

  // On the wire.
  double coding = 0.934;                        // [fit] 64b/66b alone is 0.97
  std::uint64_t header = 64;                    // [S4BXI]
  std::uint64_t packet = 1024;                  // [fit]
  std::uint64_t packet_header = 64;             // [fit]
  sim::SimTime loopback = 50 * sim::nanosecond; // [guess]
  double loop_transfer = 0;                     // Portals on BXI has no way past the NIC
  double loop_shared = 60e9;                    // [guess] two sockets of 100 GB/s; read, fetched and written

  // Receiving.
  sim::SimTime rx_time = 100 * sim::nanosecond;     // [guess] its sum with the other stages is fitted
  sim::SimTime rx_gap = 50 * sim::nanosecond;       // [guess] hidden behind the host's own rate
  sim::SimTime rx_page_gap = 262 * sim::nanosecond; // [fit] ptlperf_match between 4 and 13 KiB
  std::uint64_t rx_engines = 1;                     // [guess]
  sim::SimTime search = 63 * sim::nanosecond;       // [fit] ptlperf_match
  sim::SimTime atomic_time = 200 * sim::nanosecond; // [guess]

  // Events and counters.
  sim::SimTime event_gap = 168 * sim::nanosecond;   // [fit]
  sim::SimTime counter_gap = 160 * sim::nanosecond; // [guess] as an event, but for the bytes
  sim::SimTime flush_time = 335 * sim::nanosecond;  // [fit] ptlperf_reply

  // End-to-end reliability and limits.
  bool e2e = true;
  sim::SimTime e2e_timeout = 1 * sim::millisecond; // [guess]
  std::uint64_t e2e_retries = 5;                   // [guess]
  std::uint64_t e2e_entries = 0;
  std::uint64_t inflight_node = 0;
  std::uint64_t inflight_process = 0;
  bool quick_ack = false;

  // Faults.
  double drop = 0;
  double corrupt = 0;
  std::string drop_on;
  std::string corrupt_on;
  std::string down;
  std::uint64_t seed = 1;

  // Links and switches.
  std::string fabric = "occupancy";
  PacketParameters switches;

  // ---- What follows from them, in every model of this NIC ----

  // Inline or by programmed I/O: the host's stores cross PCI, the NIC need not read.
  [[nodiscard]] bool stored_by_host(std::uint64_t payload) const { return payload <= std::max(inline_max, pio_max); }

  // What others write must be in memory before the program is told of it; what it asked for itself follows in order.
  [[nodiscard]] bool flushes(const Transfer& transfer) const
  {
    return !is_response(transfer.kind) && transfer.deposit > 0;
  }

  // Within a node: by the processors, from memory to memory, rather than over PCI to the NIC and back.
  [[nodiscard]] bool copied(const Transfer& transfer) const
  {
    return loop_transfer > 0 && transfer.source == transfer.target;
  }

  [[nodiscard]] std::uint64_t wire_bytes(std::uint64_t payload) const
  {
    const std::uint64_t packets = (payload + packet - 1) / packet;
    return header + payload + packets * packet_header;
  }

  // For how long the stream of a payload waits for addresses, with so many bytes of others under way in the same NIC.
  // Pages beyond the reach of its translation cache evict each other and each costs a walk; large buffers are backed by
  // huge pages after their first stretch, which miss no more.
  [[nodiscard]] sim::SimTime misses(std::uint64_t bytes, std::uint64_t beside) const
  {
    if (bytes + beside <= translation_reach)
      return 0;
    const std::uint64_t stretch = translation_reach + translation_span;
    const std::uint64_t own = std::min(bytes, stretch);
    const std::uint64_t all = own + std::min(beside, stretch);
    return pages(std::min(own, all - translation_reach)) * page_miss;
  }

  // Memory that a descriptor names on its own may lie in small pages from its first byte: the first one is looked up,
  // and more than the reading engine can keep evict each other.
  [[nodiscard]] sim::SimTime small_misses(const Transfer& transfer) const
  {
    const std::uint64_t bytes = transfer.payload;
    if (transfer.region == 0 || transfer.region >= small_region || stored_by_host(bytes))
      return 0;
    return small_walk + (bytes > small_reach ? pages(bytes) * small_miss : 0);
  }

  [[nodiscard]] sim::SimTime pages(std::uint64_t bytes) const { return static_cast<sim::SimTime>(bytes / page); }

  [[nodiscard]] sim::SimTime issue_cost(const Transfer& transfer) const
  {
    if (!transfer.from_host)
      return 0;
    return issue + (stored_by_host(transfer.payload) ? sim::transfer_time(transfer.payload, pio_store) : 0);
  }

  [[nodiscard]] sim::SimTime take_cost(WriteKind kind) const
  {
    return kind == WriteKind::full_event ? take_event : take_counter;
  }

  // Throws std::invalid_argument for one of the fabric `packet` while there is another.
  void check_effect(const Parameters& given) const;

  template <class Visitor> void visit(Visitor& v)
  {
    v.time("issue", issue, "CPU time to write a command to the NIC");
    v.bandwidth("pio_store", pio_store, "rate at which the CPU stores a payload into the NIC's command queue");
    v.time("take_event", take_event, "CPU time to take an event out of its queue");
    v.time("take_next", take_next, "the same if it was there already when the event before it was taken");
    v.time("take_counter", take_counter, "CPU time to read a counter that has changed");

    v.size(
        "inline_max", inline_max,
        "payloads up to this are part of the command, which the NIC keeps: SEND as soon as they left; longer ones wait "
        "for the end-to-end ack");
    v.size("pio_max", pio_max, "payloads up to this are written by the CPU; longer ones are read by DMA");
    v.text("service", service,
           "ranks that use the service instead of the compute networks, such as 0;4-7; '*' for all");
    v.count("queue_depth", queue_depth, "commands a node's queue holds, per virtual network");

    v.flag("pci", pci, "model the PCI bus at all");
    v.time("pci_latency", pci_latency, "of a posted write, either way");
    v.time("pci_read", pci_read, "from a DMA read request to its first byte");
    v.bandwidth("pci_transfer", pci_transfer, "most a single transfer gets");
    v.bandwidth("pci_shared", pci_shared, "all transfers together, per direction");
    v.size("pci_packet", pci_packet, "first and last piece of a DMA, not overlapped with the fabric");
    v.time("dma_gap", dma_gap, "least time between the starts of two DMA reads of a node");
    v.size("page", page, "page size of the NIC's address translation");
    v.size("translation_reach", translation_reach,
           "bytes whose translations stay in the NIC, of all long messages that it sends and receives at a time");
    v.size("translation_span", translation_span,
           "by how much more of a buffer than the reach is in small pages; the rest is in huge ones");
    v.time("page_miss", page_miss, "stall of the stream per missing translation");
    v.size("small_region", small_region,
           "memory descriptors shorter than this lie in small pages, longer ones in huge ones");
    v.time("small_walk", small_walk, "stall of a Put that reads from small pages, for the first of them");
    v.size("small_reach", small_reach, "longest payload whose small pages the reading engine keeps");
    v.time("small_miss", small_miss, "stall per small page of a longer one");

    v.time("tx_time", tx_time, "from a command's arrival to its first packet, without payload reads");
    v.time("command_gap", command_gap,
           "a node's engine for commands and events, per command, beside the payload that comes with it over PCI");
    v.time("tx_gap", tx_gap, "least time between two responses of a virtual network");
    v.time("ack_time", ack_time, "from the last payload byte written to the ack's departure");
    v.time("reply_time", reply_time, "from a matched get to the reply's departure, with the first 64 bytes read");

    v.fraction("coding", coding, "share of a link's rate left for packets: line coding, link-level control");
    v.size("header", header, "of a message on the wire");
    v.size("packet", packet, "payload of a packet: what the receiver must have whole before it goes on");
    v.size("packet_header", packet_header, "added by each packet");
    v.time("loopback", loopback, "through the NIC, between processes of a node");
    v.bandwidth("loop_transfer", loop_transfer,
                "most a message within a node gets if the processors copy it; 0: it passes PCI twice, as any other");
    v.bandwidth("loop_shared", loop_shared, "all such copies of a node together");

    v.time("rx_time", rx_time, "from a header's arrival to its match");
    v.time("rx_gap", rx_gap, "least time between two messages through a receive engine");
    v.time("rx_page_gap", rx_page_gap,
           "more of it for a payload of more than a page, which needs a second translation");
    v.count("rx_engines", rx_engines, "receive engines working in parallel (1 to 16)");
    v.time("search", search, "per list entry compared before the one that matches");
    v.time("atomic_time", atomic_time, "read, modify, write of an atomic operation");

    v.time("event_gap", event_gap, "a node's engine for commands and events, per full event");
    v.time("counter_gap", counter_gap, "the same, per counter update");
    v.time("flush_time", flush_time, "by which event and count at a target follow its payload: a read-back of memory");

    v.flag("e2e", e2e, "resend what the target did not acknowledge");
    v.time("e2e_timeout", e2e_timeout, "before a lost message is sent again");
    v.count("e2e_retries", e2e_retries, "then the operation fails");
    v.count("e2e_entries", e2e_entries, "unacknowledged messages per node; 0: no limit");
    v.count("inflight_node", inflight_node, "unacknowledged messages to one node, per virtual network; 0: no limit");
    v.count("inflight_process", inflight_process, "the same between two processes; 0: no limit");
    v.flag("quick_ack", quick_ack, "shortcut: acknowledgements take no time and no bandwidth");

    v.fraction("drop", drop, "probability that a link loses a message");
    v.fraction("corrupt", corrupt, "probability that a link corrupts a message");
    v.text("drop_on", drop_on, "LINK:probability;LINK:probability...: instead of drop on these links");
    v.text("corrupt_on", corrupt_on, "likewise instead of corrupt");
    v.text("down", down, "LINK@from-to;...: a link is down for that time, '*' for every link");
    v.count("seed", seed, "of the random faults, and of what a fabric draws");

    v.text("fabric", fabric,
           "links and switches (umwelt run --fabric): occupancy; flow, SimGrid's solver; packet, with buffers and "
           "credits");
    switches.visit(v);
  }
};

} // namespace umwelt::net
