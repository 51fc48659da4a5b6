/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Simulated only: how much faster an OpenMP region is than the same loop without threads.
 *   openmp_gain CORES: exit code 1 unless a region of CORES threads, as many as OpenMP starts by itself, takes 1/CORES of the time,
 *   within a third. Bursts are measured, on a machine that does other things too: one good measurement of five is enough. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { length = 24000000 };

static double term(int i)
{
  return 1.0 / ((double)i * i + 1.0);
}

int main(int argc, char** argv)
{
  if (argc != 2)
    return 2;
  const int expected = atoi(argv[1]);
  printf("processors %d, threads %d, expected %d\n", omp_get_num_procs(), omp_get_max_threads(), expected);
  if (omp_get_num_procs() != expected || omp_get_max_threads() != expected)
    return 1;
  for (int attempt = 0; attempt < 5; ++attempt) {
    double serial = 0, parallel = 0;
    const double begin = omp_get_wtime();
    for (int i = 0; i < length; ++i)
      serial += term(i);
    const double middle = omp_get_wtime();
#pragma omp parallel for reduction(+ : parallel) schedule(static)
    for (int i = 0; i < length; ++i)
      parallel += term(i);
    const double end = omp_get_wtime();
    const double gain = (middle - begin) / (end - middle);
    printf("%.2f times as fast, expected %d; sums differ by %.1e\n", gain, expected, serial - parallel);
    if (gain > expected / 1.34 && gain < expected * 1.34)
      return 0;
  }
  return 1;
}
