// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/time_stamp_counter.h"

#include <algorithm>

#include "runtime/rank_host/preemption.h"
#include "runtime/rank_host/rank_host.h"
#include "runtime/rank_host/trap_cost.h"

namespace umwelt::rank_host
{

// As preload/time/clock.c does for the C library's clocks.
void tell_time_stamp(RankHost& rank_host, const TrapCost& trap_cost, Thread& thread, ucontext_t& context,
                     unsigned bytes, std::uint64_t begin)
{
  umw_gate& gate = thread.rank.gate;
  umw_clock& clock = gate.clock;
  const bool measured = clock.ps_per_tick > 0;
  ++clock.looks;
  trap_cost.interrupt(thread);
  const auto since = [&clock, measured](std::uint64_t now) {
    return measured ? static_cast<SimTime>(static_cast<double>(static_cast<std::int64_t>(now - clock.burst_start)) *
                                           clock.ps_per_tick)
                    : 0;
  };
  if (!measured)
    clock.debt_ps += clock.read_cost_ps;
  SimTime time = clock.now_ps + clock.debt_ps + since(begin);
  const bool settles = measured ? begin - clock.burst_start > clock.settle_ticks && begin > clock.burst_start
                                : clock.debt_ps > static_cast<SimTime>(clock.settle_ticks);
  if (settles && !no_preempt(thread, context)) {
    umw_args_umw_clock_settle arguments{};
    rank_host.call(thread, UMW_OP_umw_clock_settle, &arguments);
    time = clock.now_ps + clock.debt_ps;
  } else {
    clock.burst_start = rank_host.cpu().exclude(clock.burst_start, begin);
  }
  clock.shown_ps = std::max<SimTime>(clock.shown_ps, time);
  const auto stamp = static_cast<std::uint64_t>(
      (static_cast<double>(clock.uptime_origin_ns) * 1e3 + static_cast<double>(clock.shown_ps)) /
      rank_host.cpu().ps_per_time_stamp());
  greg_t* registers = context.uc_mcontext.gregs;
  registers[REG_RAX] = static_cast<greg_t>(stamp & 0xffffffff);
  registers[REG_RDX] = static_cast<greg_t>(stamp >> 32);
  if (bytes == 3) // IA32_TSC_AUX, as Linux sets it: node and core
    registers[REG_RCX] = gate.core;
}

} // namespace umwelt::rank_host
