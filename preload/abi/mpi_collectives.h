/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the shim (preload/mpi/) and the runtime tell each other of collectives whose time is a model's (--collectives).
 * Addresses are those of the rank's memory. */
#pragma once

#include <stdint.h>

/* Collectives that a model can stand for, in the order of their names: the function, its nonblocking form, what the
 * user calls it. The barrier, which has no counts, is a row of its own. */
#define UMW_COLLECTIVES_AND(row, barrier_row)                                                                          \
  row(Allgather, Iallgather, allgather) row(Allgatherv, Iallgatherv, allgatherv) row(Allreduce, Iallreduce, allreduce) \
      row(Alltoall, Ialltoall, alltoall) row(Alltoallv, Ialltoallv, alltoallv) row(Alltoallw, Ialltoallw, alltoallw)   \
          barrier_row(Barrier, Ibarrier, barrier) row(Bcast, Ibcast, bcast) row(Exscan, Iexscan, exscan)               \
              row(Gather, Igather, gather) row(Gatherv, Igatherv, gatherv) row(Reduce, Ireduce, reduce)                \
                  row(Reduce_scatter, Ireduce_scatter, reduce_scatter)                                                 \
                      row(Reduce_scatter_block, Ireduce_scatter_block, reduce_scatter_block) row(Scan, Iscan, scan)    \
                          row(Scatter, Iscatter, scatter) row(Scatterv, Iscatterv, scatterv)
#define UMW_COLLECTIVES(row) UMW_COLLECTIVES_AND(row, row)

enum umw_collective_function {
#define UMW_COLLECTIVE(name, nonblocking, lower) UMW_COLLECTIVE_##name,
  UMW_COLLECTIVES(UMW_COLLECTIVE)
#undef UMW_COLLECTIVE
      UMW_COLLECTIVE_FUNCTIONS
};

/* A piece of memory of each member, in bytes from the base. */
struct umw_part {
  int64_t offset;
  uint64_t bytes;
};

/* What goes to each member, or comes from each, without gaps in a piece: elements as MPI_Pack writes them. */
struct umw_parts {
  uint64_t base;
  uint64_t bytes; /* of each, one behind the other; if there is only one, of that */
  uint64_t parts; /* in place of that, the address of as many umw_part as there are members; 0: there are none */
};

enum umw_collective_how {
  UMW_COLLECTIVE_BLOCKS = 1,     /* the call returns when it is over for the rank */
  UMW_COLLECTIVE_SENDS = 2,      /* `send` counts */
  UMW_COLLECTIVE_RECEIVES = 4,   /* `receive` counts */
  UMW_COLLECTIVE_OVERWRITES = 8, /* what is received takes the place of what is sent */
  UMW_COLLECTIVE_REDUCES = 16 /* `send` is one vector, which is combined with those of the others in order of ranks */
};

struct umw_collective {
  uint32_t communicator; /* umw_collective_join */
  uint32_t function;     /* enum umw_collective_function */
  uint32_t called;       /* enum umw_mpi_function: what the program has called */
  uint32_t how;          /* enum umw_collective_how, or'ed */
  int32_t member;        /* number of the rank in the communicator */
  int32_t root;          /* -1: there is none */
  uint64_t bytes;        /* that the rank hands over, in all */
  uint64_t result;       /* of a reduction: where in the result what it receives begins */
  struct umw_parts send, receive;
};

/* What umw_collective_begin and umw_collective_wait return: the number of the collective of the rank times 8, and one
 * of these. */
enum umw_collective_state {
  UMW_COLLECTIVE_OVER,    /* for this rank; the number is no longer one */
  UMW_COLLECTIVE_PENDING, /* it is not */
  UMW_COLLECTIVE_LOOK,    /* it is not, and the MPI library has something to look at before the rank waits on */
  UMW_COLLECTIVE_POLL,    /* it is not, and the rank is to wait in the library's way, which looks at memory of the node,
                             too, until umw_gate::collective_news grows */
  UMW_COLLECTIVE_REDUCE   /* the rank is to combine vectors: umw_collective_vectors, umw_collective_reduced */
};
#define UMW_COLLECTIVE_STATES 8
