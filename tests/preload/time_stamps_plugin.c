/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A library that time_stamps.c opens later: it reads the counter in its constructor, as libpsm2 does. */
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

double plugin_hertz;

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

__attribute__((constructor)) static void calibrate(void)
{
  const double begin = seconds();
  const unsigned long long first = __rdtsc();
  usleep(20000);
  plugin_hertz = (double)(__rdtsc() - first) / (seconds() - begin);
}
