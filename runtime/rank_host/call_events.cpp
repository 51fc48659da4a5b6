// SPDX-License-Identifier: LGPL-2.1-or-later
// Records of a rank's calls, on their way into a trace (runtime/mpi/event_spool.h): the shim's of MPI, in blocks, and
// among them those of functions of the program, in the order of their times.
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/demangle.h"
#include "runtime/mpi/event_spool.h"
#include "runtime/rank_host/mpi_call.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::rank_host
{

namespace
{

// The shim tells of a call of MPI when it is over, so what is told in between would come before its beginning.
bool in_mpi(const umw_gate& gate)
{
  return mpi_call_of(gate, gate.tid) != nullptr;
}

} // namespace

void RankHost::keep_events(Rank& rank, const void* events, std::size_t bytes)
{
  if (events_)
    events_->append(rank.gate.owner - 1, events, bytes);
}

// Behind those that the shim has not handed over yet.
void RankHost::keep_event(Rank& rank, const umw_event& event)
{
  umw_events* const there = rank.gate.mpi_events;
  if (there == nullptr)
    return keep_events(rank, &event, sizeof event);
  if (there->used == there->room)
    keep_events(rank, there->events, std::exchange(there->used, 0) * sizeof event);
  there->events[there->used++] = event;
}

// The rank, or its program, ends.
void RankHost::keep_last_events(Rank& rank)
{
  if (const umw_events* const last = std::exchange(rank.gate.mpi_events, nullptr))
    keep_events(rank, last->events, last->used * sizeof(umw_event));
}

void RankHost::trace_function(Thread& thread, std::uint32_t number, const std::string& symbol, bool enters)
{
  Rank& rank = thread.rank;
  const umw_gate& gate = rank.gate;
  if (!events_ || gate.traced == 0 || in_mpi(gate))
    return;
  umw_event event{};
  event.function = static_cast<std::uint16_t>(UMW_EVENT_FUNCTIONS + number);
  if (number >= rank.traced.size())
    rank.traced.resize(number + 1);
  if (!rank.traced[number]) {
    rank.traced[number] = true;
    const std::string name = demangle(symbol);
    event.kind = UMW_EVENT_FUNCTION;
    event.more = name.size();
    keep_event(rank, event);
    for (std::size_t done = 0; done < name.size(); done += UMW_EVENT_DATA_BYTES) {
      umw_event data{};
      data.kind = UMW_EVENT_DATA;
      std::memcpy(umw_event_data(&data), name.data() + done,
                  std::min<std::size_t>(name.size() - done, UMW_EVENT_DATA_BYTES));
      keep_event(rank, data);
    }
    event.more = 0;
  }
  event.kind = enters ? UMW_EVENT_ENTER : UMW_EVENT_LEAVE;
  event.tid = gate.tid;
  event.peer = -1;
  event.time_ps = gate.clock.now_ps + gate.clock.debt_ps;
  keep_event(rank, event);
}

} // namespace umwelt::rank_host
