// SPDX-License-Identifier: LGPL-2.1-or-later
// The benchmarks behind measurements of a Portals NIC, reduced to what a model sees of them: which transfers start
// when, which events are written, what the host pays. No Portals engine, no real payload: a replay costs a fraction of
// a microsecond per message, so that a fit can afford thousands. The same programs for the whole stack:
// tests/bench/ptlbench.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net_models/core/model.h"
#include "platforms/platform.h"
#include "runtime/base/parameters.h"

namespace umwelt::net
{

struct Benchmark {
  enum class Completion { ack, reply, send, answer };

  std::string name; // as ptlbench calls the mode
  TransferKind kind = TransferKind::put;
  Completion completion = Completion::ack; // what the initiator waits for; answer: a Put of the target's own
  std::uint32_t window = 1;                // requests in flight at most; 0: all at once, then waits for all
  bool send_events = false;                // the initiator also gets and takes SEND events
  bool target_events = false;              // whoever is put to gets a PUT event, or a count, per message
  std::uint32_t searched = 0;              // list entries compared before the one that matches
  bool counting = false;                   // counters take the place of event queues
  bool own_buffers = false;                // a memory descriptor is as long as a message
};

// put_waitack, put_nowait, put_waitsend, get_waitreply, get_nowait, ack, ct, match, reply.
const std::vector<Benchmark>& benchmarks();
// Null: there is none of that name.
const Benchmark* find_benchmark(std::string_view name);

// Microseconds per message of `count` messages of `size` bytes from node 0 to node 1, with any model that keeps to the
// timeline (all but flow). Throws std::invalid_argument for an unknown model or parameter.
double replay(const Benchmark& benchmark, std::string_view model, const platform::Platform& platform,
              const Parameters& parameters, std::uint64_t size, std::uint32_t count);

} // namespace umwelt::net
