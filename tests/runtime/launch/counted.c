// SPDX-License-Identifier: LGPL-2.1-or-later
// Bursts between short sleeps, whose instructions are known: prints what they have computed, the same natively, and
// with an argument says whether each took that many picoseconds per instruction.
#include <alloca.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { rounds = 600, known_rounds = 100 };

static uint64_t sum;
static unsigned char from[9000], to[9000];
static int unsorted[64];
static jmp_buf back;

// Two instructions each time round.
static void loop(void)
{
  uint64_t count = 3000;
  __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(count)::"cc");
  sum += count + 1;
}

static uint64_t callee(uint64_t n)
{
  return n * 3;
}

// A call by way of a register, a return and a conditional jump each time round.
static void calls(void)
{
  uint64_t (*volatile function)(uint64_t) = callee;
  for (uint64_t i = 0; i < 300; ++i)
    sum += i % 3 == 0 ? function(i) : i;
}

// By a string instruction, however long.
static void copy(void)
{
  void* destination = to;
  const void* source = from;
  size_t bytes = sizeof from;
  from[7] = (unsigned char)(sum + 1);
  __asm__ volatile("rep movsb" : "+D"(destination), "+S"(source), "+c"(bytes)::"memory");
  sum += to[7] + (to[sizeof to - 1] == from[sizeof from - 1]);
}

static int compare(const void* a, const void* b)
{
  return *(const int*)a - *(const int*)b;
}

// The C library calls the program.
static void library(void)
{
  for (int i = 0; i < 64; ++i)
    unsorted[i] = (i * 37 + 11) % 64;
  qsort(unsorted, 64, sizeof *unsorted, compare);
  char text[64];
  sum += (uint64_t)snprintf(text, sizeof text, "%d %.3f %s", unsorted[5], 2.5, "text") + strlen(text);
}

static int leave(int n)
{
  if (n > 0)
    return leave(n - 1) + 1;
  longjmp(back, 1);
}

static void jump(void)
{
  if (setjmp(back) == 0)
    sum += (uint64_t)leave(20);
  sum += 5;
}

// Cannot be counted.
static void system_call(void)
{
  sum += getppid() != 0;
  loop();
}

struct work {
  const char* name;
  void (*function)(void);
  long instructions; // about; 0: nobody has counted
};

static const struct work works[] = {{"loop", loop, 6000},    {"calls", calls, 0}, {"copy", copy, 0},
                                    {"library", library, 0}, {"jump", jump, 0},   {"system_call", system_call, 0}};

static int64_t now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// On a stack that is so much deeper, by which bursts of works are told apart (runtime/rank_host/path_ends.h).
static void rest(size_t depth)
{
  const struct timespec t = {0, 1000};
  volatile char* place = alloca(depth);
  *place = 1;
  nanosleep(&t, NULL);
}

static int compare_times(const void* a, const void* b)
{
  const int64_t difference = *(const int64_t*)a - *(const int64_t*)b;
  return (difference > 0) - (difference < 0);
}

int main(int argc, char** argv)
{
  int bad = 0;
  for (size_t w = 0; w < sizeof works / sizeof *works; ++w) {
    int64_t took[rounds];
    for (int round = 0; round < rounds; ++round) {
      rest(16);
      const int64_t begin = now();
      works[w].function();
      rest(160 * (w + 1));
      took[round] = now() - begin;
    }
    printf("%s: %llu\n", works[w].name, (unsigned long long)sum);
    if (argc < 2 || works[w].instructions == 0)
      continue;
    const double expected = (double)works[w].instructions * atof(argv[1]) / 1e3; // ns
    // The host may have had something else to do in some of them, which is added.
    qsort(took + rounds - known_rounds, known_rounds, sizeof *took, compare_times);
    const double without_sleep = (double)took[rounds - known_rounds / 2] - 1000;
    if (without_sleep < expected || without_sleep > expected * 1.2) {
      printf("%s: expected %.0f ns and some, got %.0f\n", works[w].name, expected, without_sleep);
      bad = 1;
    }
  }
  return bad;
}
