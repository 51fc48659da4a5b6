/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Derived datatypes in collectives: a matrix is scattered by columns, transposed by alltoall and gathered again. */
#include "check.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int width = 40, n = width * world_size; /* n x n matrix, `width` columns for each rank */
  double* matrix = malloc((size_t)n * n * sizeof *matrix);
  double* mine = malloc((size_t)n * width * sizeof *mine); /* [n][width] */
  MPI_Datatype columns, whole_columns;
  MPI_Type_vector(n, width, n, MPI_DOUBLE, &whole_columns);
  MPI_Type_create_resized(whole_columns, 0, width * (MPI_Aint)sizeof(double), &columns);
  MPI_Type_commit(&columns);
  for (int i = 0; world_rank == 0 && i < n * n; ++i) {
    matrix[i] = i;
  }
  MPI_Scatter(matrix, 1, columns, mine, n * width, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < width; ++c) {
      CHECK(mine[r * width + c] == r * n + world_rank * width + c);
    }
  }

  /* Blocks of width x width change places; a block is sent by columns and so arrives transposed. */
  double* turned = malloc((size_t)n * width * sizeof *turned);
  MPI_Datatype column, block;
  MPI_Type_vector(width, 1, width, MPI_DOUBLE, &column);
  MPI_Datatype narrow;
  MPI_Type_create_resized(column, 0, sizeof(double), &narrow);
  MPI_Type_contiguous(width, narrow, &whole_columns);
  MPI_Type_create_resized(whole_columns, 0, (MPI_Aint)width * width * (MPI_Aint)sizeof(double), &block);
  MPI_Type_commit(&block);
  MPI_Alltoall(mine, 1, block, turned, width * width, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < width; ++c) {
      CHECK(turned[r * width + c] == (world_rank * width + c) * n + r);
    }
  }

  MPI_Gather(turned, n * width, MPI_DOUBLE, matrix, 1, columns, 0, MPI_COMM_WORLD);
  for (int i = 0; world_rank == 0 && i < n * n; ++i) {
    CHECK(matrix[i] == i % n * n + i / n);
  }
  MPI_Bcast(matrix, 1, columns, 0, MPI_COMM_WORLD);
  CHECK(matrix[(n - 1) * n] == n - 1);
  MPI_Type_free(&block);
  MPI_Type_free(&columns);
  free(turned);
  free(mine);
  free(matrix);
  return finish();
}
