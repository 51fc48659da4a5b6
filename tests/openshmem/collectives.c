/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Collectives made of puts, atomics and waits in memory: reductions up a tree, reductions by atomics, broadcast,
 * all-to-all with equal and with different lengths, and a collection of as much as each PE has. */
#include "tests/openshmem/symmetric.h"

enum { most = 512, rounds = 6 };

/* Of each child a place for what it sends and a signal; and for what comes from above. */
static double from_child[2][most], from_above[most];
static long child_signal[2], above_signal;

static int parent(void)
{
  return (job_rank - 1) / 2;
}

/* Everybody's `values` become the sums or maxima of all. Signals count up; a PE sends again only after it was answered.
 */
static void reduce(double* values, int count, bool maxima)
{
  static long turn;
  const size_t size = (size_t)count * sizeof *values;
  ++turn;
  for (int i = 0; i < 2; ++i)
    if (2 * job_rank + 1 + i < job_size) {
      WAIT_UNTIL(&child_signal[i], ==, turn);
      for (int at = 0; at < count; ++at)
        if (!maxima)
          values[at] += from_child[i][at];
        else if (from_child[i][at] > values[at])
          values[at] = from_child[i][at];
    }
  if (job_rank != 0) {
    const int place = (job_rank - 1) % 2;
    put(&ctx, from_child[place], values, size, parent());
    fence(&ctx);
    put_long(&ctx, &child_signal[place], turn, parent());
    WAIT_UNTIL(&above_signal, ==, turn);
    memcpy(values, from_above, size);
  }
  for (int child = 2 * job_rank + 1; child <= 2 * job_rank + 2 && child < job_size; ++child) {
    put(&ctx, from_above, values, size, child);
    fence(&ctx);
    put_long(&ctx, &above_signal, turn, child);
  }
}

static void reductions(void)
{
  static double values[most];
  static const int counts[] = {1, 2, 7, 64, 300, most};
  for (int round = 0; round < rounds; ++round) {
    const int count = counts[round];
    for (int i = 0; i < count; ++i)
      values[i] = job_rank * 0.5 + i;
    reduce(values, count, false);
    for (int i = 0; i < count; ++i)
      EQUAL_REAL(values[i], 0.25 * job_size * (job_size - 1) + (double)i * job_size);
    for (int i = 0; i < count; ++i)
      values[i] = (job_rank + i) % job_size - 100;
    reduce(values, count, true);
    for (int i = 0; i < count; ++i)
      EQUAL_REAL(values[i], job_size - 101);
  }
}

/* Everybody adds to PE 0's array, as much at a time as one atomic may carry. */
static void by_atomics(void)
{
  static long sums[most];
  long own[most];
  const int items = (int)(sym.limits.max_atomic_size / sizeof(long));
  for (int i = 0; i < most; ++i)
    own[i] = (long)i * (job_rank + 1);
  barrier();
  for (int at = 0; at < most; at += items) {
    const int count = most - at < items ? most - at : items;
    atomic(&ctx, &sums[at], &own[at], (size_t)count * sizeof(long), 0, PTL_SUM, PTL_INT64_T);
  }
  barrier();
  get(&ctx, own, sums, sizeof own, 0);
  for (int i = 0; i < most; ++i)
    EQUAL(own[i], (long)i * job_size * (job_size + 1) / 2);
  barrier();
}

/* How many words PE `from` has for PE `to`. */
static int words(int from, int to, int round)
{
  return round < rounds / 2 ? 100 * (round + 1) : (from * 37 + to * 11) % 400;
}

static void all_to_all(void)
{
  static long arrived[most_pes], source[most_pes][most], target[most_pes][most];
  for (int round = 0; round < rounds; ++round) {
    for (int pe = 0; pe < job_size; ++pe)
      for (int i = 0; i < most; ++i) {
        source[pe][i] = ((long)round << 40) + job_rank * 100000 + pe * 1000 + i;
        target[pe][i] = -1;
      }
    barrier();
    for (int step = 0; step < job_size; ++step) {
      const int pe = (job_rank + step) % job_size;
      put_later(&ctx, target[job_rank], source[pe], (size_t)words(job_rank, pe, round) * sizeof(long), pe);
    }
    fence(&ctx);
    for (int step = 0; step < job_size; ++step)
      put_long(&ctx, &arrived[job_rank], round + 1, (job_rank + step) % job_size);
    for (int pe = 0; pe < job_size; ++pe) {
      WAIT_UNTIL(&arrived[pe], ==, round + 1);
      const int count = words(pe, job_rank, round);
      for (int i = 0; i < count; ++i)
        EQUAL(target[pe][i], ((long)round << 40) + pe * 100000 + job_rank * 1000 + i);
      EQUAL(target[pe][count], -1);
    }
  }
}

/* PE n has n + 3 words; where they go is the sum of what those before it have, which is handed on. */
static void collection(void)
{
  static long whole[most], offset = -1, wrong;
  const long own = job_rank + 3;
  long values[most_pes + 3];
  for (int i = 0; i < own; ++i)
    values[i] = job_rank * 100 + i;
  barrier();
  if (job_rank == 0)
    put_long(&ctx, &offset, 0, 0);
  WAIT_UNTIL(&offset, >=, 0);
  if (job_rank + 1 < job_size)
    put_long(&ctx, &offset, offset + own, job_rank + 1);
  for (int pe = 0; pe < job_size; ++pe)
    put(&ctx, &whole[offset], values, (size_t)own * sizeof(long), pe);
  barrier();
  int at = 0;
  for (int pe = 0; pe < job_size; ++pe)
    for (int i = 0; i < pe + 3; ++i)
      wrong += whole[at++] != pe * 100 + i;
  EQUAL(wrong, 0);
  EQUAL(whole[at], 0);
}

int main(int argc, char** argv)
{
  symmetric_begin(argc, argv);
  barrier();
  reductions();
  SAY("reductions: %d of sums and of maxima\n", rounds);
  by_atomics();
  SAY("by atomics: %d sums\n", most);
  all_to_all();
  SAY("all to all: %d\n", rounds);
  collection();
  SAY("collection of %d PEs\n", job_size);
  symmetric_end();
  return 0;
}
