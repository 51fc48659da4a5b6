/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Datatypes of one piece that begins behind the address given: rows of a matrix as a subarray, members of a structure.
 * Messages of all modes, short and long, collectives, one-sided. */
#include "check.h"

enum { columns = 300, most_rows = 64 };

/* Rows first .. first + count - 1 of a matrix of most_rows. */
static MPI_Datatype rows_of(int first, int count)
{
  MPI_Datatype rows;
  MPI_Type_create_subarray(2, (int[]){most_rows, columns}, (int[]){count, columns}, (int[]){first, 0}, MPI_ORDER_C,
                           MPI_INT, &rows);
  MPI_Type_commit(&rows);
  return rows;
}

static int matrix[most_rows][columns], other[most_rows][columns];

static void prepare(void)
{
  for (int i = 0; i < most_rows; ++i)
    for (int j = 0; j < columns; ++j) {
      matrix[i][j] = world_rank * 1000000 + i * columns + j;
      other[i][j] = -1;
    }
}

/* Rows 0 .. count - 1 of `other`, from `to` on, are those of `rank`'s matrix from `from` on; nothing else was touched.
 */
static int arrived(int rank, int from, int to, int count)
{
  for (int i = 0; i < most_rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const int inside = i >= to && i < to + count;
      if (other[i][j] != (inside ? rank * 1000000 + (i - to + from) * columns + j : -1))
        return 0;
    }
  return 1;
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int next = (world_rank + 1) % world_size, before = (world_rank + world_size - 1) % world_size;
  for (int count = 1; count <= 32; count *= 32) { /* 1,200 bytes, and 38,400 */
    MPI_Datatype out = rows_of(20, count), in = rows_of(7, count);
    MPI_Request request;
    for (int mode = 0; mode < 4; ++mode) {
      prepare();
      MPI_Irecv(other, 1, in, before, mode, MPI_COMM_WORLD, &request);
      MPI_Barrier(MPI_COMM_WORLD); /* receives are posted: MPI_Rsend wants that */
      if (mode == 0)
        MPI_Send(matrix, 1, out, next, mode, MPI_COMM_WORLD);
      else if (mode == 1)
        MPI_Ssend(matrix, 1, out, next, mode, MPI_COMM_WORLD);
      else if (mode == 2)
        MPI_Rsend(matrix, 1, out, next, mode, MPI_COMM_WORLD);
      else {
        MPI_Request sending;
        MPI_Isend(matrix, 1, out, next, mode, MPI_COMM_WORLD, &sending);
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(arrived(before, 20, 7, count));
    }

    prepare();
    MPI_Request persistent;
    MPI_Send_init(matrix, 1, out, next, 4, MPI_COMM_WORLD, &persistent);
    for (int k = 0; k < 2; ++k) {
      prepare();
      MPI_Irecv(other, 1, in, before, 4, MPI_COMM_WORLD, &request);
      MPI_Start(&persistent);
      MPI_Wait(&persistent, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(arrived(before, 20, 7, count));
    }
    MPI_Request_free(&persistent);

    prepare();
    if (world_rank == 0)
      MPI_Bcast(matrix, 1, out, 0, MPI_COMM_WORLD);
    else
      MPI_Bcast(other, 1, in, 0, MPI_COMM_WORLD);
    CHECK(world_rank == 0 || arrived(0, 20, 7, count));

    prepare();
    int* all = malloc((size_t)world_size * (size_t)count * columns * sizeof *all);
    MPI_Allgather(matrix, 1, out, all, count * columns, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0; k < world_size; ++k)
      CHECK(all[k * count * columns] == k * 1000000 + 20 * columns);
    free(all);

    prepare();
    int ones[64], zeros[64];
    MPI_Datatype outs[64], ins[64];
    const int part = most_rows / world_size < count ? most_rows / world_size : count;
    for (int k = 0; k < world_size; ++k) {
      ones[k] = 1;
      zeros[k] = 0;
      outs[k] = rows_of(part * k, part);
      ins[k] = rows_of(part * k, part);
    }
    MPI_Alltoallw(matrix, ones, zeros, outs, other, ones, zeros, ins, MPI_COMM_WORLD);
    for (int k = 0; k < world_size; ++k) {
      CHECK(other[part * k][5] == k * 1000000 + part * world_rank * columns + 5);
      MPI_Type_free(&outs[k]);
      MPI_Type_free(&ins[k]);
    }

    MPI_Win window;
    prepare();
    MPI_Win_create(other, sizeof other, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(matrix, 1, out, next, 0, 1, in, window);
    MPI_Win_fence(0, window);
    CHECK(arrived(before, 20, 7, count));
    prepare();
    MPI_Win_fence(0, window);
    MPI_Accumulate(matrix, 1, out, next, 0, 1, in, MPI_REPLACE, window);
    MPI_Win_fence(0, window);
    CHECK(arrived(before, 20, 7, count));
    MPI_Win_free(&window);

    prepare();
    MPI_Win_create(matrix, sizeof matrix, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Get(other, 1, in, next, 0, 1, out, window);
    MPI_Win_fence(0, window);
    CHECK(arrived(next, 20, 7, count));
    MPI_Win_free(&window);
    MPI_Type_free(&out);
    MPI_Type_free(&in);
  }
  return finish();
}
