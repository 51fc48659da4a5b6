// SPDX-License-Identifier: LGPL-2.1-or-later
// How much a NIC has under way, over time: out of stages of transfers (net_models/core/observer.h), which come when
// they are over.
#pragma once

#include <compare>
#include <cstdint>

#include "net_models/core/observer.h"
#include "runtime/observe/sorted_spool.h"

namespace umwelt::observe
{

enum class NicCounter : std::uint8_t {
  in_flight, // bytes of payload on their way to other nodes
  queued,    // commands in the NIC that have not departed
};
inline constexpr std::size_t nic_counters = 2;

class NicCounters
{
public:
  void add(const net::StageRecord& stage)
  {
    if (stage.kind == net::StageKind::message && stage.bytes > 0 && stage.peer != stage.node)
      add(stage, NicCounter::in_flight, static_cast<std::int64_t>(stage.bytes));
    else if (stage.kind == net::StageKind::queue)
      add(stage, NicCounter::queued, 1);
  }

  // Node by node, in the order of time: take(node, time, values), the values being an array by NicCounter.
  template <class Take> void read(Take take)
  {
    std::int64_t values[nic_counters] = {};
    Change last{};
    bool any = false;
    changes_.read([&](const Change& change) {
      if (any && (change.node != last.node || change.time != last.time))
        take(last.node, last.time, values);
      if (any && change.node != last.node)
        std::fill(std::begin(values), std::end(values), 0);
      values[static_cast<std::size_t>(change.counter)] += change.by;
      last = change;
      any = true;
    });
    if (any)
      take(last.node, last.time, values);
  }

private:
  struct Change {
    std::uint32_t node;
    NicCounter counter;
    sim::SimTime time;
    std::int64_t by;
    bool operator<(const Change& other) const { return node != other.node ? node < other.node : time < other.time; }
  };

  void add(const net::StageRecord& stage, NicCounter counter, std::int64_t by)
  {
    if (stage.end <= stage.start)
      return;
    changes_.add({stage.node, counter, stage.start, by});
    changes_.add({stage.node, counter, stage.end, -by});
  }

  SortedSpool<Change> changes_;
};

} // namespace umwelt::observe
