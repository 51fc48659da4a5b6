/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From the units of programs (seconds, and nano- or microseconds) to those of the simulation, which counts 64-bit
 * picoseconds: 106 days. What does not fit, in either direction, is the last value that does, and UMW_PS_NEVER, the
 * largest, is a time that does not come: who waits until then waits without a limit. For the shim and the runtime. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UMW_PS_PER_SECOND INT64_C(1000000000000)
#define UMW_PS_NEVER INT64_MAX
/* Nothing happens later, so that what is computed from times does not overflow: 93 days. */
#define UMW_LAST_DATE_PS (INT64_MAX / 8 * 7)

static inline int64_t umw_ps_sum(int64_t a, int64_t b)
{
  int64_t sum;
  return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : UMW_PS_NEVER;
}

/* `ps` may be negative, or more than a second. */
static inline int64_t umw_ps_of(int64_t seconds, int64_t ps)
{
  int64_t whole;
  if (__builtin_mul_overflow(seconds, UMW_PS_PER_SECOND, &whole))
    return seconds < 0 ? INT64_MIN : UMW_PS_NEVER;
  return umw_ps_sum(whole, ps);
}

/* tv_nsec between -10^9 and 10^9 */
static inline int64_t umw_ps_of_timespec(const struct timespec* t)
{
  return umw_ps_of(t->tv_sec, t->tv_nsec * 1000);
}

/* tv_usec between -10^6 and 10^6 */
static inline int64_t umw_ps_of_timeval(const struct timeval* t)
{
  return umw_ps_of(t->tv_sec, t->tv_usec * 1000000);
}

/* Negative if `to` comes before `from`. */
static inline int64_t umw_ps_between(const struct timespec* from, const struct timespec* to)
{
  int64_t seconds;
  if (__builtin_sub_overflow((int64_t)to->tv_sec, (int64_t)from->tv_sec, &seconds))
    return to->tv_sec < from->tv_sec ? INT64_MIN : UMW_PS_NEVER;
  return umw_ps_of(seconds, (to->tv_nsec - from->tv_nsec) * 1000);
}

/* Of at least 0. */
static inline struct timespec umw_timespec_of(int64_t ps)
{
  struct timespec t;
  t.tv_sec = ps / UMW_PS_PER_SECOND;
  t.tv_nsec = ps % UMW_PS_PER_SECOND / 1000;
  return t;
}

/* What a time or a duration may look like for the kernel (timespec64_valid of Linux' include/linux/time64.h). */
static inline bool umw_is_time(const struct timespec* t)
{
  return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

/* A time of the simulation; `duration` is not negative. */
static inline int64_t umw_time_after(int64_t now, int64_t duration)
{
  const int64_t abstime = umw_ps_sum(now, duration);
  return abstime <= UMW_LAST_DATE_PS ? abstime : UMW_PS_NEVER;
}

/* Of a time-out (UMW_PS_NEVER: without a limit) that began at `begin`; not below 0. */
static inline int64_t umw_ps_left(int64_t begin, int64_t duration, int64_t now)
{
  const int64_t end = umw_time_after(begin, duration);
  return end == UMW_PS_NEVER ? UMW_PS_NEVER : end > now ? end - now : 0;
}

#ifdef __cplusplus
}
#endif
