/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The collectives that collbench knows: their arguments, what is sent, and what must come out of it.
 *
 * `size` is what the count of the call stands for, in bytes: of a vector (bcast, reduce, allreduce, scan, exscan), of
 * what goes to or comes from each of the ranks (all others). Reductions add integers, of four bytes where that fits.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct call;

struct function {
  const char* name;
  int (*perform)(const struct call* call);
  /* Elements of the blocks that are sent and received, a block being `size` bytes: 1, or as many as there are ranks. */
  bool sends_to_all;
  bool receives_from_all;
  /* What the received block `block` of this rank has at `place`, and whether that is defined at all. */
  bool (*expected)(const struct call* call, int block, size_t place, long* value);
};

struct call {
  const struct function* function;
  int rank;
  int ranks;
  int count;         /* elements of a block */
  MPI_Datatype type; /* MPI_INT or MPI_UNSIGNED_CHAR */
  void* sent;
  void* received;
  int* counts;        /* for functions that take one for each rank */
  int* displacements; /* likewise */
};

/* NULL: there is none of that name. */
const struct function* find_function(const char* name);

/* False: no memory. */
bool make_call(struct call* call, const struct function* function, size_t size, int rank, int ranks);
void free_call(struct call* call);

/* What is sent into the one buffer, what is nowhere sent into the other. */
void fill(const struct call* call);
bool is_right(const struct call* call);
