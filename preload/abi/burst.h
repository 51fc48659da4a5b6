/* SPDX-License-Identifier: LGPL-2.1-or-later
 * How long the running thread has computed since its rank last went on, in ps of this machine's time; 0 where bursts
 * are not measured. The other half of what has not passed yet is clock->debt_ps. */
#pragma once

#include "preload/abi/gate.h"

static inline double umw_burst_ps(const struct umw_clock* clock)
{
  if (clock->ps_per_tick == 0)
    return 0;
  return (double)(int64_t)(__builtin_ia32_rdtsc() - clock->burst_start) * clock->ps_per_tick;
}
