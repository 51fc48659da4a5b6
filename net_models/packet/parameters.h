// SPDX-License-Identifier: LGPL-2.1-or-later
// Every constant of the fabric of packets. No vendor says what is in a BXI switch; all defaults are [guess] values, for
// the reasons beside them.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/time.h"

namespace umwelt::net
{

struct PacketParameters {
  std::uint64_t buffer = 32 << 10; // full rate over a cable of 1 us: 12.5 GB/s * (2 * 1 us + a packet) is 26 KiB
  std::uint64_t vcs = 1;
  sim::SimTime switch_time = 0; // platforms count their switches into the cables (Cable in platforms/network.h)
  std::string arbitration = "round_robin";
  std::string routing = "static";
  std::uint64_t input_reads = 0; // "sufficient speedup" inside the switch: J. Kim et al., 2008
  double link_errors = 0;
  sim::SimTime link_retry = 0;

  template <class Visitor> void visit(Visitor& v)
  {
    v.size("fabric_buffer", buffer, "packet: of an input of a switch, per virtual channel");
    v.count("fabric_vcs", vcs,
            "packet: virtual channels per virtual network and step of the routing, which flows share by their target");
    v.time("fabric_switch_time", switch_time, "packet: through a switch, beyond what its cables' latencies contain");
    v.text("fabric_arbitration", arbitration,
           "packet: who is next at an output: round_robin (inputs in turn), or age (the message that left first)");
    v.text(
        "fabric_routing", routing,
        "packet: static (the platform's), random (with routing=random of the platform: drawn for each packet, not each "
        "flow), valiant (each packet over a drawn place), or ugal (UGAL-L: static or valiant, by the queues at a "
        "packet's first switch)");
    v.count("fabric_input_reads", input_reads,
            "packet: packets that an input of a switch sends on at a time; 0: to all outputs at once");
    v.fraction("fabric_link_errors", link_errors,
               "packet: probability that a link garbles a packet and sends it again itself");
    v.time("fabric_link_retry", link_retry, "packet: until it does, beyond twice its latency");
  }
};

} // namespace umwelt::net
