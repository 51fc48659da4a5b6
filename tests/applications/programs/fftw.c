// SPDX-License-Identifier: LGPL-2.1-or-later
// fftw N: N^3 complex numbers forth and back; rank 0 prints some coefficients and the error.
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
#ifdef THREADS
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  fftw_init_threads();
  fftw_mpi_init();
  fftw_plan_with_nthreads(THREADS);
#else
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
#endif
  const ptrdiff_t n = argc > 1 ? atoi(argv[1]) : 32;
  ptrdiff_t rows, first;
  const ptrdiff_t room = fftw_mpi_local_size_3d(n, n, n, MPI_COMM_WORLD, &rows, &first);
  fftw_complex* data = fftw_alloc_complex((size_t)room);
  fftw_plan forth = fftw_mpi_plan_dft_3d(n, n, n, data, data, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_plan back = fftw_mpi_plan_dft_3d(n, n, n, data, data, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
  for (ptrdiff_t i = 0; i < rows * n * n; ++i)
    data[i] = sin(0.1 * (double)(first * n * n + i)) + I * cos(0.37 * (double)(first * n * n + i));
  fftw_execute(forth);
  double power = 0, sum, error = 0, largest;
  for (ptrdiff_t i = 0; i < rows * n * n; ++i)
    power += creal(data[i] * conj(data[i]));
  fftw_execute(back);
  for (ptrdiff_t i = 0; i < rows * n * n; ++i) {
    const complex double expected =
        sin(0.1 * (double)(first * n * n + i)) + I * cos(0.37 * (double)(first * n * n + i));
    error = fmax(error, cabs(data[i] / (double)(n * n * n) - expected));
  }
  MPI_Reduce(&power, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("power %.15g, largest error %.3g\n", sum, largest);
  MPI_Finalize();
  return largest < 1e-12 || rank != 0 ? 0 : 1;
}
