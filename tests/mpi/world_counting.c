/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Loops that look so many times and then go on, while nothing can come: the other ranks wait for the one that counts.
 * It counts in a register or on its stack, in memory that is not looked at, or both ranks count, one further than the
 * other. Argument `test`: MPI_Test alone. */
#include "check.h"

static long counter; /* in the program's data */

static int found_by_probing(long times)
{
  int found = 0, flag = 0;
  for (long i = 0; i < times; ++i) {
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    found += flag;
  }
  return found;
}

static int done_by_testing(long times)
{
  int token, done = 0;
  MPI_Request request;
  MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
  for (counter = 0; counter < times && !done; ++counter) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return done;
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int who = 0; argc == 1 && who < 2; ++who) {
    if (world_rank == who) {
      CHECK_EQ(found_by_probing(300000), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (world_rank == 0) {
    CHECK_EQ(done_by_testing(300000), 0);
    CHECK_EQ(counter, 300000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc == 1) {
    CHECK_EQ(found_by_probing(world_rank == 0 ? 300000 : 30000), 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return finish();
}
