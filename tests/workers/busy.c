/* SPDX-License-Identifier: LGPL-2.1-or-later
 * busy FILE: ranks that pass messages round a ring, compute and reduce until the file exists. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv)
{
  static double field[1 << 16], from_below[1 << 10];
  int rank, size, over = 0;
  double sum = 0;
  if (argc != 2)
    return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (long round = 0; !over; ++round) {
    for (int i = 0; i < 1 << 16; ++i)
      field[i] = 0.5 * field[i] + (double)(round % 7);
    MPI_Sendrecv(field, 1 << 10, MPI_DOUBLE, (rank + 1) % size, 0, from_below, 1 << 10, MPI_DOUBLE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&from_below[0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    over = rank == 0 && access(argv[1], F_OK) == 0;
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  if (rank == 0)
    printf("over, %s\n", sum >= 0 ? "as told" : "but wrong");
  return 0;
}
