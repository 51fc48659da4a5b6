/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Loops that wait, for code_comes_and_goes.c. With OTHER there is something else where they were. */
#include <stdatomic.h>
#include <stdint.h>

#ifdef OTHER
/* As long as what it takes the place of, and right only if all of it is. */
__attribute__((aligned(64))) uint64_t compute(uint64_t rounds)
{
  uint64_t x = 1;
  for (uint64_t i = 0; i < rounds; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    x ^= x >> 29;
    x += i;
  }
  return x;
}
#endif

__attribute__((aligned(64))) int look(atomic_int* flag)
{
  while (*flag == 0)
    ;
  return *flag;
}

__attribute__((aligned(64))) int look_pause(atomic_int* flag)
{
  while (*flag == 0)
    __builtin_ia32_pause();
  return *flag + 1;
}

__attribute__((aligned(64))) int look_twice(atomic_int* flag)
{
  while (*flag == 0 && *flag + 1 == 1)
    ;
  return *flag + 2;
}

#ifndef OTHER
__attribute__((aligned(64))) uint64_t compute(uint64_t rounds)
{
  uint64_t x = 2;
  while (rounds-- > 0)
    x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}
#endif
