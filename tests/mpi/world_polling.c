/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Loops that only look: at a request, at the clock, and at both; each must end when what it waits for has happened. */
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  int token = -1, done = 0;
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    usleep(50000); /* the others poll all that time */
    for (int r = 1; r < world_size; ++r) {
      MPI_Send(&r, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
    }
  } else {
    const double start = MPI_Wtime();
    MPI_Irecv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    while (!done) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    CHECK_EQ(token, world_rank);
    CHECK(MPI_Wtime() - start > 0.01);
  }

  const double until = MPI_Wtime() + 0.02; /* nothing but time passes */
  while (MPI_Wtime() < until) {
  }
  CHECK(MPI_Wtime() >= until);

  /* give up after a while: a message that never comes, a limit that does */
  MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request);
  const double limit = MPI_Wtime() + 0.02;
  done = 0;
  while (!done && MPI_Wtime() < limit) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  CHECK(!done);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  /* the same, but the message comes in time */
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    usleep(10000);
    for (int r = 1; r < world_size; ++r) {
      MPI_Send(&r, 1, MPI_INT, r, 1, MPI_COMM_WORLD);
    }
  } else {
    const double far = MPI_Wtime() + 20;
    int found = 0;
    while (!found && MPI_Wtime() < far) {
      MPI_Iprobe(0, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
    CHECK(found);
    MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return finish();
}
