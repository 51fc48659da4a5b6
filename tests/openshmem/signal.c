/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Put with signal: whoever sees the signal sees the data, of any size, from one PE or from all. */
#include "tests/openshmem/symmetric.h"

enum { longest = 1 << 20, stream = 64, stream_most = 64 };

static long arrived, streamed, from_all;

static unsigned char pattern(int pe, size_t size, size_t at)
{
  return (unsigned char)(pe * 31 + size * 7 + at * 13 + (at >> 8) + 1);
}

static void fill(unsigned char* memory, int pe, size_t size)
{
  for (size_t at = 0; at < size; ++at)
    memory[at] = pattern(pe, size, at);
}

static void check(const unsigned char* memory, int pe, size_t size)
{
  for (size_t at = 0; at < size; ++at)
    EQUAL(memory[at], pattern(pe, size, at));
}

/* Round the ring: the signal is set or added to, after a put that has or has not told when its source may change. */
static int ring(unsigned char* from, unsigned char* to)
{
  static const size_t around[] = {1, 8, 32, 64, 512, 4096, 65536, 262144, longest};
  long signals = 0;
  int sizes = 0;
  for (size_t i = 0; i < sizeof around / sizeof *around; ++i)
    for (int step = -1; step <= 1; ++step) {
      const size_t size = around[i] + (size_t)step;
      if (size < 1 || size > longest)
        continue;
      ++sizes;
      for (int way = 0; way < 4; ++way) {
        fill(from, job_rank, size);
        memset(to, 0, size);
        barrier();
        (way & 1 ? put : put_later)(&ctx, to, from, size, next_rank());
        fence(&ctx);
        ++signals;
        if (way & 2)
          add_long(&ctx, &arrived, 1, next_rank());
        else
          put_long(&ctx, &arrived, signals, next_rank());
        WAIT_UNTIL(&arrived, ==, signals);
        check(to, previous_rank(), size);
      }
    }
  return sizes;
}

/* One pair of data and signal behind the other; what fits the limit for ordered data needs no wait for
 * acknowledgements. */
static void stream_of_pairs(unsigned char* to)
{
  long signals = 0;
  for (size_t size = 1; size <= stream_most; size *= 2) {
    unsigned char from[stream_most];
    for (int i = 0; i < stream; ++i) {
      fill(from, job_rank + i, size);
      put(&ctx, to + (size_t)i * stream_most, from, size, next_rank());
      fence(&ctx);
      put_long(&ctx, &streamed, signals + i + 1, next_rank());
    }
    for (int i = 0; i < stream; ++i) {
      WAIT_UNTIL(&streamed, >, signals + i);
      check(to + (size_t)i * stream_most, previous_rank() + i, size);
    }
    signals += stream;
    barrier();
    memset(to, 0, (size_t)stream * stream_most);
    barrier();
  }
}

/* A block for everybody, then a signal for everybody. */
static void all_to_all(unsigned char* from, unsigned char* to)
{
  static const size_t sizes[] = {1, 64, 65, 1000, 4096, 60000};
  long signals = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const size_t size = sizes[i];
    fill(from, job_rank, size);
    memset(to, 0, size * (size_t)job_size);
    barrier();
    for (int step = 0; step < job_size; ++step)
      put_later(&ctx, to + size * (size_t)job_rank, from, size, (job_rank + step) % job_size);
    fence(&ctx);
    for (int step = 0; step < job_size; ++step)
      add_long(&ctx, &from_all, 1, (job_rank + step) % job_size);
    signals += job_size;
    WAIT_UNTIL(&from_all, >=, signals);
    EQUAL(from_all, signals);
    for (int pe = 0; pe < job_size; ++pe)
      check(to + size * (size_t)pe, pe, size);
  }
}

int main(int argc, char** argv)
{
  symmetric_begin(argc, argv);
  unsigned char* from = allocate(longest);
  unsigned char* to = allocate(longest);
  const int sizes = ring(from, to);
  SAY("ring: %d sizes\n", sizes);
  memset(to, 0, longest);
  barrier();
  stream_of_pairs(to);
  SAY("stream: %d pairs of each size\n", stream);
  all_to_all(from, to);
  SAY("all to all: %d PEs\n", job_size);
  symmetric_end();
  return 0;
}
