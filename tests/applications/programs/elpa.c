// SPDX-License-Identifier: LGPL-2.1-or-later
// elpa N: eigenvalues of the symmetric matrix a(i,j) = 1 / (1 + |i - j|), block-cyclic over a square grid of ranks.
#include <assert.h>
#include <elpa/elpa.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

extern void Cblacs_get(int, int, int*);
extern void Cblacs_gridinit(int*, const char*, int, int);
extern void Cblacs_gridinfo(int, int*, int*, int*, int*);
extern int numroc_(const int*, const int*, const int*, const int*, const int*);

int main(int argc, char** argv)
{
  int rank, ranks, context, error, zero = 0, block = 16;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int n = argc > 1 ? atoi(argv[1]) : 100;
  int rows = (int)sqrt(ranks), columns = ranks / rows, row, column;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "C", rows, columns);
  Cblacs_gridinfo(context, &rows, &columns, &row, &column);
  const int own_rows = numroc_(&n, &block, &row, &zero, &rows);
  const int own_columns = numroc_(&n, &block, &column, &zero, &columns);
  double* a = malloc(sizeof *a * (size_t)own_rows * (size_t)own_columns);
  double* z = malloc(sizeof *z * (size_t)own_rows * (size_t)own_columns);
  double* values = malloc(sizeof *values * (size_t)n);
  for (int j = 0; j < own_columns; ++j)
    for (int i = 0; i < own_rows; ++i) {
      const int gi = (i / block * rows + row) * block + i % block,
                gj = (j / block * columns + column) * block + j % block;
      a[j * own_rows + i] = 1.0 / (1 + abs(gi - gj));
    }
  error = elpa_init(20200417);
  assert(error == ELPA_OK);
  elpa_t handle = elpa_allocate(&error);
  elpa_set(handle, "na", n, &error);
  elpa_set(handle, "nev", n, &error);
  elpa_set(handle, "local_nrows", own_rows, &error);
  elpa_set(handle, "local_ncols", own_columns, &error);
  elpa_set(handle, "nblk", block, &error);
  elpa_set(handle, "mpi_comm_parent", MPI_Comm_c2f(MPI_COMM_WORLD), &error);
  elpa_set(handle, "process_row", row, &error);
  elpa_set(handle, "process_col", column, &error);
  elpa_setup(handle);
  elpa_set(handle, "solver", ELPA_SOLVER_2STAGE, &error);
  elpa_eigenvectors(handle, a, values, z, &error);
  if (rank == 0)
    printf("error %d: %.10f %.10f ... %.10f\n", error, values[0], values[1], values[n - 1]);
  elpa_deallocate(handle, &error);
  elpa_uninit(&error);
  MPI_Finalize();
  return 0;
}
