/* SPDX-License-Identifier: LGPL-2.1-or-later
 * MPI_THREAD_MULTIPLE: four threads of each rank work on one window at the same time, each with its own flushes. */
#include "check.h"

#include <pthread.h>

enum { threads = 4, rounds = 25 };

static MPI_Win window;
static long failures[threads];

static void* work(void* argument)
{
  const int me = (int)(long)argument;
  const int target = (world_rank + 1) % world_size;
  const int place = 1 + world_rank * threads + me;
  for (long i = 1; i <= rounds; ++i) {
    const long one = 1;
    long before = -1, seen = -1;
    MPI_Put(&i, 1, MPI_LONG, target, place, 1, MPI_LONG, window);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_flush_all(window);
    MPI_Get(&seen, 1, MPI_LONG, target, place, 1, MPI_LONG, window);
    MPI_Win_flush(target, window);
    failures[me] += seen != i || before < i - 1;
  }
  return NULL;
}

int main(int argc, char** argv)
{
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  const int places = 1 + world_size * threads;
  long* memory;
  MPI_Win_allocate(places * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock_all(0, window);
  memset(memory, 0, (size_t)places * sizeof(long));
  MPI_Win_sync(window);
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_t thread[threads];
  for (long i = 0; i < threads; ++i) {
    pthread_create(thread + i, NULL, work, (void*)i);
  }
  for (int i = 0; i < threads; ++i) {
    pthread_join(thread[i], NULL);
    CHECK_EQ(failures[i], 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  long sum = -1;
  MPI_Get(&sum, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
  MPI_Win_flush(0, window);
  CHECK_EQ(sum, (long)world_size * threads * rounds);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  return finish();
}
