// SPDX-License-Identifier: LGPL-2.1-or-later
// The six benchmarks behind shared/data/bxi (its README defines them), reduced to what a model sees of them: which
// transfers start when, which events are written, what the host pays. No Portals engine, no real payload.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net_models/model.h"
#include "platforms/platform.h"

namespace umwelt::net
{

struct PtlBenchmark {
  std::string name;
  TransferKind kind = TransferKind::put; // put (with ack) or get
  bool one_at_a_time = true;             // waits for the completion of each operation before the next
  std::uint32_t window = 0;              // otherwise: operations in flight at most; 0: all at once, then waits for all
  bool send_events = true;               // the initiator also gets and takes SEND events
  bool target_events = false;            // the target gets a PUT event per message
  std::uint32_t searched = 0;            // list entries compared before the one that matches
  bool counting = false;                 // the initiator waits on a counter instead of an event queue
};

// put_waitack, put_nowait, get_waitreply, get_nowait, ptlperf_ack, ptlperf_match.
const std::vector<PtlBenchmark>& ptl_benchmarks();

// Microseconds per operation of `count` operations of `size` bytes from node 0 to node 1.
double run_ptl_benchmark(const PtlBenchmark& benchmark, const platform::Platform& platform,
                         const Parameters& parameters, std::uint64_t size, std::uint32_t count);

} // namespace umwelt::net
