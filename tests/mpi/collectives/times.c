/* SPDX-License-Identifier: LGPL-2.1-or-later
 * When who may go on: rank r comes r ms later than rank 0 to each collective, and tells how long it took after that, in
 * microseconds. For --cpu none, with models whose times are known. */
#include "../check.h"

#include <time.h>

static double come_at; /* of this rank, to the collective that is under way */

static void stagger(double* begun)
{
  MPI_Barrier(MPI_COMM_WORLD);
  *begun = MPI_Wtime();
  const struct timespec pause = {0, 1000000L * world_rank};
  nanosleep(&pause, NULL);
  come_at = MPI_Wtime();
}

static void tell(const char* what, double begun)
{
  const double now = MPI_Wtime();
  say("%s: %.1f us after it came, %.1f us after the first", what, 1e6 * (now - come_at), 1e6 * (now - begun));
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  int mine[64] = {world_rank}, theirs[64];
  double begun;
  const int root = 1;
#define TIME(what, call)                                                                                               \
  do {                                                                                                                 \
    stagger(&begun);                                                                                                   \
    call;                                                                                                              \
    tell(what, begun);                                                                                                 \
  } while (0)
  TIME("barrier", MPI_Barrier(MPI_COMM_WORLD));
  TIME("bcast", MPI_Bcast(mine, 1, MPI_INT, root, MPI_COMM_WORLD));
  TIME("scatter", MPI_Scatter(mine, 1, MPI_INT, theirs, 1, MPI_INT, root, MPI_COMM_WORLD));
  TIME("reduce", MPI_Reduce(mine, theirs, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
  TIME("gather", MPI_Gather(mine, 1, MPI_INT, theirs, 1, MPI_INT, root, MPI_COMM_WORLD));
  TIME("allreduce", MPI_Allreduce(mine, theirs, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  TIME("alltoall", MPI_Alltoall(mine, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD));
  TIME("scan", MPI_Scan(mine, theirs, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  TIME("exscan", MPI_Exscan(mine, theirs, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));

  /* What is computed meanwhile takes no time more: 2 ms after its beginning the last has come. */
  stagger(&begun);
  MPI_Request request;
  MPI_Iallreduce(mine, theirs, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  tell("iallreduce begun", begun);
  const struct timespec work = {0, 5000000L};
  nanosleep(&work, NULL);
  const double before = MPI_Wtime();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  say("iallreduce waited for: %.1f us", 1e6 * (MPI_Wtime() - before));
  return finish();
}
