/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Which benchmarks there are. The root is rank 0, sums are of floats. */
#include "loops.h"

static int bytes(const struct job* job)
{
  return (int)job->size;
}

static int floats(const struct job* job)
{
  return (int)(job->size / sizeof(float));
}

/* Blocking and nonblocking from one list of arguments. */
#define COLLECTIVE(name, blocking, nonblocking, ...)                                                                   \
  static void name(const struct job* job, MPI_Request* request)                                                        \
  {                                                                                                                    \
    if (request)                                                                                                       \
      nonblocking(__VA_ARGS__, request);                                                                               \
    else                                                                                                               \
      blocking(__VA_ARGS__);                                                                                           \
  }
#define OUT job->out, bytes(job), MPI_CHAR
#define IN job->in, bytes(job), MPI_CHAR
#define OUT_SHARES job->out, job->counts, job->offsets, MPI_CHAR
#define IN_SHARES job->in, job->counts, job->offsets, MPI_CHAR
#define SUM floats(job), MPI_FLOAT, MPI_SUM
#define ROOT 0, MPI_COMM_WORLD

COLLECTIVE(allgather, MPI_Allgather, MPI_Iallgather, OUT, IN, MPI_COMM_WORLD)
COLLECTIVE(allgatherv, MPI_Allgatherv, MPI_Iallgatherv, OUT, IN_SHARES, MPI_COMM_WORLD)
COLLECTIVE(allreduce, MPI_Allreduce, MPI_Iallreduce, job->out, job->in, SUM, MPI_COMM_WORLD)
COLLECTIVE(alltoall, MPI_Alltoall, MPI_Ialltoall, OUT, IN, MPI_COMM_WORLD)
COLLECTIVE(alltoallv, MPI_Alltoallv, MPI_Ialltoallv, OUT_SHARES, IN_SHARES, MPI_COMM_WORLD)
COLLECTIVE(alltoallw, MPI_Alltoallw, MPI_Ialltoallw, job->out, job->counts, job->offsets, job->types, job->in,
           job->counts, job->offsets, job->types, MPI_COMM_WORLD)
COLLECTIVE(bcast, MPI_Bcast, MPI_Ibcast, OUT, ROOT)
COLLECTIVE(gather, MPI_Gather, MPI_Igather, OUT, IN, ROOT)
COLLECTIVE(gatherv, MPI_Gatherv, MPI_Igatherv, OUT, IN_SHARES, ROOT)
COLLECTIVE(reduce, MPI_Reduce, MPI_Ireduce, job->out, job->in, SUM, ROOT)
COLLECTIVE(reduce_scatter, MPI_Reduce_scatter, MPI_Ireduce_scatter, job->out, job->in, job->counts, MPI_FLOAT, MPI_SUM,
           MPI_COMM_WORLD)
COLLECTIVE(scatter, MPI_Scatter, MPI_Iscatter, OUT, IN, ROOT)
COLLECTIVE(scatterv, MPI_Scatterv, MPI_Iscatterv, OUT_SHARES, IN, ROOT)

static void barrier(const struct job* job, MPI_Request* request)
{
  (void)job;
  if (request)
    MPI_Ibarrier(MPI_COMM_WORLD, request);
  else
    MPI_Barrier(MPI_COMM_WORLD);
}

static void size_each(const struct job* job)
{
  for (int i = 0; i < job->ranks; ++i) {
    job->counts[i] = bytes(job);
    job->offsets[i] = i * bytes(job);
    job->types[i] = MPI_CHAR;
  }
}

/* The floats in equal shares, what is left over to the first ranks. */
static void floats_in_all(const struct job* job)
{
  for (int i = 0; i < job->ranks; ++i)
    job->counts[i] = floats(job) / job->ranks + (i < floats(job) % job->ranks);
}

enum { floats_only = sizeof(float) };

const struct benchmark benchmarks[] = {
    {"latency", half_round_trip, NULL, NULL, NULL, 1, 0, 0},
    {"bw", bandwidth, NULL, NULL, NULL, 1, 0, 0},
    {"bibw", bandwidth_both_ways, NULL, NULL, NULL, 1, 0, 0},
    {"allgather", NULL, allgather, NULL, NULL, 1, 0, 1},
    {"allgatherv", NULL, allgatherv, NULL, size_each, 1, 0, 1},
    {"allreduce", NULL, allreduce, NULL, NULL, floats_only, 0, 0},
    {"alltoall", NULL, alltoall, NULL, NULL, 1, 1, 1},
    {"alltoall_pairwise", NULL, pairwise, finish_pairwise, NULL, 1, 1, 1},
    {"alltoallv", NULL, alltoallv, NULL, size_each, 1, 1, 1},
    {"alltoallw", NULL, alltoallw, NULL, size_each, 1, 1, 1},
    {"barrier", NULL, barrier, NULL, NULL, 0, 0, 0},
    {"bcast", NULL, bcast, NULL, NULL, 1, 0, 0},
    {"gather", NULL, gather, NULL, NULL, 1, 0, 1},
    {"gatherv", NULL, gatherv, NULL, size_each, 1, 0, 1},
    {"reduce", NULL, reduce, NULL, NULL, floats_only, 0, 0},
    {"reduce_scatter", NULL, reduce_scatter, NULL, floats_in_all, floats_only, 0, 0},
    {"scatter", NULL, scatter, NULL, NULL, 1, 1, 0},
    {"scatterv", NULL, scatterv, NULL, size_each, 1, 1, 0},
    {NULL, NULL, NULL, NULL, NULL, 0, 0, 0},
};
