/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Rank 1 waits for what rank 0 computes, each with variables to look at. Prints the sum, ends with 3. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static long squares(long up_to)
{
  long sum = 0;
  for (long i = 1; i <= up_to; ++i)
    sum += i * i;
  return sum;
}

int main(int argc, char** argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long secret = 4711 + rank;
  long got = -1;
  if (rank == 0) {
    usleep(5000); /* the others are where they wait by then */
    got = squares(10);
    MPI_Send(&got, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&got, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%ld %ld\n", got, secret);
  }
  MPI_Finalize();
  return rank == 1 ? 3 : 0;
}
