/* SPDX-License-Identifier: LGPL-2.1-or-later
 * MPI_THREAD_MULTIPLE: four threads of each rank exchange messages with their partners at the same time, then
 * collectives on a communicator each, then all threads wait for messages with wildcards that only the others' sends
 * bring. */
#include "check.h"

#include <pthread.h>

enum { threads = 4, rounds = 200, longest = 20000 };

static MPI_Comm comms[threads];
static long sums[threads];
static int wrong[threads];

static void* exchange(void* argument)
{
  const int me = *(const int*)argument;
  const int peer = world_rank ^ 1;
  int* out = malloc(longest * sizeof *out);
  int* in = malloc(longest * sizeof *in);
  for (int round = 0; round < rounds; ++round) {
    const int count = round % 20 == 0 ? longest : 1 + round % 50; /* rendezvous now and then */
    for (int i = 0; i < count; ++i)
      out[i] = world_rank * 1000000 + me * 10000 + round + i;
    if (world_rank < peer) {
      MPI_Send(out, count, MPI_INT, peer, me, MPI_COMM_WORLD);
      MPI_Recv(in, count, MPI_INT, peer, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, count, MPI_INT, peer, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, count, MPI_INT, peer, me, MPI_COMM_WORLD);
    }
    for (int i = 0; i < count; ++i)
      wrong[me] += in[i] != peer * 1000000 + me * 10000 + round + i;
  }
  for (int round = 0; round < 20; ++round) {
    int sum = 0;
    const int mine = world_rank + me + round;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms[me]);
    sums[me] += sum;
  }
  free(in);
  free(out);
  return NULL;
}

int main(int argc, char** argv)
{
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  pthread_t ids[threads];
  int numbers[threads];
  for (int i = 0; i < threads; ++i)
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < threads; ++i) {
    numbers[i] = i;
    CHECK_EQ(pthread_create(&ids[i], NULL, exchange, &numbers[i]), 0);
  }
  for (int i = 0; i < threads; ++i)
    pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; ++i) {
    CHECK_EQ(wrong[i], 0);
    CHECK_EQ(sums[i], 20 * (world_size * (world_size - 1) / 2 + world_size * i) + world_size * 190);
    MPI_Comm_free(&comms[i]);
  }
  return finish();
}
