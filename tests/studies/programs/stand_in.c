/* SPDX-License-Identifier: LGPL-2.1-or-later
 * stand_in [OPTION...]: in tests, what studies run in the place of HPL, LULESH and NPB. Ten steps of a reduction and a
 * message round a ring, and the time of it as these programs print theirs. The message is the larger the larger the
 * numbers of HPL.dat are, if there is one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { steps = 10, least = 4096, most = 65536 };

static int bytes_of_input(void)
{
  char line[200];
  long sum = 0;
  FILE* const file = fopen("HPL.dat", "r");
  if (file != NULL) {
    while (fgets(line, sizeof line, file) != NULL)
      sum += labs(strtol(line, NULL, 10));
    fclose(file);
  }
  return (int)(least + sum % (most - least));
}

int main(int argc, char** argv)
{
  static char out[most], in[most];
  const int bytes = bytes_of_input();
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
