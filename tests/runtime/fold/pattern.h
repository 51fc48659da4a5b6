/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the programs of this directory share: a pattern in memory of which the rule in run.sh keeps three parts. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = (3 << 20) + 123, CHUNK = 64 << 10 };

static unsigned long failures;

static inline unsigned char pattern(size_t at)
{
  return (unsigned char)(at * 7 + at / 4096 + 1);
}

/* keep=0..100,keep=floor(size/2)..floor(size/2)+5000,keep=size-64..size */
static inline int is_kept(size_t at, size_t size)
{
  return at < 100 || (at >= size / 2 && at < size / 2 + 5000) || at >= size - 64;
}

static inline void fill(void* memory, size_t size)
{
  unsigned char* bytes = (unsigned char*)memory;
  for (size_t i = 0; i < size; ++i)
    bytes[i] = pattern(i);
}

/* Makes calls, so that the runtime looks at the rank. */
static inline void make_calls(void)
{
  for (int i = 0; i < 1100; ++i)
    usleep(1);
}

/* Of [0, filled) of an allocation of `size` bytes. What is kept is as it was written; anything else is, or is 0.
 * Returns how much of it is lost. */
static inline size_t check(const char* what, const void* memory, size_t size, size_t filled)
{
  const unsigned char* bytes = (const unsigned char*)memory;
  size_t wrong = 0, lost = 0;
  for (size_t i = 0; i < filled; ++i) {
    if (bytes[i] == pattern(i))
      continue;
    if (is_kept(i, size) || bytes[i] != 0)
      ++wrong;
    else
      ++lost;
  }
  printf("%s: %zu bytes wrong\n", what, wrong);
  fprintf(stderr, "%s lost %zu\n", what, lost);
  failures += wrong != 0;
  return lost;
}

/* Written, much traffic, checked. */
static inline void use(const char* what, void* memory, size_t size)
{
  if (!memory) {
    printf("%s: no memory\n", what);
    ++failures;
    return;
  }
  fill(memory, size);
  make_calls();
  check(what, memory, size, size);
}
