/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Kinds of windows: created over memory, allocated, dynamic with attached memory, empty on some ranks; attributes;
 * several windows at once. */
#include "check.h"

enum { n = 1000 };

static void attributes(MPI_Win window, const void* base, MPI_Aint size, int unit, int flavor)
{
  void* value = NULL;
  int found = 0;
  MPI_Win_get_attr(window, MPI_WIN_BASE, &value, &found);
  CHECK(found && value == base);
  MPI_Win_get_attr(window, MPI_WIN_SIZE, &value, &found);
  CHECK(found && *(MPI_Aint*)value == size);
  MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &value, &found);
  CHECK(found && *(int*)value == unit);
  MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &value, &found);
  CHECK(found && *(int*)value == flavor);
  MPI_Group group;
  int members = 0;
  MPI_Win_get_group(window, &group);
  MPI_Group_size(group, &members);
  CHECK_EQ(members, world_size);
  MPI_Group_free(&group);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  static short created[n];
  int* allocated;
  MPI_Win over, own, uneven, dynamic;
  MPI_Win_create(created, sizeof created, sizeof(short), MPI_INFO_NULL, MPI_COMM_WORLD, &over);
  MPI_Win_allocate(n * sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &own);
  attributes(over, created, sizeof created, sizeof(short), MPI_WIN_FLAVOR_CREATE);
  attributes(own, allocated, n * sizeof(int), 1, MPI_WIN_FLAVOR_ALLOCATE);

  /* both in use at once, the second with displacements in bytes */
  short small = (short)(100 + world_rank);
  int large = 100000 + world_rank;
  MPI_Win_fence(0, over);
  MPI_Win_fence(0, own);
  MPI_Put(&small, 1, MPI_SHORT, right, 17, 1, MPI_SHORT, over);
  MPI_Put(&large, 1, MPI_INT, left, 17 * sizeof(int), 1, MPI_INT, own);
  MPI_Win_fence(0, own);
  MPI_Win_fence(0, over);
  CHECK_EQ(created[17], 100 + left);
  CHECK_EQ(allocated[17], 100000 + right);

  /* only rank 0 offers memory */
  static long workers[64];
  MPI_Win_create(world_rank == 0 ? workers : NULL, world_rank == 0 ? sizeof workers : 0, sizeof(long), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &uneven);
  const long mine = 7 * world_rank;
  MPI_Win_fence(0, uneven);
  MPI_Put(&mine, 1, MPI_LONG, 0, world_rank, 1, MPI_LONG, uneven);
  MPI_Win_fence(0, uneven);
  for (int r = 0; world_rank == 0 && r < world_size; ++r) {
    CHECK_EQ(workers[r], 7 * r);
  }

  /* dynamic: addresses travel by message */
  double *first = calloc(n, sizeof *first), *second = calloc(n, sizeof *second), got[2] = {-1, -1};
  MPI_Aint mine_at[2], theirs_at[2];
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_attach(dynamic, first, n * sizeof *first);
  MPI_Win_attach(dynamic, second, n * sizeof *second);
  for (int i = 0; i < n; ++i) {
    first[i] = world_rank + i * 0.5;
    second[i] = -first[i];
  }
  MPI_Get_address(&first[20], &mine_at[0]);
  MPI_Get_address(&second[40], &mine_at[1]);
  MPI_Sendrecv(mine_at, 2, MPI_AINT, left, 0, theirs_at, 2, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, dynamic);
  MPI_Get(&got[0], 1, MPI_DOUBLE, right, theirs_at[0], 1, MPI_DOUBLE, dynamic);
  MPI_Get(&got[1], 1, MPI_DOUBLE, right, theirs_at[1], 1, MPI_DOUBLE, dynamic);
  MPI_Win_unlock(right, dynamic);
  CHECK(got[0] == right + 10.0);
  CHECK(got[1] == -(right + 20.0));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(dynamic, first);
  MPI_Win_detach(dynamic, second);
  MPI_Win_free(&dynamic);
  MPI_Win_free(&uneven);
  MPI_Win_free(&own);
  MPI_Win_free(&over);
  free(first);
  free(second);
  return finish();
}
