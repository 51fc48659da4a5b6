/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Simulated only, with --cpu fixed=NS: how much faster an OpenMP region is than the same loop without threads.
 *   openmp_gain CORES: exit code 1 unless a region of CORES threads, as many as OpenMP starts by itself, takes 1/CORES
 * of the time. All stretches between two calls are equally long, so the number of calls is the time, and the rest, a
 * barrier, is less than 2 %. */
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { calls = 19200 };

static double stretch(void)
{
  sched_yield(); /* a call that ends it; reading the clock does not */
  return omp_get_wtime();
}

int main(int argc, char** argv)
{
  if (argc != 2)
    return 2;
  const int expected = atoi(argv[1]);
  printf("processors %d, threads %d, expected %d\n", omp_get_num_procs(), omp_get_max_threads(), expected);
  if (omp_get_num_procs() != expected || omp_get_max_threads() != expected)
    return 1;
  double last = 0;
#pragma omp parallel /* the threads begin */
  stretch();
  const double begin = omp_get_wtime();
  for (int i = 0; i < calls; ++i)
    last = stretch();
  const double middle = omp_get_wtime();
#pragma omp parallel for reduction(max : last) schedule(static)
  for (int i = 0; i < calls; ++i)
    last = stretch();
  const double end = omp_get_wtime();
  const double gain = (middle - begin) / (end - middle);
  printf("%.3f times as fast, expected %d; the last stretch ended %s\n", gain, expected,
         last <= end ? "before" : "later");
  return gain < expected * 0.98 || gain > expected * 1.02 || last > end;
}
