/* SPDX-License-Identifier: LGPL-2.1-or-later
 * MPI_Alltoall as the pairwise algorithm does it: in turn k, each rank sends to the one k above it and receives from
 * the one k below. Nonblocking, as libnbc would do it: the first turn is under way while the program computes, and all
 * others follow when it waits. */
#include "loops.h"

#include <string.h>

static MPI_Request exchange[2];

static void take_turn(const struct job* job, int turn)
{
  const int to = (job->rank + turn) % job->ranks;
  const int from = (job->rank - turn + job->ranks) % job->ranks;
  MPI_Irecv(job->in + (size_t)from * job->size, (int)job->size, MPI_CHAR, from, 0, MPI_COMM_WORLD, &exchange[0]);
  MPI_Isend(job->out + (size_t)to * job->size, (int)job->size, MPI_CHAR, to, 0, MPI_COMM_WORLD, &exchange[1]);
}

void pairwise(const struct job* job, MPI_Request* request)
{
  const size_t own = (size_t)job->rank * job->size;
  memcpy(job->in + own, job->out + own, job->size);
  take_turn(job, 1);
  if (request)
    *request = MPI_REQUEST_NULL;
  else
    finish_pairwise(job);
}

void finish_pairwise(const struct job* job)
{
  for (int turn = 1; turn < job->ranks; ++turn) {
    MPI_Waitall(2, exchange, MPI_STATUSES_IGNORE);
    if (turn + 1 < job->ranks)
      take_turn(job, turn + 1);
  }
}
