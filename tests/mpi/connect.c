/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Two halves of a job find each other by a published name and connect, three times; names that nobody has published, or
 * that were taken back. */
#include "check.h"

static int error_class(int code)
{
  int class;
  MPI_Error_class(code, &class);
  return class;
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int server = world_rank < world_size / 2;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, server, 0, &half);
  int rank;
  int size;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  char port[MPI_MAX_PORT_NAME] = "";
  char other[MPI_MAX_PORT_NAME] = "";
  char name[64];

  snprintf(name, sizeof name, "umwelt-test-nobody-%d", world_rank);
  CHECK_EQ(error_class(MPI_Lookup_name(name, MPI_INFO_NULL, other)), MPI_ERR_NAME);

  for (int turn = 0; turn < 3; ++turn) {
    snprintf(name, sizeof name, "umwelt-test-%d", turn);
    if (server && rank == 0) {
      CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
      CHECK_EQ(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!server && rank == 0)
      CHECK_EQ(MPI_Lookup_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
    MPI_Comm both;
    if (server)
      CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &both), MPI_SUCCESS);
    else
      CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &both), MPI_SUCCESS);
    int remote;
    MPI_Comm_remote_size(both, &remote);
    CHECK_EQ(remote, world_size - size);
    int sum = 0;
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, both);
    const int low = world_size / 2 * (world_size / 2 - 1) / 2;
    CHECK_EQ(sum, server ? world_size * (world_size - 1) / 2 - low : low);
    MPI_Comm_disconnect(&both);
    MPI_Barrier(MPI_COMM_WORLD);
    if (server && rank == 0) {
      CHECK_EQ(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
      CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(error_class(MPI_Lookup_name(name, MPI_INFO_NULL, other)), MPI_ERR_NAME);
  }
  MPI_Comm_free(&half);
  return finish();
}
