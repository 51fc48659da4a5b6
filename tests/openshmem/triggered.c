/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Collectives that the NIC does: everything is posted before the first begins, then each PE only counts itself in and
 * waits for a counter. A barrier and a sum up a binary tree, and broadcasts down one, with another root each time. */
#include "tests/openshmem/symmetric.h"

#include <time.h>

enum { up_index = 10, down_index, sum_index, block_index, rounds = 20, words = 1024 };

struct station {
  ptl_pt_index_t index;
  ptl_handle_le_t entry;
  ptl_handle_ct_t count; /* of what comes here */
};

static struct station station(ptl_pt_index_t wanted, void* start, size_t size)
{
  struct station s = {.count = new_counter(sym.ni)};
  const ptl_le_t entry = {.start = start,
                          .length = size,
                          .ct_handle = s.count,
                          .uid = PTL_UID_ANY,
                          .options = PTL_LE_OP_PUT | PTL_LE_EVENT_CT_COMM};
  CALL(PtlPTAlloc(sym.ni, 0, PTL_EQ_NONE, wanted, &s.index));
  CALL(PtlLEAppend(sym.ni, s.index, &entry, PTL_PRIORITY_LIST, NULL, &s.entry));
  return s;
}

static void close_station(struct station s)
{
  CALL(PtlLEUnlink(s.entry));
  CALL(PtlPTFree(sym.ni, s.index));
  CALL(PtlCTFree(s.count));
}

static const ptl_ct_event_t one = {1, 0};

/* The tree: PE 0, or `root`, on top; returns how many children there are. */
static int children(int root, int* child)
{
  const int place = (job_rank - root + job_size) % job_size;
  int count = 0;
  for (int below = 2 * place + 1; below <= 2 * place + 2 && below < job_size; ++below)
    child[count++] = (below + root) % job_size;
  return count;
}

static int parent(void)
{
  return (job_rank - 1) / 2;
}

static struct station up, down;
static ptl_handle_md_t own_memory;

/* When all below and the PE itself have come, the one above is told; what it says comes down again. */
static void post_barriers(void)
{
  int child[2];
  const int count = children(0, child);
  for (ptl_size_t round = 1; round <= 3 * rounds; ++round) {
    const ptl_size_t all = round * (ptl_size_t)(count + 1);
    if (job_rank == 0)
      CALL(PtlTriggeredCTInc(down.count, one, up.count, all));
    else
      CALL(
          PtlTriggeredPut(own_memory, 0, 0, PTL_NO_ACK_REQ, process(parent()), up_index, 0, 0, NULL, 0, up.count, all));
    for (int i = 0; i < count; ++i)
      CALL(PtlTriggeredPut(own_memory, 0, 0, PTL_NO_ACK_REQ, process(child[i]), down_index, 0, 0, NULL, 0, down.count,
                           round));
  }
}

static void nic_barrier(void)
{
  static ptl_size_t round;
  CALL(PtlCTInc(up.count, one));
  wait_for(down.count, ++round);
}

/* Nobody comes out before everybody is in, and nobody is a barrier ahead. */
static void barriers(void)
{
  static long entered;
  for (int round = 1; round <= rounds; ++round) {
    if (round % job_size == job_rank) /* one is late */
      nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    for (int pe = 0; pe < job_size; ++pe)
      add_long(&ctx, &entered, 1, pe);
    quiet(&ctx);
    nic_barrier();
    const long count = *(volatile long*)&entered;
    EXPECT(count >= (long)round * job_size && count < (long)(round + 1) * job_size);
  }
  barrier();
  EQUAL(entered, rounds * job_size);
}

static void broadcasts(void)
{
  static long landed[rounds][words];
  const struct station blocks = station(block_index, landed, sizeof landed);
  const ptl_handle_ct_t begin = new_counter(sym.ni);
  ptl_size_t begun = 0, received = 0;
  int child[2];
  for (int round = 0; round < rounds; ++round) {
    const int root = round % job_size, count = children(root, child);
    const ptl_handle_ct_t trigger = job_rank == root ? begin : blocks.count;
    const ptl_size_t threshold = job_rank == root ? ++begun : ++received;
    for (int i = 0; i < count; ++i)
      CALL(PtlTriggeredPut(own_memory, (ptl_size_t)landed[round], sizeof landed[round], PTL_NO_ACK_REQ,
                           process(child[i]), block_index, 0, (ptl_size_t)round * sizeof landed[round], NULL, 0,
                           trigger, threshold));
  }
  job_barrier();
  received = 0;
  for (int round = 0; round < rounds; ++round) {
    const int root = round % job_size;
    if (job_rank == root) {
      for (int i = 0; i < words; ++i)
        landed[round][i] = (long)round * words + i;
      CALL(PtlCTInc(begin, one));
    } else {
      wait_for(blocks.count, ++received);
    }
    for (int i = 0; i < words; ++i)
      EQUAL(landed[round][i], (long)round * words + i);
    nic_barrier(); /* blocks are told apart by the order they come in */
  }
  barrier();
  CALL(PtlCTFree(begin));
  close_station(blocks);
}

/* A PE's sum goes up when those of its children have been added to its own. */
static void sums(void)
{
  static long sum[rounds];
  const struct station arrivals = station(sum_index, sum, sizeof sum);
  int child[2];
  const int count = children(0, child);
  for (int round = 0; round < rounds; ++round) {
    sum[round] = (long)(job_rank + 1) * (round + 1);
    if (job_rank != 0)
      CALL(PtlTriggeredAtomic(own_memory, (ptl_size_t)&sum[round], sizeof(long), PTL_NO_ACK_REQ, process(parent()),
                              sum_index, 0, (ptl_size_t)round * sizeof(long), NULL, 0, PTL_SUM, PTL_INT64_T,
                              arrivals.count, (ptl_size_t)(round + 1) * (ptl_size_t)(count + 1)));
  }
  job_barrier();
  for (int round = 0; round < rounds; ++round) {
    CALL(PtlCTInc(arrivals.count, one));
    wait_for(arrivals.count, (ptl_size_t)(round + 1) * (ptl_size_t)(count + 1));
    if (job_rank == 0)
      EQUAL(sum[round], (long)(round + 1) * job_size * (job_size + 1) / 2);
    nic_barrier();
  }
  barrier();
  close_station(arrivals);
}

int main(int argc, char** argv)
{
  static char nothing;
  symmetric_begin(argc, argv);
  own_memory = everything(0, PTL_EQ_NONE, PTL_CT_NONE);
  up = station(up_index, &nothing, 0);
  down = station(down_index, &nothing, 0);
  post_barriers();
  job_barrier();
  barriers();
  SAY("%d barriers\n", rounds);
  broadcasts();
  SAY("%d broadcasts of %d words\n", rounds, words);
  sums();
  SAY("%d sums\n", rounds);
  close_station(up);
  close_station(down);
  CALL(PtlMDRelease(own_memory));
  symmetric_end();
  return 0;
}
