// SPDX-License-Identifier: LGPL-2.1-or-later
// report [CODE]: an MPI program that tells how it was executed, sums the ranks up and ends with CODE.
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank, sum, one = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  char directory[4096] = "?", line[64] = "";
  if (getcwd(directory, sizeof directory) == NULL || (rank == 0 && fgets(line, sizeof line, stdin) == NULL))
    line[0] = '\0';
  line[strcspn(line, "\n")] = '\0';
  const char* value = getenv("WRAPPED");
  printf("rank %d of %d: %s in %s, WRAPPED=%s, stdin '%s'\n", rank, sum, argv[0], basename(directory),
         value ? value : "", line);
  fprintf(stderr, "rank %d to stderr\n", rank);
  MPI_Finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}
