/* SPDX-License-Identifier: LGPL-2.1-or-later
 * start [FIFO]: MPI_Init, barrier, reduction, MPI_Finalize. Given a FIFO, rank 0 reports to it when all ranks are past
 * the reduction, and everything stands still until somebody answers: time to look at memory. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

/* Both ends in turn: opening one waits for the other side. */
static int pass(const char* fifo)
{
  char byte = 'x';
  int fd = open(fifo, O_WRONLY);
  int passed = fd >= 0 && write(fd, &byte, 1) == 1;
  close(fd);
  fd = open(fifo, O_RDONLY);
  passed = passed && fd >= 0 && read(fd, &byte, 1) == 1;
  close(fd);
  return passed;
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
      right = right && pass(argv[1]);
  }
  MPI_Finalize();
  if (!right)
    fprintf(stderr, "rank %d: sum %d\n", rank, sum);
  return !right;
}
