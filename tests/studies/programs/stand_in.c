/* SPDX-License-Identifier: LGPL-2.1-or-later
 * stand_in [OPTION...]: in tests, what studies run in the place of HPL, LULESH and NPB. Ten steps of a reduction and a
 * message round a ring, and the time of it as these programs print theirs. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv)
{
  enum { steps = 10, bytes = 4096 };
  static char out[bytes], in[bytes];
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double begin = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    int sum = 0;
    MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % ranks, 0, in, bytes, MPI_CHAR, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  const double us = (MPI_Wtime() - begin) * 1e6;
  if (rank == 0) {
    printf("Grind time (us/z/c)  = %.9f (per dom)\n", us / steps);
    printf("WR12R2C2 %d %d %d %d %.2f %.3e\n", 0, 0, ranks, 1, us * 1e-6, 1e3 / us);
  }
  MPI_Finalize();
  return 0;
}
