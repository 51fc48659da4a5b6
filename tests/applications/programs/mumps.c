// SPDX-License-Identifier: LGPL-2.1-or-later
// mumps N: solves A x = A 1 for the seven-point Laplace operator on N^3 points; rank 0 prints the residual and parts of
// x.
#include <dmumps_c.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int count;
static MUMPS_INT *rows, *columns;
static double* values;

static void entry(int row, int column, double value)
{
  rows[count] = row + 1;
  columns[count] = column + 1;
  values[count++] = value;
}

int main(int argc, char** argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int n = argc > 1 ? atoi(argv[1]) : 10, order = n * n * n;
  DMUMPS_STRUC_C id = {.comm_fortran = -987654, .par = 1, .sym = 0, .job = -1}; /* its MPI_COMM_WORLD */
  dmumps_c(&id);
  double* x = calloc((size_t)order, sizeof *x);
  if (rank == 0) {
    const size_t most = 7 * (size_t)order;
    rows = malloc(most * sizeof *rows);
    columns = malloc(most * sizeof *columns);
    values = malloc(most * sizeof *values);
    const int step[3] = {1, n, n * n};
    for (int i = 0; i < order; ++i) {
      entry(i, i, 6);
      for (int d = 0; d < 3; ++d) {
        if (i / step[d] % n > 0)
          entry(i, i - step[d], -1);
        if (i / step[d] % n < n - 1)
          entry(i, i + step[d], -1);
      }
    }
    for (int k = 0; k < count; ++k) /* right-hand side for x = 1, 2, 3, ... */
      x[rows[k] - 1] += values[k] * columns[k];
    id.n = order;
    id.nnz = count;
    id.irn = rows;
    id.jcn = columns;
    id.a = values;
    id.rhs = x;
  }
  for (int i = 0; i < 4; ++i)
    id.icntl[i] = 0; /* silent */
  id.job = 6;
  dmumps_c(&id);
  if (rank == 0) {
    double largest = 0;
    for (int i = 0; i < order; ++i)
      largest = fmax(largest, fabs(x[i] - (i + 1)) / (i + 1));
    printf("info %d, error %s, x[7] %.9g\n", id.infog[0], largest < 1e-9 ? "below 1e-9" : "above 1e-9", x[7]);
  }
  id.job = -2;
  dmumps_c(&id);
  MPI_Finalize();
  return 0;
}
