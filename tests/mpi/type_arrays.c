/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Subarrays in C and Fortran order, and distributed arrays: every rank's part of a matrix is gathered to rank 0. */
#include "check.h"

enum { rows = 37, columns = 53 };

static int element(int row, int column)
{
  return row * 1000 + column;
}

static void subarrays(void)
{
  static int matrix[rows][columns], copy[rows][columns];
  const int sizes[] = {rows, columns}, parts[] = {11, 17}, starts[] = {5, 9};
  MPI_Datatype part;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      matrix[r][c] = element(r, c) + 100000 * world_rank;
    }
  }
  memset(copy, 0xff, sizeof copy);
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &part);
  MPI_Type_commit(&part);
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  MPI_Sendrecv(matrix, 1, part, right, 1, copy, 1, part, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const int inside = r >= 5 && r < 16 && c >= 9 && c < 26;
      CHECK_EQ(copy[r][c], inside ? element(r, c) + 100000 * left : -1);
    }
  }
  MPI_Type_free(&part);

  /* the same memory seen in Fortran order is the transposed matrix */
  const int swapped_sizes[] = {columns, rows}, swapped_parts[] = {17, 11}, swapped_starts[] = {9, 5};
  static int packed[11 * 17];
  MPI_Type_create_subarray(2, swapped_sizes, swapped_parts, swapped_starts, MPI_ORDER_FORTRAN, MPI_INT, &part);
  MPI_Type_commit(&part);
  MPI_Sendrecv(matrix, 1, part, right, 2, packed, 11 * 17, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 11 * 17; ++i) {
    CHECK_EQ(packed[i], element(5 + i / 17, 9 + i % 17) + 100000 * left);
  }
  MPI_Type_free(&part);
}

/* Which rank's part holds an index of a dimension that is cut by the rule. */
static int owner(int index, int extent, int rule, int argument, int processes)
{
  if (rule == MPI_DISTRIBUTE_NONE) {
    return 0;
  }
  if (rule == MPI_DISTRIBUTE_BLOCK) {
    return index / ((extent + processes - 1) / processes);
  }
  return index / (argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument) % processes;
}

static void distributed(int row_rule, int row_argument, int column_rule, int column_argument)
{
  int grid[2] = {0, 0};
  if (row_rule == MPI_DISTRIBUTE_NONE) {
    grid[0] = 1;
  }
  if (column_rule == MPI_DISTRIBUTE_NONE) {
    grid[1] = 1;
  }
  MPI_Dims_create(world_size, 2, grid);
  const int sizes[] = {rows, columns}, rules[] = {row_rule, column_rule}, arguments[] = {row_argument, column_argument};
  static int mine[rows * columns], matrix[rows][columns];
  int count = 0;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      if (owner(r, rows, row_rule, row_argument, grid[0]) * grid[1] +
              owner(c, columns, column_rule, column_argument, grid[1]) ==
          world_rank) {
        mine[count++] = element(r, c);
      }
    }
  }
  MPI_Request request;
  MPI_Isend(mine, count, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
  if (world_rank == 0) {
    memset(matrix, 0xff, sizeof matrix);
    for (int source = 0; source < world_size; ++source) {
      MPI_Datatype part;
      MPI_Status status;
      int got = -1;
      MPI_Type_create_darray(world_size, source, 2, sizes, rules, arguments, grid, MPI_ORDER_C, MPI_INT, &part);
      MPI_Type_commit(&part);
      MPI_Recv(matrix, 1, part, source, 4, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, part, &got);
      CHECK_EQ(got, 1);
      MPI_Type_free(&part);
    }
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        CHECK_EQ(matrix[r][c], element(r, c));
      }
    }
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int standard = MPI_DISTRIBUTE_DFLT_DARG;
  subarrays();
  distributed(MPI_DISTRIBUTE_BLOCK, standard, MPI_DISTRIBUTE_BLOCK, standard);
  distributed(MPI_DISTRIBUTE_CYCLIC, standard, MPI_DISTRIBUTE_BLOCK, standard);
  distributed(MPI_DISTRIBUTE_CYCLIC, 3, MPI_DISTRIBUTE_CYCLIC, 4);
  distributed(MPI_DISTRIBUTE_NONE, standard, MPI_DISTRIBUTE_CYCLIC, 5);
  distributed(MPI_DISTRIBUTE_BLOCK, standard, MPI_DISTRIBUTE_NONE, standard);
  return finish();
}
