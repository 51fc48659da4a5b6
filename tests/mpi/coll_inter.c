/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Collectives between the two groups of an intercommunicator. */
#include "collective.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int upper = world_rank >= world_size / 3; /* groups of different size */
  const int first_upper = world_size / 3;
  MPI_Comm local, inter;
  int local_rank, local_size, remote_size;
  MPI_Comm_split(MPI_COMM_WORLD, upper, world_rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, upper ? 0 : first_upper, 12, &inter);
  MPI_Comm_rank(inter, &local_rank);
  MPI_Comm_size(inter, &local_size);
  MPI_Comm_remote_size(inter, &remote_size);
  CHECK_EQ(local_size + remote_size, world_size);
  const int remote_first = upper ? 0 : first_upper;

  COLLECTIVE(Barrier, Ibarrier, inter);

  int value = world_rank == 0 ? 4711 : -1; /* rank 0 of the lower group to all of the upper one */
  const int root = upper ? 0 : (local_rank == 0 ? MPI_ROOT : MPI_PROC_NULL);
  COLLECTIVE(Bcast, Ibcast, &value, 1, MPI_INT, root, inter);
  CHECK_EQ(value, upper || world_rank == 0 ? 4711 : -1);

  int* all = malloc(world_size * sizeof *all);
  COLLECTIVE(Allgather, Iallgather, &world_rank, 1, MPI_INT, all, 1, MPI_INT, inter);
  for (int i = 0; i < remote_size; ++i) {
    CHECK_EQ(all[i], remote_first + i);
  }

  int sum = -1, wanted = 0; /* everybody gets the sum over the other group */
  COLLECTIVE(Allreduce, Iallreduce, &world_rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  for (int i = 0; i < remote_size; ++i) {
    wanted += remote_first + i;
  }
  CHECK_EQ(sum, wanted);

  int* out = malloc(world_size * sizeof *out);
  for (int i = 0; i < remote_size; ++i) {
    out[i] = world_rank * 100 + remote_first + i;
  }
  COLLECTIVE(Alltoall, Ialltoall, out, 1, MPI_INT, all, 1, MPI_INT, inter);
  for (int i = 0; i < remote_size; ++i) {
    CHECK_EQ(all[i], (remote_first + i) * 100 + world_rank);
  }

  memset(all, 0xff, world_size * sizeof *all);
  COLLECTIVE(Gather, Igather, &world_rank, 1, MPI_INT, all, 1, MPI_INT, root, inter);
  if (root == MPI_ROOT) {
    for (int i = 0; i < remote_size; ++i) {
      CHECK_EQ(all[i], remote_first + i);
    }
  }
  free(out);
  free(all);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
  return finish();
}
