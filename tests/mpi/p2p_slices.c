/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rank 1 computes in slices, of which a model says that each takes a millisecond, and asks after each whether a message
 * has come, as HPL does when it looks ahead. Then it asks a few times in vain and goes on, while rank 0 does something
 * else. Says after how many slices the message was found, and how long it took to ask in vain. */
#include <stdio.h>
#include <unistd.h>

#include <mpi.h>

enum { sent_after_us = 5500, busy_us = 100000, looks = 12, most_slices = 1000, message = 1, answer = 2, never = 3 };

void slice(void);

/* Not run: p2p_slices.yaml. */
__attribute__((noinline)) void slice(void)
{
  for (volatile int i = 0; i < 100; ++i) {
  }
}

static void send_late(void)
{
  int number = 42;
  usleep(sent_after_us);
  MPI_Send(&number, 1, MPI_INT, 1, message, MPI_COMM_WORLD);
  usleep(busy_us);
  MPI_Recv(&number, 1, MPI_INT, 1, answer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void compute_and_look(void)
{
  int found = 0;
  int number = 0;
  int slices = 0;
  while (!found && slices < most_slices) {
    slice();
    ++slices;
    MPI_Iprobe(0, message, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  }
  MPI_Recv(&number, 1, MPI_INT, 0, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double begin = MPI_Wtime();
  for (int i = 0; i < looks; ++i)
    MPI_Iprobe(0, never, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  const double end = MPI_Wtime();
  MPI_Send(&number, 1, MPI_INT, 0, answer, MPI_COMM_WORLD);
  printf("after %d slices, %d looks in vain: %.0f us\n", slices, looks, (end - begin) * 1e6);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    send_late();
  else if (rank == 1)
    compute_and_look();
  MPI_Finalize();
  return 0;
}
