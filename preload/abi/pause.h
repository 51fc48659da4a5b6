/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What a library of Umwelt does within a rank for the runtime, or what has its time otherwise (a copy, which takes what
 * the simulated node's memory says), is not the program's computing: it lies in a pause. A pause lasts across calls.
 * Its begin is a time stamp in the gate and its end moves the burst's begin, so that neither crosses. */
#pragma once

#include <stdbool.h>

#include "preload/abi/gate.h"

/* False: there is one already, whose end is somebody else's. */
static inline bool umw_begin_pause(struct umw_gate* gate)
{
  if (gate->paused)
    return false;
  gate->paused_at = __builtin_ia32_rdtsc();
  gate->paused = UMW_PAUSED;
  return true;
}

static inline void umw_end_pause(struct umw_gate* gate)
{
  struct umw_clock* clock = &gate->clock;
  const uint64_t begin = gate->paused == UMW_PAUSED ? gate->paused_at : clock->burst_start;
  gate->paused = 0;
  if (clock->ps_per_tick == 0)
    return;
  const uint64_t ticks = __builtin_ia32_rdtsc() - begin;
  if (ticks < clock->settle_ticks) {
    clock->burst_start += ticks;
    return;
  }
  struct umw_args_umw_pause_was_long arguments = {0, begin};
  gate->cross(gate, UMW_OP_umw_pause_was_long, &arguments);
}
