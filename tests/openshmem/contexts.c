/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Threads with contexts of their own: each talks to its twin on the next PE, is completed by its own quiet() alone,
 * waits in a loop over memory while the others of its PE go on, and adds to a counter that all threads of all PEs
 * share. */
#include "tests/openshmem/symmetric.h"

#include <pthread.h>

enum { threads = 3, rounds = 8, block = 160000, adds = 10 };

static unsigned char from[threads][block], landed[threads][block], back[threads][block];
static long signal_of[threads], taken[threads], total, begun;

static unsigned char pattern(int pe, int thread, int round, int at)
{
  return (unsigned char)(1 + pe * 50 + thread * 17 + round * 5 + at);
}

static void* run(void* argument)
{
  const int me = (int)(intptr_t)argument;
  struct context own;
  context_begin(&own);
  for (int round = 1; round <= rounds; ++round) {
    WAIT_UNTIL(&taken[me], ==, round - 1); /* the twin has read the last block */
    for (int at = 0; at < block; ++at)
      from[me][at] = pattern(job_rank, me, round, at);
    for (int at = 0; at < block; at += block / 4)
      put_later(&own, &landed[me][at], &from[me][at], block / 4, next_rank());
    quiet(&own);
    put_long(&own, &signal_of[me], round, next_rank());
    WAIT_UNTIL(&signal_of[me], ==, round);
    for (int at = 0; at < block; ++at)
      EQUAL(landed[me][at], pattern(previous_rank(), me, round, at));
    get(&own, back[me], from[me], block, previous_rank()); /* it does not change before `taken` */
    EXPECT(memcmp(back[me], landed[me], block) == 0);
    put_long(&own, &taken[me], round, previous_rank());
    for (int i = 0; i < adds; ++i)
      add_long(&own, &total, 1, 0);
    const long before = fetch_add_long(&own, &begun, 1, 0);
    EXPECT(before >= 0 && before < (long)job_size * threads * rounds);
  }
  context_end(&own);
  return NULL;
}

/* A context is complete whatever another has not begun to send. */
static void quiet_of_one(void)
{
  static long words[2];
  long value[2] = {100 + job_rank, 200 + job_rank};
  struct context held, free_one;
  context_begin(&held);
  context_begin(&free_one);
  const ptl_handle_ct_t gate = new_counter(sym.ni);
  ptl_pt_index_t index;
  const ptl_size_t offset = offset_of(&words[0], sizeof value[0], &index);
  ++held.puts_begun;
  CALL(PtlTriggeredPut(held.later, (ptl_size_t)&value[0], sizeof value[0], PTL_CT_ACK_REQ, process(next_rank()), index,
                       0, offset, NULL, 0, gate, 1));
  put_later(&free_one, &words[1], &value[1], sizeof value[1], next_rank());
  quiet(&free_one);
  long read[2];
  get(&free_one, read, words, sizeof read, next_rank());
  EQUAL(read[0], 0);
  EQUAL(read[1], 200 + job_rank);
  CALL(PtlCTInc(gate, (ptl_ct_event_t){1, 0}));
  quiet(&held);
  get(&free_one, read, words, sizeof read, next_rank());
  EQUAL(read[0], 100 + job_rank);
  CALL(PtlCTFree(gate));
  context_end(&held);
  context_end(&free_one);
}

int main(int argc, char** argv)
{
  symmetric_begin(argc, argv);
  barrier();
  pthread_t thread[threads];
  for (intptr_t i = 0; i < threads; ++i)
    EXPECT(pthread_create(&thread[i], NULL, run, (void*)i) == 0);
  for (int i = 0; i < threads; ++i)
    EXPECT(pthread_join(thread[i], NULL) == 0);
  barrier();
  if (job_rank == 0) {
    EQUAL(total, (long)job_size * threads * rounds * adds);
    EQUAL(begun, (long)job_size * threads * rounds);
  }
  SAY("%d threads on each of %d PEs, %d rounds\n", threads, job_size, rounds);
  quiet_of_one();
  SAY("quiet of one context of two\n");
  symmetric_end();
  return 0;
}
