/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Waiting for memory that another PE writes: loops without a call and with one, comparisons, counters, and one loop
 * over many variables. A token goes round; who has not got it waits. */
#include "tests/openshmem/symmetric.h"

#include <sched.h>
#include <time.h>

enum { flags = 40, per_pe = 5 };

static long token = 1000;
static int narrow;
static unsigned char narrowest;
static long flag[flags], flag_of[most_pes * per_pe];

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Waits by `WAIT` until the previous PE has put `sent`, and hands it on; PE 0 begins. */
#define TURN(WAIT, place, comparison, value, sent)                                                                     \
  do {                                                                                                                 \
    const __typeof__(*(place)) next_value_ = (sent);                                                                   \
    if (job_rank != 0)                                                                                                 \
      WAIT(place, comparison, value);                                                                                  \
    put(&ctx, place, &next_value_, sizeof next_value_, next_rank());                                                   \
    if (job_rank == 0)                                                                                                 \
      WAIT(place, comparison, value);                                                                                  \
    EQUAL(*(place), sent);                                                                                             \
    barrier();                                                                                                         \
  } while (0)

/* Without the hint, a wait is a loop like any other. One place in the program, as look_again(). */
static __attribute__((noinline)) void wait_bare(const volatile long* place, long value)
{
  while (*place != value)
    ;
  __asm__ volatile("" ::: "memory");
}
#define WAIT_BARE(place, comparison, value) wait_bare(place, value)

#define WAIT_YIELDING(place, comparison, value)                                                                        \
  while (!(*(volatile __typeof__(*(place))*)(place)comparison(value)))                                                 \
  sched_yield()

/* Calls that know nothing of the memory. */
#define WAIT_ASKING_QUEUE(place, comparison, value)                                                                    \
  while (!(*(volatile __typeof__(*(place))*)(place)comparison(value)))                                                 \
  EQUAL(PtlEQGet(ctx.queue, &(ptl_event_t){0}), PTL_EQ_EMPTY)
#define WAIT_ASKING_COUNTER(place, comparison, value)                                                                  \
  while (!(*(volatile __typeof__(*(place))*)(place)comparison(value)))                                                 \
  CALL(PtlCTGet(ctx.gets, &(ptl_ct_event_t){0}))

#define WAIT_SYNCING(place, comparison, value)                                                                         \
  while (!(*(volatile __typeof__(*(place))*)(place)comparison(value)))                                                 \
  CALL(PtlAtomicSync())

/* A message after the one that was counted when memory was looked at wakes: none can slip through. */
#define WAIT_COUNTING(place, comparison, value)                                                                        \
  for (;;) {                                                                                                           \
    ptl_ct_event_t seen_;                                                                                              \
    CALL(PtlCTGet(sym.data.arrivals, &seen_));                                                                         \
    if (*(volatile __typeof__(*(place))*)(place)comparison(value))                                                     \
      break;                                                                                                           \
    CALL(PtlCTWait(sym.data.arrivals, seen_.success + 1, &seen_));                                                     \
    EQUAL(seen_.failure, 0);                                                                                           \
  }

#define WAIT_POLLING(place, comparison, value)                                                                         \
  for (;;) {                                                                                                           \
    const ptl_handle_ct_t counters_[] = {sym.heap_segment.arrivals, sym.data.arrivals};                                \
    ptl_ct_event_t seen_[2];                                                                                           \
    unsigned which_;                                                                                                   \
    CALL(PtlCTGet(counters_[0], &seen_[0]));                                                                           \
    CALL(PtlCTGet(counters_[1], &seen_[1]));                                                                           \
    if (*(volatile __typeof__(*(place))*)(place)comparison(value))                                                     \
      break;                                                                                                           \
    const ptl_size_t more_[] = {seen_[0].success + 1, seen_[1].success + 1};                                           \
    CALL(PtlCTPoll(counters_, more_, 2, PTL_TIME_FOREVER, &seen_[0], &which_));                                        \
    EQUAL(which_, 1);                                                                                                  \
  }

/* A counter that nobody adds to: the poll ends with its time-out, and that is when time says. */
static void nothing_comes(void)
{
  const ptl_handle_ct_t never = new_counter(sym.ni);
  const ptl_size_t test = 1;
  ptl_ct_event_t count;
  unsigned which;
  const double begin = now();
  EQUAL(PtlCTPoll(&never, &test, 1, 2, &count, &which), PTL_CT_NONE_REACHED);
  EXPECT(now() - begin >= 2e-3);
  CALL(PtlCTFree(never));
}

/* A wait is over when the memory is written, whatever happens later: PE 0 writes to all, then sleeps. */
#define PROMPT(WAIT, value)                                                                                            \
  do {                                                                                                                 \
    barrier();                                                                                                         \
    const double begin_ = now();                                                                                       \
    if (job_rank == 0) {                                                                                               \
      for (int pe = 1; pe < job_size; ++pe)                                                                            \
        put_long(&ctx, &token, value, pe);                                                                             \
      nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);                                                       \
    } else {                                                                                                           \
      WAIT(&token, ==, value);                                                                                         \
      if (now() - begin_ > 0.1) {                                                                                      \
        fprintf(stderr, "rank %d: " #WAIT " took %g s, expected some microseconds\n", job_rank, now() - begin_);       \
        exit(1);                                                                                                       \
      }                                                                                                                \
    }                                                                                                                  \
  } while (0)

static void all_prompt(void)
{
  PROMPT(WAIT_UNTIL, 11);
  PROMPT(WAIT_BARE, 12);
  PROMPT(WAIT_SYNCING, 13);
  PROMPT(WAIT_YIELDING, 14);
  if (!sym.uncounted) {
    PROMPT(WAIT_COUNTING, 15);
    PROMPT(WAIT_POLLING, 16);
  }
  PROMPT(WAIT_ASKING_QUEUE, 17);
  PROMPT(WAIT_ASKING_COUNTER, 18);
}

/* Any one that is set and has not been seen; -1: none. The look begins behind the last one found. */
static int test_any(const volatile long* variables, int count, const bool* seen)
{
  static int last;
  for (int i = 0; i < count; ++i) {
    const int at = (last + 1 + i) % count;
    if (!seen[at] && variables[at] != 0)
      return last = at;
  }
  return -1;
}

/* All that are set and have not been seen. */
static int test_some(const volatile long* variables, int count, const bool* seen, int* which)
{
  int found = 0;
  for (int i = 0; i < count; ++i)
    if (!seen[i] && variables[i] != 0)
      which[found++] = i;
  return found;
}

static void many_variables(void)
{
  bool seen[most_pes * per_pe] = {0};
  for (int i = 0; i < flags; ++i)
    put_long(&ctx, &flag[i * 7 % flags], 1 + i, next_rank());
  for (int i = 0; i < flags; ++i) {
    int at;
    while ((at = test_any(flag, flags, seen)) < 0)
      look_again();
    seen[at] = true;
  }
  for (int i = 0; i < flags; ++i)
    EQUAL(flag[i * 7 % flags], 1 + i);
  barrier();

  memset(seen, 0, sizeof seen);
  for (int i = 0; i < per_pe; ++i)
    for (int step = 0; step < job_size; ++step)
      put_long(&ctx, &flag_of[job_rank * per_pe + i], 1 + job_rank, (job_rank + step) % job_size);
  int which[most_pes * per_pe];
  for (int found, left = job_size * per_pe; left > 0; left -= found) {
    while ((found = test_some(flag_of, job_size * per_pe, seen, which)) == 0)
      look_again();
    for (int i = 0; i < found; ++i) {
      seen[which[i]] = true;
      EQUAL(flag_of[which[i]], 1 + which[i] / per_pe);
    }
  }
  barrier();
}

int main(int argc, char** argv)
{
  symmetric_begin(argc, argv);
  barrier();
  TURN(WAIT_UNTIL, &token, !=, 1000, 1001);
  TURN(WAIT_UNTIL, &token, ==, 1002, 1002);
  TURN(WAIT_UNTIL, &token, >, 1002, 2000);
  TURN(WAIT_UNTIL, &token, <, 2000, -5);
  TURN(WAIT_UNTIL, &token, >=, 0, 0);
  TURN(WAIT_UNTIL, &token, <=, -1, -1);
  TURN(WAIT_UNTIL, &narrow, !=, 0, -7);
  TURN(WAIT_UNTIL, &narrowest, >, 250, 255);
  TURN(WAIT_BARE, &token, ==, 1, 1);
  SAY("memory alone: 9 comparisons\n");
  TURN(WAIT_SYNCING, &token, ==, 2, 2);
  TURN(WAIT_SYNCING, &narrow, <, -10, -11);
  TURN(WAIT_YIELDING, &narrow, >, 0, 70000);
  SAY("with PtlAtomicSync: 2, with sched_yield: 1\n");
  if (!sym.uncounted) {
    TURN(WAIT_COUNTING, &token, ==, 3, 3);
    TURN(WAIT_POLLING, &token, ==, 4, 4);
  }
  nothing_comes();
  barrier();
  SAY("with counters: 2, and one that never comes\n");
  all_prompt();
  SAY("each as soon as it is written\n");
  many_variables();
  SAY("any of %d, some of %d\n", flags, job_size * per_pe);
  symmetric_end();
  return 0;
}
