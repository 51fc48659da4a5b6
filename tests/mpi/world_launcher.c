/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What Open MPI's launcher tells its ranks through the environment; applications use it to choose devices before
 * MPI_Init. */
#include "check.h"

int main(int argc, char** argv)
{
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  const char* size = getenv("OMPI_COMM_WORLD_SIZE");
  const char* local_rank = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  const char* local_size = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  begin(&argc, &argv);
  CHECK(rank != NULL && atoi(rank) == world_rank);
  CHECK(size != NULL && atoi(size) == world_size);
  MPI_Comm node;
  int wanted_rank = -1, wanted_size = -1;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &wanted_rank);
  MPI_Comm_size(node, &wanted_size);
  CHECK(local_rank != NULL && atoi(local_rank) == wanted_rank);
  CHECK(local_size != NULL && atoi(local_size) == wanted_size);
  MPI_Comm_free(&node);
  return finish();
}
