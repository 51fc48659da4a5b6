/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What the loops of mpi_loops share: how often, how large, with what memory. */
#pragma once

#include <mpi.h>
#include <stddef.h>

enum { most_requests = 1024 };

struct job {
  int rank;
  int ranks;
  int window;
  int repetitions; /* that count */
  int warm_up;     /* before them */
  size_t size;     /* bytes of a message, or that a rank gives to a collective (to each rank, where these differ) */
  char* out;
  char* in;
  int* counts; /* one per rank each, for the collectives that take them */
  int* offsets;
  MPI_Datatype* types;
};

/* Starts a collective, or does it where `request` is null. */
typedef void collective(const struct job* job, MPI_Request* request);
/* Does the rest of one that the program does itself, turn by turn. */
typedef void remainder_of(const struct job* job);

struct benchmark {
  const char* name;
  /* Of a pair of ranks: what rank 0 has measured, MB/s or us. Of all ranks: NULL. */
  double (*pair)(const struct job* job);
  collective* call;
  remainder_of* finish;                 /* or NULL: MPI does it, and MPI_Wait waits for it */
  void (*share)(const struct job* job); /* fills counts, offsets and types; or NULL */
  size_t least;                         /* smallest size; the others are multiples of it */
  int one_out_each, one_in_each;        /* `out`, `in` hold one message per rank */
};

extern const struct benchmark benchmarks[]; /* up to one without a name */

/* pairs.c */
double half_round_trip(const struct job* job);
double bandwidth(const struct job* job);
double bandwidth_both_ways(const struct job* job);

/* timing.c: us per call, mean of all ranks, at rank 0. */
double time_alone(const struct job* job, collective* call);
double time_overlapped(const struct job* job, const struct benchmark* benchmark);

/* pairwise.c */
collective pairwise;
remainder_of finish_pairwise;
