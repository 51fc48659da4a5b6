/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the shim of --mpi-calls (preload/mpi/) tells the runtime of a rank's calls of MPI. It writes, the runtime reads:
 * a call of MPI crosses nothing. */
#pragma once

#include <stdint.h>

/* One for each row of the table; functions that the rank has called are told by these. */
enum umw_mpi_function {
  UMW_MPI_NONE,
#define UMW_MPI(name, class, arity, ...) UMW_MPI_##name,
#include "preload/abi/tables/mpi.def"
#undef UMW_MPI
  UMW_MPI_FUNCTIONS
};

/* Of the table. */
enum umw_mpi_class {
  UMW_MPI_management,
  UMW_MPI_point_to_point, /* sends and receives, and their beginnings */
  UMW_MPI_completion,     /* of requests; probes */
  UMW_MPI_collective,
  UMW_MPI_one_sided,
  UMW_MPI_io,
  UMW_MPI_clock /* they return a double */
};

/* Who is at the other end of a call: a rank of MPI_COMM_WORLD by its number, or */
enum umw_mpi_peer {
  UMW_MPI_NO_PEER = -1,   /* nobody, */
  UMW_MPI_ANY = -2,       /* MPI_ANY_SOURCE, */
  UMW_MPI_ELSEWHERE = -3, /* a rank of another job, */
  UMW_MPI_ALL = -4,       /* the members of the communicator, */
  UMW_MPI_SEVERAL = -5    /* or whoever several requests are about */
};
enum { UMW_MPI_ANY_TAG = -1, UMW_MPI_NO_TAG = -2 }; /* tags are never negative */

enum { UMW_MPI_CALLS = 8, UMW_MPI_LABEL = 64 };

/* A call of MPI that a thread of the rank is in. */
struct umw_mpi_call {
  uint32_t function; /* enum umw_mpi_function; UMW_MPI_NONE: the place is free */
  uint32_t began_by; /* a completion: the function that began the request; else UMW_MPI_NONE */
  int32_t tid;
  int32_t peer;    /* enum umw_mpi_peer */
  int32_t peer_of; /* its number in the communicator, as the program knows it */
  int32_t tag;
  int32_t receives;  /* the rank waits for a message, rather than for one to be taken */
  uint32_t requests; /* how many it waits for */
  int64_t since_ps;  /* simulated time of its entry */
  uint64_t members;  /* ranks of MPI_COMM_WORLD that are in the communicator, as int32_t, in the rank's memory; */
  uint32_t size;     /* so many */
  uint32_t turn;     /* how many collectives the rank has begun on the communicator */
  char communicator[UMW_MPI_LABEL];
};

/* What is counted: two hash tables, whose entries tell by `what` what they are of; 0: none. */
enum umw_mpi_count_kind {
  UMW_MPI_COUNT_SITE = 1,    /* calls of a function from one place; detail: the address behind the call */
  UMW_MPI_COUNT_SIZE,        /* calls of a function that hand over so much; detail: 0, or k: 2^(k-1) to 2^k - 1 bytes */
  UMW_MPI_COUNT_PEER,        /* messages to a rank (no function); detail: its number in MPI_COMM_WORLD, */
  UMW_MPI_COUNT_COMMUNICATOR /* collectives on a communicator; detail: index of its label */
};
#define UMW_MPI_PEER_ELSEWHERE UINT32_MAX /* in place of that number: of another job */

#define UMW_MPI_WHAT(kind, function, detail) ((uint64_t)(kind) << 60 | (uint64_t)(function) << 48 | (uint64_t)(detail))
#define UMW_MPI_KIND_OF(what) ((uint32_t)((what) >> 60))
#define UMW_MPI_FUNCTION_OF(what) ((uint32_t)((what) >> 48) & 0xfff)
#define UMW_MPI_DETAIL_OF(what) ((what)&0xffffffffffff)

struct umw_mpi_count {
  uint64_t what;
  uint64_t calls;
  uint64_t bytes; /* handed over to be sent or written */
};
struct umw_mpi_timed_count {
  struct umw_mpi_count count;
  int64_t time_ps;   /* simulated, in the calls; */
  int64_t waited_ps; /* of that, blocked; */
  int64_t late_ps;   /* of that, before others had begun what it waited for */
};

struct umw_mpi_counts {
  struct umw_mpi_count* counts; /* by sizes and peers, */
  uint64_t capacity;
  struct umw_mpi_timed_count* timed; /* by places and communicators */
  uint64_t timed_capacity;
  char (*labels)[UMW_MPI_LABEL];
};
