/* SPDX-License-Identifier: LGPL-2.1-or-later
 * start [wait]: MPI_Init, barrier, reduction, MPI_Finalize. With an argument, rank 0 says when all ranks are past the
 * reduction, and everything stands still until something comes on standard input: time to look at memory. (Not from a
 * FIFO: who waits for one of those waits in simulated time, in which the others go on.) */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int pass(void)
{
  char byte;
  return write(STDOUT_FILENO, "x", 1) == 1 && read(STDIN_FILENO, &byte, 1) == 1;
}

int main(int argc, char** argv)
{
  int rank, size, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int right = sum == size * (size - 1) / 2;
  if (argc > 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
      right = right && pass();
  }
  MPI_Finalize();
  if (!right)
    fprintf(stderr, "rank %d: sum %d\n", rank, sum);
  return !right;
}
