// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "runtime/base/time.h"

namespace umwelt::net
{

// The defaults are those of a node with two AMD EPYC 7763; README.md says where each figure comes from.
struct NodeParameters {
  std::uint64_t memory = 256ULL << 30;
  std::uint64_t shm = 0;
  std::uint64_t sockets = 2;
  sim::SimTime line = 80 * sim::nanosecond;
  sim::SimTime line_far = 200 * sim::nanosecond;
  double copy_bandwidth = 12e9;
  double socket_bandwidth = 80e9;
  double uncached_bandwidth = 30e9;
  sim::SimTime receive = 0;
  sim::SimTime system_copy = 400 * sim::nanosecond;
  sim::SimTime clock_read = 25 * sim::nanosecond;
  std::uint64_t core_cache = 512 << 10;
  double cached_bandwidth = 50e9;
  std::uint64_t shared_cache = 32 << 20;
  double shared_bandwidth = 20e9;
  sim::SimTime instruction = 140;
  sim::SimTime unreachable = 3 * sim::second;
  sim::SimTime daemon_hop = 500 * sim::microsecond;
  sim::SimTime pmi_request = 20 * sim::microsecond;

  // A message that a NIC has written, read by a core: what follows its first cache line, whose miss nothing hides and
  // which is the program's own (--cpu-first-touch).
  [[nodiscard]] sim::SimTime read_uncached(std::uint64_t bytes) const
  {
    constexpr std::uint64_t cache_line = 64;
    return bytes <= cache_line ? 0 : sim::transfer_time(bytes - cache_line, uncached_bandwidth);
  }

  template <class Visitor> void visit(Visitor& v)
  {
    v.size("memory", memory, "of a node");
    v.size("shm", shm, "of a node's /dev/shm; 0: half of its memory");
    v.count("sockets", sockets, "that the cores of a node are dealt to, in order and evenly");
    v.time("line", line, "a cache line goes from one core to another of its socket");
    v.time("line_far", line_far, "the same, to one of another socket");
    v.bandwidth("copy_bandwidth", copy_bandwidth, "bytes copied by a core that has its socket for itself");
    v.bandwidth("socket_bandwidth", socket_bandwidth, "bytes copied by all cores of a socket together");
    v.bandwidth("uncached_bandwidth", uncached_bandwidth,
                "what a NIC has written, read by a core for the first time: messages that a library copies on");
    v.time("receive", receive,
           "a library's own work for a message that has come, without its bytes, where bursts are not measured (--cpu "
           "none or fixed)");
    v.time("system_copy", system_copy, "what a system call that copies (process_vm_readv) takes without its bytes");
    v.time("clock_read", clock_read, "a read of the clock, where bursts are not measured (--cpu none or fixed)");
    v.size("core_cache", core_cache,
           "what a core's own caches hold: memcpy of up to half of it is at cached_bandwidth");
    v.bandwidth("cached_bandwidth", cached_bandwidth, "bytes copied within a core's caches (--cpu measured)");
    v.size("shared_cache", shared_cache,
           "what the cache holds that cores share: memcpy of up to half of it is at shared_bandwidth, of more at "
           "copy_bandwidth");
    v.bandwidth("shared_bandwidth", shared_bandwidth, "bytes copied within that cache (--cpu measured)");
    v.time("instruction", instruction,
           "an instruction of a communication library, in short bursts that are known by their path (--cpu measured); "
           "0: these are charged as measured");
    v.time("unreachable", unreachable, "until an address of the network at which there is nobody is EHOSTUNREACH");
    v.time("daemon_hop", daemon_hop,
           "one hop of the launcher's tree of daemons, in fences and when ranks start others");
    v.time("pmi_request", pmi_request, "a request to the launcher's daemon of the node, and its answer");
  }
};

} // namespace umwelt::net
