/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Splitting and duplicating communicators: order by key, MPI_UNDEFINED, split by node, contexts that keep messages
 * apart. */
#include "check.h"

static int sum_over(MPI_Comm communicator)
{
  int sum = -1;
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, communicator);
  return sum;
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  MPI_Comm thirds, reversed, evens, copy, later, node;
  int rank = -1, size = -1, wanted = 0;

  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 3, world_rank, &thirds);
  MPI_Comm_rank(thirds, &rank);
  CHECK_EQ(rank, world_rank / 3);
  for (int r = world_rank % 3; r < world_size; r += 3) {
    wanted += r;
  }
  CHECK_EQ(sum_over(thirds), wanted);

  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
  MPI_Comm_rank(reversed, &rank);
  CHECK_EQ(rank, world_size - 1 - world_rank);
  int compared = -1;
  MPI_Comm_compare(MPI_COMM_WORLD, reversed, &compared);
  CHECK_EQ(compared, MPI_SIMILAR);

  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2 ? MPI_UNDEFINED : 0, 0, &evens);
  CHECK_EQ(evens == MPI_COMM_NULL, world_rank % 2);
  if (evens != MPI_COMM_NULL) {
    MPI_Comm_size(evens, &size);
    CHECK_EQ(size, (world_size + 1) / 2);
    MPI_Comm_free(&evens);
  }

  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_idup(copy, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_compare(copy, later, &compared);
  CHECK_EQ(compared, MPI_CONGRUENT);
  MPI_Comm_compare(copy, copy, &compared);
  CHECK_EQ(compared, MPI_IDENT);

  /* Same tag, same peer, three communicators: received in the opposite order of sending. */
  const MPI_Comm all[3] = {MPI_COMM_WORLD, copy, later};
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  MPI_Request sends[3];
  int values[3];
  for (int c = 0; c < 3; ++c) {
    values[c] = 100 * c + world_rank;
    MPI_Isend(&values[c], 1, MPI_INT, right, 6, all[c], &sends[c]);
  }
  for (int c = 2; c >= 0; --c) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, left, 6, all[c], MPI_STATUS_IGNORE);
    CHECK_EQ(got, 100 * c + left);
  }
  MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);

  /* All of one node, whichever that is: they must agree on the processor's name. */
  char name[MPI_MAX_PROCESSOR_NAME] = "", first[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Get_processor_name(name, &length);
  memcpy(first, name, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, node);
  CHECK(strcmp(first, name) == 0);

  MPI_Comm_free(&node);
  MPI_Comm_free(&later);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&thirds);
  CHECK(thirds == MPI_COMM_NULL);
  return finish();
}
