/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a thread waits for another one of its rank, or of its node, and says that there is something to look at
 * (waiting.c). */
#pragma once

#include "preload/shim.h"

#include <limits.h>
#include <time.h>

#include "preload/abi/time_units.h"
#include "preload/memory/node_memory.h"

/* Where an object lies that ranks of the node share; `shared` false: it is the rank's own, whatever its attributes say.
 */
struct umw_object {
  const void* address;
  bool shared;
  struct umw_place place;
  uint64_t seen; /* count of wakes, or of releases, from before it was looked at */
};

#pragma GCC visibility push(hidden)
extern int umw_threads_started; /* 0: nobody else can hold a lock that we want */

/* Every crossing may let another thread run. So a wait names the count of wakes from before its condition was looked
 * at, and does not begin if there has been one since. */
static inline uint64_t umw_wakes(void)
{
  return umw_gate->wakes;
}

static inline void umw_look(struct umw_object* object)
{
  object->seen = object->shared ? umw_gate->releases : umw_wakes();
}

static inline struct umw_object umw_object_at(const void* address, bool shared)
{
  struct umw_object object = {.address = address};
  object.shared = shared && umw_shared_place(address, &object.place);
  umw_look(&object);
  return object;
}

/* Most waits are for one object: who releases it wakes nobody else. One that waits may be known by another address,
 * too. Duration: negative, no limit. */
void umw_wait_at(const void* place, const void* self, uint64_t seen, int64_t duration_ps);
void umw_wait_for_object(const struct umw_object* object, int64_t duration_ps);

/* `place` has been released, wakes the first `most` that wait for it or are known by it. Who only takes what is free
 * lets the next have it in turn, so one of them will do. */
enum { UMW_ALL = INT_MAX };
void umw_changed_at(const void* place, uint32_t most);
void umw_released(const struct umw_object* object, uint32_t most);

/* Before a thread takes or releases what others want: others that are due before run first. */
void umw_at_own_time(bool shared);

/* Simulated time left until an absolute time of a clock; 0 if it has passed. */
static inline int64_t umw_time_left(clockid_t id, const struct timespec* abstime)
{
  struct timespec now;
  clock_gettime(id, &now);
  const int64_t left = umw_ps_between(&now, abstime);
  return left > 0 ? left : 0;
}

/* Times before the epoch have passed, they are not invalid. */
static inline bool umw_is_valid(const struct timespec* abstime)
{
  return abstime->tv_nsec >= 0 && abstime->tv_nsec < 1000000000;
}

/* Those that the C library waits by (sysdeps/nptl/futex-internal.h). */
static inline bool umw_may_wait_by(clockid_t id)
{
  return id == CLOCK_REALTIME || id == CLOCK_MONOTONIC;
}
#pragma GCC visibility pop
