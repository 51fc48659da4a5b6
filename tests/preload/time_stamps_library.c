/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A library that a program brings along, for time_stamps.c. */
#include <x86intrin.h>

#include "time_stamps.h"

uint64_t library_time_stamp(void)
{
  return __rdtsc();
}
