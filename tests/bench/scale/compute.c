/* SPDX-License-Identifier: LGPL-2.1-or-later
 * compute SECONDS ROUNDS: every rank computes for about SECONDS of CPU time in all, the same amount in each of ROUNDS
 * pieces with a reduction behind it. Rank 0 prints what it took in simulated time. How much fits into a second is
 * measured beforehand, with --calibrate, natively: compute --calibrate prints it; a run takes it as third argument. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { n = 128 };

static double a[n * n], b[n * n], c[n * n];

static double kernel(long times)
{
  for (long t = 0; t < times; ++t)
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
          c[i * n + j] = 0.5 * c[i * n + j] + a[i * n + k] * b[k * n + j];
  return c[n + 1];
}

static double cpu_seconds(void)
{
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv)
{
  for (int i = 0; i < n * n; ++i)
    a[i] = i % 7, b[i] = i % 5;
  if (argc == 2 && strcmp(argv[1], "--calibrate") == 0) {
    enum { times = 400 };
    kernel(times / 10);
    const double begin = cpu_seconds();
    kernel(times);
    printf("%.0f\n", times / (cpu_seconds() - begin));
    return 0;
  }
  if (argc != 4) {
    fprintf(stderr, "compute SECONDS ROUNDS TIMES_PER_SECOND\n");
    return 2;
  }
  const int rounds = atoi(argv[2]);
  const long times = (long)(atof(argv[1]) * atof(argv[3]) / rounds);
  int rank;
  double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) {
    const double mine = kernel(times);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0)
    printf("%.6f\n", MPI_Wtime() - begin);
  MPI_Finalize();
  return sum < 0;
}
