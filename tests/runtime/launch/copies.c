// SPDX-License-Identifier: LGPL-2.1-or-later
// copies NS: whether a large copy, in one piece or in several, takes so long for each KiB, and one within a core's own
// caches does not.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LARGE = 4 << 20, SMALL = 64 << 10, PIECE = 128 << 10 };

static char from[LARGE], to[LARGE];

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_of(void* (*volatile copy)(void*, const void*, size_t), size_t bytes)
{
  const double begin = now();
  copy(to, from, bytes);
  return now() - begin;
}

static void* copy_in_pieces(void* target, const void* source, size_t bytes)
{
  for (size_t done = 0; done < bytes; done += PIECE)
    memcpy((char*)target + done, (const char*)source + done, PIECE);
  return target;
}

int main(int argc, char** argv)
{
  const double large = (argc > 1 ? atof(argv[1]) : 0) * (LARGE >> 10);
  memset(from, 'a', sizeof from);
  memset(to, 'b', sizeof to);
  int bad = 0;
  const struct {
    const char* name;
    void* (*function)(void*, const void*, size_t);
    double least; // the first of the pieces are within a smaller cache
  } copies[] = {{"memcpy", memcpy, 1}, {"memmove", memmove, 1}, {"memcpy in pieces", copy_in_pieces, 0.85}};
  for (unsigned i = 0; i < sizeof copies / sizeof *copies; ++i) {
    const double took = time_of(copies[i].function, LARGE);
    if (took < large * copies[i].least || took > large * 1.2) {
      printf("%s of %d bytes: expected %.0f ns, got %.0f\n", copies[i].name, LARGE, large, took);
      bad = 1;
    }
  }
  const double small = time_of(memcpy, SMALL);
  if (small > large / 4) {
    printf("memcpy of %d bytes: expected far less than %.0f ns, got %.0f\n", SMALL, large / 64, small);
    bad = 1;
  }
  return bad || memcmp(from, to, LARGE) != 0;
}
