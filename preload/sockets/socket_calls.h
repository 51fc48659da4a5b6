/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What the calls on simulated sockets have in common. */
#pragma once

#include "preload/shim.h"

#include "preload/abi/time_units.h"

/* Parts of a message that go at once; a longer list goes in several rounds. */
enum { umw_most_parts = 64 };

static inline int umw_fail(int error)
{
  errno = error;
  return -1;
}

/* As umw_await takes it; `timeout`: SO_RCVTIMEO or SO_SNDTIMEO in ps, 0: none. */
static inline int64_t umw_deadline_after(int64_t timeout)
{
  const int64_t deadline = timeout > 0 ? umw_time_after(umw_now_ps(NULL), timeout) : UMW_PS_NEVER;
  return deadline == UMW_PS_NEVER ? -1 : deadline;
}
