/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spending time. A sleep lasts its simulated duration and no wall-clock, unless a signal handler runs.
 */
#include "preload/shim.h"

#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static const int64_t ps_per_second = 1000000000000;

static bool valid(const struct timespec* t)
{
  return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

static int64_t duration_ps(const struct timespec* t)
{
  const int64_t longest = INT64_MAX / 4; /* 26 days of simulated time; INT_MAX seconds means "for ever" to programs */
  if (t->tv_sec >= longest / ps_per_second)
    return longest;
  return t->tv_sec * ps_per_second + t->tv_nsec * 1000;
}

/* What is left of it when a handler has run, signal(7): sleeps are never restarted. */
static int64_t sleep_for(int64_t duration)
{
  const unsigned handled = umw_interruptions.handled;
  umw_test_cancel();
  while (duration > 0 && umw_interruptions.handled == handled)
    duration = umw_sleep(duration);
  return duration;
}

UMW_PUBLIC int clock_nanosleep(clockid_t id, int flags, const struct timespec* request, struct timespec* remaining)
{
  if (!umw_gate)
    return UMW_REAL(clock_nanosleep)(id, flags, request, remaining);
  if (!valid(request))
    return EINVAL;
  int64_t duration = duration_ps(request);
  if (flags & TIMER_ABSTIME) {
    struct timespec now;
    if (clock_gettime(id, &now) != 0)
      return EINVAL;
    duration = (request->tv_sec - now.tv_sec) * ps_per_second + (request->tv_nsec - now.tv_nsec) * 1000;
  }
  const int64_t left = sleep_for(duration);
  if (remaining && !(flags & TIMER_ABSTIME))
    *remaining =
        left > 0 ? (struct timespec){left / ps_per_second, left % ps_per_second / 1000} : (struct timespec){0, 0};
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
  return (unsigned)(sleep_for(duration_ps(&request)) / ps_per_second);
}

UMW_PUBLIC int sched_yield(void)
{
  if (!umw_gate)
    return UMW_REAL(sched_yield)();
  return umw_yield(0);
}
