/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Messages, collectives and one-sided operations from and to memory that may be forgotten (--fold): what is to be kept
 * arrives, anything else is what was sent, zero, or what was there. Natively all of it arrives. */
#include "check.h"

#include <unistd.h>

enum { SIZE = (3 << 20) + 1000, ROUNDS = 6 };

static unsigned char ordinary[SIZE];

static unsigned char byte_of(size_t at, int round)
{
  return (unsigned char)(at * 7 + at / 4096 + (size_t)round * 31);
}

/* keep=0..5000,keep=size-3000..size */
static int is_kept(size_t at)
{
  return at < 5000 || at >= SIZE - 3000;
}

static void write_all(unsigned char* bytes, int round)
{
  for (size_t i = 0; i < SIZE; ++i)
    bytes[i] = byte_of(i, round);
}

/* What came into [begin, end), where `before` was. */
static long wrong(const unsigned char* bytes, size_t begin, size_t end, int round, int before)
{
  long count = 0;
  for (size_t i = begin; i < end; ++i)
    if (bytes[i] != byte_of(i, round))
      count += is_kept(i) || (bytes[i] != 0 && bytes[i] != before);
  return count;
}

static void exchange(unsigned char* outgoing, unsigned char* incoming, int round, size_t begin, size_t end)
{
  const int right = (world_rank + 1) % world_size;
  const int left = (world_rank + world_size - 1) % world_size;
  write_all(outgoing, round);
  memset(incoming, 0xee, SIZE);
  MPI_Sendrecv(outgoing + begin, (int)(end - begin), MPI_BYTE, right, round, incoming + begin, (int)(end - begin),
               MPI_BYTE, left, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQ(wrong(incoming, begin, end, round, 0xee), 0);
  long outside = 0;
  for (size_t i = 0; i < SIZE; ++i)
    if (i < begin || i >= end)
      outside += incoming[i] != 0xee && (incoming == ordinary || is_kept(i) || incoming[i] != 0);
  CHECK_EQ(outside, 0);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  unsigned char* mpi_memory = NULL;
  MPI_Alloc_mem(SIZE, MPI_INFO_NULL, &mpi_memory);
  unsigned char* heap = malloc(SIZE);
  for (int round = 0; round < ROUNDS; ++round) {
    exchange(mpi_memory, ordinary, round, 0, SIZE);
    exchange(ordinary, heap, round, 0, SIZE);
    exchange(heap, mpi_memory, round, 0, SIZE);
    exchange(heap, ordinary, round, 4000, 7000); /* within an eager message, some of it kept */
    exchange(ordinary, mpi_memory, round, SIZE - 4000, SIZE);
    exchange(mpi_memory, heap, round, 100000, SIZE - 1000);
  }

  /* Every third KiB, from memory of the one kind to that of the other */
  MPI_Datatype pieces;
  MPI_Type_vector(SIZE / 3072, 1024, 3072, MPI_BYTE, &pieces);
  MPI_Type_commit(&pieces);
  write_all(heap, 50);
  memset(ordinary, 0xee, SIZE);
  MPI_Sendrecv(heap, 1, pieces, (world_rank + 1) % world_size, 1, ordinary, 1, pieces,
               (world_rank + world_size - 1) % world_size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQ(wrong(ordinary, 0, 1024, 50, 0xee), 0);
  long changed = 0, bad = 0;
  for (size_t i = 0; i < SIZE / 3072 * 3072; ++i)
    if (i % 3072 >= 1024)
      changed += ordinary[i] != 0xee;
    else
      bad += wrong(ordinary, i, i + 1, 50, 0xee);
  CHECK_EQ(changed, 0);
  CHECK_EQ(bad, 0);
  MPI_Type_free(&pieces);

  if (world_rank == 0)
    write_all(mpi_memory, 60);
  else
    memset(mpi_memory, 0xee, SIZE);
  MPI_Bcast(mpi_memory, SIZE, MPI_BYTE, 0, MPI_COMM_WORLD);
  CHECK_EQ(wrong(mpi_memory, 0, SIZE, 60, 0xee), 0);

  MPI_Win window;
  memset(mpi_memory, 0xee, SIZE);
  MPI_Win_create(mpi_memory, SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  write_all(ordinary, 70);
  MPI_Win_fence(0, window);
  MPI_Put(ordinary, SIZE, MPI_BYTE, (world_rank + 1) % world_size, 0, SIZE, MPI_BYTE, window);
  MPI_Win_fence(0, window);
  CHECK_EQ(wrong(mpi_memory, 0, SIZE, 70, 0xee), 0);
  memset(ordinary, 0xdd, SIZE);
  MPI_Win_fence(0, window);
  MPI_Get(ordinary, SIZE, MPI_BYTE, (world_rank + 1) % world_size, 0, SIZE, MPI_BYTE, window);
  MPI_Win_fence(0, window);
  long got_wrong = 0;
  for (size_t i = 0; i < SIZE; ++i)
    got_wrong += ordinary[i] != byte_of(i, 70) &&
                 (is_kept(i) || (ordinary[i] != 0 && ordinary[i] != 0xdd && ordinary[i] != 0xee));
  CHECK_EQ(got_wrong, 0);
  MPI_Win_free(&window);

  /* Nothing of it stays after it is freed: what comes there is ordinary again. */
  free(heap);
  MPI_Free_mem(mpi_memory);
  static unsigned char again[SIZE];
  write_all(again, 80);
  MPI_Sendrecv(again, SIZE, MPI_BYTE, (world_rank + 1) % world_size, 2, ordinary, SIZE, MPI_BYTE,
               (world_rank + world_size - 1) % world_size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQ(memcmp(again, ordinary, SIZE), 0);
  MPI_Finalize();
  return verdict();
}
