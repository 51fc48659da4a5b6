/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Intercommunicators: made from two halves, used for messages, merged in either order, duplicated and split. */
#include "check.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int half = world_size / 2, upper = world_rank >= half;
  MPI_Comm local, inter, merged, copy, part;
  MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, upper ? 0 : half, 3, &inter);
  int is_inter = 0, rank = -1, size = -1, remote_size = -1;
  MPI_Comm_test_inter(inter, &is_inter);
  CHECK(is_inter);
  MPI_Comm_test_inter(local, &is_inter);
  CHECK(!is_inter);
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_size(inter, &size);
  MPI_Comm_remote_size(inter, &remote_size);
  CHECK_EQ(rank, upper ? world_rank - half : world_rank);
  CHECK_EQ(size, upper ? world_size - half : half);
  CHECK_EQ(remote_size, upper ? half : world_size - half);

  /* A rank number in an intercommunicator means the other side. */
  if (rank < remote_size && rank < size) {
    int got = -1;
    MPI_Sendrecv(&world_rank, 1, MPI_INT, rank, 1, &got, 1, MPI_INT, rank, 1, inter, MPI_STATUS_IGNORE);
    CHECK_EQ(got, upper ? rank : half + rank);
  }

  MPI_Intercomm_merge(inter, upper, &merged); /* the lower half first */
  MPI_Comm_rank(merged, &rank);
  CHECK_EQ(rank, world_rank);
  MPI_Comm_free(&merged);
  MPI_Intercomm_merge(inter, !upper, &merged); /* the upper half first */
  MPI_Comm_rank(merged, &rank);
  CHECK_EQ(rank, upper ? world_rank - half : world_rank + world_size - half);
  int sum = 0;
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, merged);
  CHECK_EQ(sum, world_size * (world_size - 1) / 2);
  MPI_Comm_free(&merged);

  MPI_Comm_dup(inter, &copy);
  MPI_Group remote;
  MPI_Comm_remote_group(copy, &remote);
  MPI_Group_size(remote, &size);
  CHECK_EQ(size, remote_size);
  MPI_Group_free(&remote);
  MPI_Comm_split(copy, world_rank % 2, 0, &part); /* still two sides, odd and even ones */
  if (part != MPI_COMM_NULL) {
    MPI_Comm_test_inter(part, &is_inter);
    CHECK(is_inter);
    MPI_Comm_free(&part);
  }
  MPI_Comm_free(&copy);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
  return finish();
}
