/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A receive from any source, one of which dies: it is told, and, when that has been acknowledged, goes on for the
 * others. Sends to the dead fail. */
#include "ft.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int last = world_size - 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == last)
    die("kill");
  int got = -1, from = -1, acknowledged = 0, dead = 0;
  if (world_rank == 0) {
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request);
    CHECK_EQ(class_of(MPI_Wait(&request, &status)), MPIX_ERR_PROC_FAILED_PENDING);
    CHECK(request != MPI_REQUEST_NULL);
    CHECK_EQ(class_of(MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status)), MPIX_ERR_PROC_FAILED);
    CHECK_EQ(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 1, &acknowledged), MPI_SUCCESS);
    CHECK_EQ(acknowledged, 1);
    CHECK_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
    CHECK_EQ(got, 10 + status.MPI_SOURCE);
    for (int i = 2; i < last; ++i) {
      CHECK_EQ(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status), MPI_SUCCESS);
      CHECK_EQ(got, 10 + status.MPI_SOURCE);
    }
    CHECK_EQ(class_of(MPI_Send(&got, 1, MPI_INT, last, 4, MPI_COMM_WORLD)), MPIX_ERR_PROC_FAILED);
  } else {
    CHECK_EQ(class_of(MPI_Recv(&from, 1, MPI_INT, last, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)), MPIX_ERR_PROC_FAILED);
    usleep(30000); /* what comes before the first rank waits again, Open MPI 5.0.7 still reports as pending */
    got = 10 + world_rank;
    CHECK_EQ(MPI_Send(&got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD), MPI_SUCCESS);
  }
  MPI_Comm rest;
  CHECK_EQ(MPIX_Comm_shrink(MPI_COMM_WORLD, &rest), MPI_SUCCESS);
  check_whole(rest, last, last * (last - 1) / 2);
  MPI_Group failed, world;
  CHECK_EQ(MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed), MPI_SUCCESS);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_size(failed, &dead);
  CHECK_EQ(dead, 1);
  const int first = 0;
  MPI_Group_translate_ranks(failed, 1, &first, world, &dead);
  CHECK_EQ(dead, last);
  MPI_Group_free(&failed);
  MPI_Group_free(&world);
  MPI_Comm_free(&rest);
  return finish();
}
