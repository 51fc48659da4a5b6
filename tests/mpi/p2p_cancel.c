/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Cancelling a receive: one that nothing will match is cancelled; one that has been matched completes; what follows on
 * the same source and tag goes to the next receive, not to the cancelled one. */
#include "check.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int peer = 1 - world_rank;
  for (int round = 0; round < 20; ++round) {
    int never = -1, wanted = -1, cancelled = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&never, 1, MPI_INT, round % 2 ? peer : MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request);
    CHECK_EQ(MPI_Cancel(&request), MPI_SUCCESS);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled);
    CHECK(request == MPI_REQUEST_NULL);

    MPI_Barrier(MPI_COMM_WORLD); /* both are cancelled before anything with this tag is sent */
    const int value = 10 * round + world_rank;
    MPI_Request incoming;
    MPI_Irecv(&wanted, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &incoming);
    MPI_Send(&value, 1, MPI_INT, peer, 3, MPI_COMM_WORLD);
    MPI_Wait(&incoming, MPI_STATUS_IGNORE);
    CHECK_EQ(wanted, 10 * round + peer);
    CHECK_EQ(never, -1);
  }

  /* matched before it is cancelled */
  int value = 77 + world_rank, got = -1, done = 0, cancelled = 1;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&got, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &request);
  MPI_Ssend(&value, 1, MPI_INT, peer, 4, MPI_COMM_WORLD);
  while (!done) {
    MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  }
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(!cancelled);
  CHECK_EQ(got, 77 + peer);
  return finish();
}
