// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/trap_cost.h"

#include <algorithm>
#include <utility>

#include "runtime/engine/burst_meter.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::rank_host
{

namespace
{
volatile std::uint64_t trapped_at = 0;
bool calibrating = false;
} // namespace

bool TrapCost::calibrates()
{
  if (calibrating)
    trapped_at = engine::BurstMeter::ticks();
  return calibrating;
}

void TrapCost::measure()
{
  calibrating = true;
  entry_ = exit_ = ~std::uint64_t{0};
  for (int i = 0; i < 32; ++i) { // the best of them: the others were disturbed
    const std::uint64_t begin = engine::BurstMeter::ticks();
    asm volatile("int3" : : : "memory");
    const std::uint64_t end = engine::BurstMeter::ticks();
    entry_ = std::min(entry_, trapped_at - begin);
    exit_ = std::min(exit_, end - trapped_at);
  }
  calibrating = false;
}

void TrapCost::interrupt(Thread& thread) const
{
  std::uint64_t& begin = thread.rank.gate.clock.burst_start;
  begin = std::min(begin + entry_ + (std::exchange(thread.trapped, true) ? exit_ : 0), engine::BurstMeter::ticks());
  thread.rank.gate.no_switch = 0;
}

} // namespace umwelt::rank_host
