/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Which memory is whose: the heap lies above the data, equal offsets name equal variables, and each PE has its own. */
#include "tests/openshmem/symmetric.h"

enum { blocks = 40 };

static long given = 4711;            /* initialised data */
static long mine, there, heap_there; /* zeroed data */
static unsigned char large[1 << 20];

int main(int argc, char** argv)
{
  symmetric_begin(argc, argv);
  const int next = next_rank(), previous = previous_rank();
  long* const own = allocate(sizeof *own);
  EXPECT((char*)own > (char*)&given && (char*)own > (char*)&mine && (unsigned char*)own > &large[sizeof large - 1]);
  EQUAL(given, 4711);
  EQUAL(mine, 0);
  EQUAL(*own, 0);

  /* the same name, the same place */
  there = (char*)&mine - __data_start;
  heap_there = (char*)own - sym.heap;
  barrier();
  for (int pe = 0; pe < job_size; ++pe) {
    long of_data, of_heap;
    get(&ctx, &of_data, &there, sizeof of_data, pe);
    get(&ctx, &of_heap, &heap_there, sizeof of_heap, pe);
    EQUAL(of_data, there);
    EQUAL(of_heap, heap_there);
  }

  /* written here, it changes nowhere else; written from there, only here */
  given = 100 + job_rank;
  *own = 200 + job_rank;
  barrier();
  for (int pe = 0; pe < job_size; ++pe) {
    long in_data, in_heap;
    get(&ctx, &in_data, &given, sizeof in_data, pe);
    get(&ctx, &in_heap, own, sizeof in_heap, pe);
    EQUAL(in_data, 100 + pe);
    EQUAL(in_heap, 200 + pe);
  }
  barrier();
  put_long(&ctx, &mine, 300 + job_rank, next);
  put_long(&ctx, own, 400 + job_rank, next);
  put(&ctx, &large[0], &(unsigned char){(unsigned char)job_rank}, 1, next);
  put(&ctx, &large[sizeof large - 1], &(unsigned char){(unsigned char)(50 + job_rank)}, 1, next);
  barrier();
  EQUAL(mine, 300 + previous);
  EQUAL(*own, 400 + previous);
  EQUAL(given, 100 + job_rank);
  EQUAL(large[0], previous);
  EQUAL(large[1], 0);
  EQUAL(large[sizeof large - 1], 50 + previous);

  /* blocks of many sizes in the heap: none reaches into another */
  static unsigned char from[blocks * 997];
  unsigned char* block[blocks];
  memset(from, 1 + job_rank, sizeof from);
  for (int i = 0; i < blocks; ++i)
    block[i] = allocate((size_t)i * 997);
  for (int i = blocks - 1; i >= 0; --i)
    put_later(&ctx, block[i], from, (size_t)i * 997, next);
  barrier();
  for (int i = 0; i < blocks; ++i) {
    for (int at = 0; at < i * 997; ++at)
      EQUAL(block[i][at], 1 + previous);
    if ((i * 997) % 64 != 0)
      EQUAL(block[i][i * 997], 0);
  }

  /* a PE is its own peer, too */
  put_long(&ctx, &mine, -1 - job_rank, job_rank);
  quiet(&ctx);
  EQUAL(mine, -1 - job_rank);

  SAY("%d PEs, %d blocks: each has its own memory at the same offsets, the heap above the data\n", job_size, blocks);
  symmetric_end();
  return 0;
}
