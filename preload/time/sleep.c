/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spending time. A sleep lasts its simulated duration and no wall-clock, unless a signal handler runs.
 */
#include "preload/shim.h"

#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "preload/abi/time_units.h"

/* What is left of it when a handler has run, signal(7): sleeps are never restarted. */
static int64_t sleep_for(int64_t duration)
{
  const unsigned handled = umw_interruptions.handled;
  umw_test_cancel();
  while (duration > 0 && umw_interruptions.handled == handled) {
    duration = umw_sleep(duration);
    umw_test_cancel();
  }
  return duration;
}

/* What is left of `request`, of which the simulation has `left` of `duration`: also of one that is more than it can
 * count. */
static struct timespec rest_of(const struct timespec* request, int64_t duration, int64_t left)
{
  if (left <= 0)
    return (struct timespec){0, 0};
  if (duration != UMW_PS_NEVER)
    return umw_timespec_of(left);
  const struct timespec slept = umw_timespec_of(duration - left);
  const bool borrows = request->tv_nsec < slept.tv_nsec;
  return (struct timespec){request->tv_sec - slept.tv_sec - borrows,
                           request->tv_nsec - slept.tv_nsec + (borrows ? 1000000000 : 0)};
}

UMW_PUBLIC int clock_nanosleep(clockid_t id, int flags, const struct timespec* request, struct timespec* remaining)
{
  if (!umw_gate)
    return UMW_REAL(clock_nanosleep)(id, flags, request, remaining);
  if (!umw_is_time(request))
    return EINVAL;
  int64_t duration = umw_ps_of_timespec(request);
  if (flags & TIMER_ABSTIME) {
    struct timespec now;
    if (clock_gettime(id, &now) != 0)
      return EINVAL;
    duration = umw_ps_between(&now, request);
    /* `now` is cut to nanoseconds: without this, ranks that wait for the same moment go on up to 1 ns apart. */
    if (duration > 0 && duration != UMW_PS_NEVER)
      duration -= umw_gate->clock.shown_ps % 1000;
  }
  const int64_t left = sleep_for(duration);
  if (remaining && !(flags & TIMER_ABSTIME))
    *remaining = rest_of(request, duration, left);
  return left > 0 ? EINTR : 0;
}

UMW_PUBLIC int nanosleep(const struct timespec* request, struct timespec* remaining)
{
  if (!umw_gate)
    return UMW_REAL(nanosleep)(request, remaining);
  const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, request, remaining);
  if (error == 0)
    return 0;
  errno = error;
  return -1;
}

UMW_PUBLIC int thrd_sleep(const struct timespec* request, struct timespec* remaining)
{
  if (!umw_gate)
    return UMW_REAL(thrd_sleep)(request, remaining);
  const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, request, remaining);
  return error == 0 ? 0 : error == EINTR ? -1 : -2; /* thrd_sleep of C11, 7.26.5.7 */
}

UMW_PUBLIC int usleep(useconds_t microseconds)
{
  if (!umw_gate)
    return UMW_REAL(usleep)(microseconds);
  if (sleep_for((int64_t)microseconds * 1000000) <= 0)
    return 0;
  errno = EINTR;
  return -1;
}

UMW_PUBLIC unsigned sleep(unsigned seconds)
{
  if (!umw_gate)
    return UMW_REAL(sleep)(seconds);
  const struct timespec request = {seconds, 0};
  const int64_t duration = umw_ps_of_timespec(&request);
  return (unsigned)rest_of(&request, duration, sleep_for(duration)).tv_sec;
}

UMW_PUBLIC int sched_yield(void)
{
  if (!umw_gate)
    return UMW_REAL(sched_yield)();
  return umw_yield(0);
}
