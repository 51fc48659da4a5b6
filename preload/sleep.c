/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spending time. A sleep lasts its simulated duration and no wall-clock. Nothing interrupts it: signals between ranks do
 * not exist yet, so the remaining time is always zero.
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
  umw_test_cancel();
  if (duration > 0)
    umw_sleep(duration);
  if (remaining && !(flags & TIMER_ABSTIME))
    *remaining = (struct timespec){0, 0};
  return 0;
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
  return clock_nanosleep(CLOCK_MONOTONIC, 0, request, remaining) == 0 ? 0 : -2;
}

UMW_PUBLIC int usleep(useconds_t microseconds)
{
  if (!umw_gate)
    return UMW_REAL(usleep)(microseconds);
  umw_test_cancel();
  umw_sleep((int64_t)microseconds * 1000000);
  return 0;
}

UMW_PUBLIC unsigned sleep(unsigned seconds)
{
  if (!umw_gate)
    return UMW_REAL(sleep)(seconds);
  const struct timespec request = {seconds, 0};
  umw_test_cancel();
  umw_sleep(duration_ps(&request));
  return 0;
}

UMW_PUBLIC int sched_yield(void)
{
  if (!umw_gate)
    return UMW_REAL(sched_yield)();
  return umw_yield(0);
}
