/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Every collective, on the world, on a part of it, on one whose ranks are in another order and on one of a single rank:
 * with elements that lie one behind the other, with gaps, and with types inside of each other; in place; with an
 * operation that is not commutative. What comes out is written, to be compared with what comes out natively. */
#include "../collective.h"

#include <stddef.h>

enum { n = 6, most = 16, room = 4096 };

/* A hash of what came, whole: what must not be touched is part of it. */
static void tell(const char* what, const char* where, const void* data, size_t size)
{
  unsigned long long hash = 1469598103934665603ULL;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ ((const unsigned char*)data)[i]) * 1099511628211ULL;
  say("%s on %s: %016llx", what, where, hash);
}

/* x -> a x + b, one after the other */
static void compose(void* in, void* inout, int* length, MPI_Datatype* type)
{
  (void)type;
  const int *first = in, *end = first + 2 * (ptrdiff_t)*length;
  for (int* second = inout; first < end; first += 2, second += 2) {
    const int a = first[0] * second[0] % 1009, b = (second[0] * first[1] + second[1]) % 1009;
    second[0] = a;
    second[1] = b;
  }
}

/* The same for elements with a gap between their two numbers. */
static void compose_apart(void* in, void* inout, int* length, MPI_Datatype* type)
{
  (void)type;
  const int *first = in, *end = first + 4 * (ptrdiff_t)*length;
  for (int* second = inout; first < end; first += 4, second += 4) {
    const int a = first[0] * second[0] % 1009, b = (second[0] * first[2] + second[2]) % 1009;
    second[0] = a;
    second[2] = b;
  }
}

static int mine[room], theirs[room];

static void fresh(int rank)
{
  for (int i = 0; i < room; ++i) {
    mine[i] = (rank * 131 + i * 17) % 1000 + 1;
    theirs[i] = -1 - i;
  }
}

struct shape {
  const char* name;
  MPI_Datatype type; /* of whole elements, each `ints` of memory from the next */
  int ints;
};

static void move_data(MPI_Comm comm, const char* where, const struct shape* shape)
{
  int rank, size, counts[most], offsets[most], bytes[most], sends[most], send_offsets[most], send_bytes[most];
  MPI_Datatype types[most];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  char name[100];
  int all = 0;
  for (int i = 0, at = 1; i < size; ++i) {
    counts[i] = i % 3 + (i == 1 ? 0 : 1);
    offsets[i] = at;
    at += counts[i] + 1;
    all += counts[i];
  }
#define RESULT(what)                                                                                                   \
  do {                                                                                                                 \
    snprintf(name, sizeof name, "%s of %s", what, shape->name);                                                        \
    tell(name, where, theirs, sizeof theirs);                                                                          \
    fresh(rank);                                                                                                       \
  } while (0)
  fresh(rank);
  COLLECTIVE(Barrier, Ibarrier, comm);
  const int root = size / 2;
  COLLECTIVE(Bcast, Ibcast, rank == root ? mine : theirs, n, shape->type, root, comm);
  RESULT("bcast");
  COLLECTIVE(Gather, Igather, mine, n, shape->type, theirs, n, shape->type, root, comm);
  RESULT("gather");
  COLLECTIVE(Gather, Igather, rank == root ? MPI_IN_PLACE : mine, n, shape->type, theirs, n, shape->type, root, comm);
  RESULT("gather in place");
  COLLECTIVE(Gatherv, Igatherv, mine, counts[rank], shape->type, theirs, counts, offsets, shape->type, root, comm);
  RESULT("gatherv");
  COLLECTIVE(Scatter, Iscatter, mine, n, shape->type, theirs, n, shape->type, root, comm);
  RESULT("scatter");
  COLLECTIVE(Scatter, Iscatter, mine, n, shape->type, rank == root ? MPI_IN_PLACE : theirs, n, shape->type, root, comm);
  RESULT("scatter in place");
  COLLECTIVE(Scatterv, Iscatterv, mine, counts, offsets, shape->type, theirs, counts[rank], shape->type, root, comm);
  RESULT("scatterv");
  COLLECTIVE(Allgather, Iallgather, mine, n, shape->type, theirs, n, shape->type, comm);
  RESULT("allgather");
  COLLECTIVE(Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, theirs, n, shape->type, comm);
  RESULT("allgather in place");
  if (size > 1) /* with one rank MPICH 4.0.2 forgets the displacement */
    COLLECTIVE(Allgatherv, Iallgatherv, mine, counts[rank], shape->type, theirs, counts, offsets, shape->type, comm);
  RESULT("allgatherv");
  COLLECTIVE(Allgatherv, Iallgatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, theirs, counts, offsets, shape->type, comm);
  RESULT("allgatherv in place");
  COLLECTIVE(Alltoall, Ialltoall, mine, n, shape->type, theirs, n, shape->type, comm);
  RESULT("alltoall");
  COLLECTIVE(Alltoall, Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, theirs, n, shape->type, comm);
  RESULT("alltoall in place");
  /* what i sends to j: (i + j) % 4 elements */
  for (int i = 0, at = 2, send_at = 0; i < size; ++i) {
    sends[i] = counts[i] = (rank + i) % 4;
    send_offsets[i] = send_at;
    offsets[i] = at;
    at += counts[i] + i % 2;
    send_at += sends[i] + 1;
    send_bytes[i] = send_offsets[i] * shape->ints * (int)sizeof(int);
    bytes[i] = offsets[i] * shape->ints * (int)sizeof(int);
    types[i] = shape->type;
  }
  COLLECTIVE(Alltoallv, Ialltoallv, mine, sends, send_offsets, shape->type, theirs, counts, offsets, shape->type, comm);
  RESULT("alltoallv");
#ifndef NONBLOCKING /* Open MPI 4.1: MPI_Ialltoallv and MPI_Ialltoallw fail with MPI_IN_PLACE */
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, theirs, counts, offsets, shape->type, comm);
  RESULT("alltoallv in place");
#endif
  COLLECTIVE(Alltoallw, Ialltoallw, mine, sends, send_bytes, types, theirs, counts, bytes, types, comm);
  RESULT("alltoallw");
  /* elements that are packed differently on both sides, and nothing at all */
  COLLECTIVE(Bcast, Ibcast, rank == root ? mine : theirs, rank == root ? n : 2 * n,
             rank == root ? shape->type : MPI_INT, root, comm);
  RESULT("bcast from one type to another");
  COLLECTIVE(Bcast, Ibcast, theirs, 0, shape->type, root, comm);
  COLLECTIVE(Alltoall, Ialltoall, mine, 0, shape->type, theirs, 0, shape->type, comm);
  RESULT("nothing");
  CHECK(all >= size - 1);
}

static void reduce_data(MPI_Comm comm, const char* where, const struct shape* shape, MPI_Op op, const char* op_name,
                        int length)
{
  int rank, size, counts[most];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  char name[100];
  int all = 0;
  for (int i = 0; i < size; ++i)
    all += counts[i] = i % 3;
#undef RESULT
#define RESULT(what)                                                                                                   \
  do {                                                                                                                 \
    snprintf(name, sizeof name, "%s (%s, %d) of %s", what, op_name, length, shape->name);                              \
    tell(name, where, theirs, sizeof theirs);                                                                          \
    fresh(rank);                                                                                                       \
  } while (0)
#define IN_PLACE memcpy(theirs, mine, sizeof mine)
  fresh(rank);
  const int root = size - 1;
  COLLECTIVE(Reduce, Ireduce, mine, theirs, length, shape->type, op, root, comm);
  if (rank == root)
    RESULT("reduce");
  fresh(rank);
#ifdef MPICH_VERSION
  const int sound = length <= n; /* MPICH 4.0.2 takes MPI_IN_PLACE for an address */
#else
  const int sound = 1;
#endif
  if (sound) {
    if (rank == root)
      IN_PLACE;
    COLLECTIVE(Reduce, Ireduce, rank == root ? MPI_IN_PLACE : mine, theirs, length, shape->type, op, root, comm);
    if (rank == root)
      RESULT("reduce in place");
    fresh(rank);
  }
  COLLECTIVE(Allreduce, Iallreduce, mine, theirs, length, shape->type, op, comm);
  RESULT("allreduce");
  IN_PLACE;
  COLLECTIVE(Allreduce, Iallreduce, MPI_IN_PLACE, theirs, length, shape->type, op, comm);
  RESULT("allreduce in place");
  COLLECTIVE(Scan, Iscan, mine, theirs, length, shape->type, op, comm);
  RESULT("scan");
  IN_PLACE;
  COLLECTIVE(Scan, Iscan, MPI_IN_PLACE, theirs, length, shape->type, op, comm);
  RESULT("scan in place");
  COLLECTIVE(Exscan, Iexscan, mine, theirs, length, shape->type, op, comm);
  if (rank > 0)
    RESULT("exscan");
  fresh(rank);
  IN_PLACE;
  COLLECTIVE(Exscan, Iexscan, MPI_IN_PLACE, theirs, length, shape->type, op, comm);
  if (rank > 0)
    RESULT("exscan in place");
  fresh(rank);
  if (length * size * shape->ints <= room) {
    COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, mine, theirs, length, shape->type, op, comm);
    RESULT("reduce_scatter_block");
  }
  COLLECTIVE(Reduce_scatter, Ireduce_scatter, mine, theirs, counts, shape->type, op, comm);
  RESULT("reduce_scatter");
  CHECK(all >= 0);
}

static void on(MPI_Comm comm, const char* where, const struct shape* shapes, int shape_count, MPI_Op one_behind,
               MPI_Op apart)
{
  for (int i = 0; i < shape_count; ++i)
    move_data(comm, where, &shapes[i]);
  const struct shape plain = {"int", MPI_INT, 1};
  const struct shape pair = {"2int", MPI_2INT, 2};
  for (int length = 0; length <= 1500; length += length ? 1499 : 1) { /* short and long vectors */
    reduce_data(comm, where, &plain, MPI_SUM, "sum", length);
    reduce_data(comm, where, &plain, MPI_BXOR, "bxor", length);
    reduce_data(comm, where, &pair, MPI_MAXLOC, "maxloc", length);
    reduce_data(comm, where, &shapes[1], one_behind, "compose", length);
    reduce_data(comm, where, &shapes[2], apart, "compose apart", length / 2);
  }
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  MPI_Datatype pair, gap, apart, nested;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_vector(2, 1, 2, MPI_INT, &gap);
  MPI_Type_create_resized(gap, 0, 4 * sizeof(int), &apart);
  MPI_Type_commit(&apart);
  const int lengths[] = {1, 1}; /* the second comes before the first in memory */
  const MPI_Aint offsets[] = {sizeof(int), 0};
  const MPI_Datatype both[] = {MPI_INT, MPI_INT};
  MPI_Type_create_struct(2, lengths, offsets, both, &nested);
  MPI_Type_commit(&nested);
  const struct shape shapes[] = {{"2int", MPI_2INT, 2}, {"pairs", pair, 2}, {"apart", apart, 4}, {"turned", nested, 2}};
  MPI_Op one_behind, with_gap;
  MPI_Op_create(compose, 0, &one_behind);
  MPI_Op_create(compose_apart, 0, &with_gap);

  MPI_Comm part, turned, copy;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &part);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &turned);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  on(MPI_COMM_WORLD, "the world", shapes, 4, one_behind, with_gap);
  on(part, "a part", shapes, 4, one_behind, with_gap);
  on(turned, "the world turned", shapes, 4, one_behind, with_gap);
  on(MPI_COMM_SELF, "itself", shapes, 4, one_behind, with_gap);
  on(copy, "a copy", shapes, 1, one_behind, with_gap);
  MPI_Comm_free(&part);
  MPI_Comm_free(&turned);
  MPI_Comm_free(&copy);
  return finish();
}
