// SPDX-License-Identifier: LGPL-2.1-or-later
// What a program reads from the time stamp counter: simulated time since its node was started, in ticks of this
// machine's counter. Where in its code it reads it is found by time_stamps.h.
#pragma once

#include <cstdint>

#include <ucontext.h>

namespace umwelt::rank_host
{

class RankHost;
class TrapCost;
struct Thread;

// Does what rdtsc (2 bytes) or rdtscp (3) does to the registers of the thread that has trapped there. `begin`: this
// machine's time stamp when the trap came.
void tell_time_stamp(RankHost& rank_host, const TrapCost& trap_cost, Thread& thread, ucontext_t& context,
                     unsigned bytes, std::uint64_t begin);

} // namespace umwelt::rank_host
