// SPDX-License-Identifier: LGPL-2.1-or-later
// What a node is like at the moment at which a rank of it looks at /proc: told by the job, shown by node_files.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/procfs/process_files.h"

namespace umwelt::procfs
{

struct NodeNow {
  // A rank of the node.
  struct Process {
    int pid;
    unsigned core;          // of its main thread
    std::int64_t cpu_ticks; // it has computed
    bool ended;
    std::function<ProcessFacts()> facts; // unless it has ended
  };
  std::uint32_t node;
  std::string session; // its session directory
  std::string host_name;
  unsigned cores;
  unsigned sockets;
  sim::SimTime now;
  std::int64_t uptime_origin_ns; // it had been up for that long when the simulation began
  std::int64_t realtime_origin_ns;
  int looking;  // pid of the rank that looks
  int launcher; // pid of what has started the ranks
  std::vector<Process> processes;

  // Processes that run.
  [[nodiscard]] unsigned running() const;
};

} // namespace umwelt::procfs
