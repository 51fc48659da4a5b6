/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two ranks send each other 8 bytes in five phases; rank 0 says how long a message takes in each, in ns. The second
 * follows MPI_Pcontrol(1), the third MPI_Pcontrol(0), the fourth the second MPI_Barrier; MPI_Comm_rank is called at the
 * end of the fourth. */
#include <mpi.h>
#include <stdio.h>

/* A place, too. */
__attribute__((noinline)) static double phase(int rank)
{
  enum { times = 50, work = 10000 };
  char data[8] = {0};
  const double begin = MPI_Wtime();
  for (int i = 0; i < times; ++i) {
    for (volatile int k = 0; k < work; ++k) /* some 10 us, where computing is measured */
      continue;
    if (rank == 0)
      MPI_Send(data, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(data, 8, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
      MPI_Send(data, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - begin) / times / 2 * 1e9;
}

int main(int argc, char** argv)
{
  double ns[5];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  ns[0] = phase(rank);
  MPI_Pcontrol(1);
  ns[1] = phase(rank);
  MPI_Pcontrol(0);
  ns[2] = phase(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  ns[3] = phase(rank);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ns[4] = phase(rank);
  if (rank == 0)
    printf("%.0f %.0f %.0f %.0f %.0f\n", ns[0], ns[1], ns[2], ns[3], ns[4]);
  MPI_Finalize();
  return 0;
}
