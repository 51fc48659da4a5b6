/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Collectives that move data: barrier, broadcast, gather, scatter, allgather, alltoall, with their v- and w-variants
 * and MPI_IN_PLACE, for every root and for sizes that use different algorithms. */
#include "collective.h"

/* The value that rank `from` has for rank `to` at `index`. */
static int value(int from, int to, int index)
{
  return from * 1000003 + to * 10007 + index;
}

static int *out, *in;
static int *counts, *displacements, *other_counts, *other_displacements;

static void clear(int* buffer, int n)
{
  memset(buffer, 0xff, n * sizeof *buffer);
}

static int holds(const int* buffer, int n, int from, int to)
{
  for (int i = 0; i < n; ++i) {
    if (buffer[i] != value(from, to, i)) {
      return 0;
    }
  }
  return 1;
}

static void put(int* buffer, int n, int from, int to)
{
  for (int i = 0; i < n; ++i) {
    buffer[i] = value(from, to, i);
  }
}

static int uneven(int rank, int n)
{
  return rank % 3 == 1 ? 0 : n + rank;
} /* some contribute nothing */

static void rooted(int root, int n)
{
  clear(in, n);
  if (world_rank == root) {
    put(in, n, root, 0);
  }
  COLLECTIVE(Bcast, Ibcast, in, n, MPI_INT, root, MPI_COMM_WORLD);
  CHECK(holds(in, n, root, 0));

  put(out, n, world_rank, root);
  clear(in, n * world_size);
  COLLECTIVE(Gather, Igather, out, n, MPI_INT, in, n, MPI_INT, root, MPI_COMM_WORLD);
  for (int r = 0; world_rank == root && r < world_size; ++r) {
    CHECK(holds(in + r * n, n, r, root));
  }
  if (world_rank == root) {
    clear(in, n * world_size);
    put(in + root * n, n, root, root);
    COLLECTIVE(Gather, Igather, MPI_IN_PLACE, 0, MPI_INT, in, n, MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; r < world_size; ++r) {
      CHECK(holds(in + r * n, n, r, root));
    }
  } else {
    COLLECTIVE(Gather, Igather, out, n, MPI_INT, NULL, 0, MPI_INT, root, MPI_COMM_WORLD);
  }

  for (int r = 0; r < world_size; ++r) {
    put(out + r * n, n, root, r);
  }
  clear(in, n);
  COLLECTIVE(Scatter, Iscatter, out, n, MPI_INT, in, n, MPI_INT, root, MPI_COMM_WORLD);
  CHECK(holds(in, n, root, world_rank));

  int total = 0;
  for (int r = 0; r < world_size; ++r) { /* blocks in reverse order with a gap of one */
    counts[r] = uneven(r, n);
    total += counts[r] + 1;
  }
  for (int r = world_size - 1, at = 0; r >= 0; --r) {
    displacements[r] = at;
    at += counts[r] + 1;
  }
  put(out, counts[world_rank], world_rank, root);
  clear(in, total);
  COLLECTIVE(Gatherv, Igatherv, out, counts[world_rank], MPI_INT, in, counts, displacements, MPI_INT, root,
             MPI_COMM_WORLD);
  for (int r = 0; world_rank == root && r < world_size; ++r) {
    CHECK(holds(in + displacements[r], counts[r], r, root));
    CHECK_EQ(in[displacements[r] + counts[r]], -1);
  }
  for (int r = 0; r < world_size; ++r) {
    put(out + displacements[r], counts[r], root, r);
  }
  clear(in, n + world_size);
  COLLECTIVE(Scatterv, Iscatterv, out, counts, displacements, MPI_INT, in, counts[world_rank], MPI_INT, root,
             MPI_COMM_WORLD);
  CHECK(holds(in, counts[world_rank], root, world_rank));
  CHECK_EQ(in[counts[world_rank]], -1);
}

static void everybody(int n)
{
  put(out, n, world_rank, 0);
  clear(in, n * world_size);
  COLLECTIVE(Allgather, Iallgather, out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < world_size; ++r) {
    CHECK(holds(in + r * n, n, r, 0));
  }
  clear(in, n * world_size);
  put(in + world_rank * n, n, world_rank, 0);
  COLLECTIVE(Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < world_size; ++r) {
    CHECK(holds(in + r * n, n, r, 0));
  }

  for (int r = 0, at = 0; r < world_size; ++r) {
    counts[r] = uneven(r, n);
    displacements[r] = at;
    at += counts[r];
  }
  clear(in, (n + world_size) * world_size);
  put(out, counts[world_rank], world_rank, 0);
  COLLECTIVE(Allgatherv, Iallgatherv, out, counts[world_rank], MPI_INT, in, counts, displacements, MPI_INT,
             MPI_COMM_WORLD);
  for (int r = 0; r < world_size; ++r) {
    CHECK(holds(in + displacements[r], counts[r], r, 0));
  }

  for (int r = 0; r < world_size; ++r) {
    put(out + r * n, n, world_rank, r);
  }
  clear(in, n * world_size);
  COLLECTIVE(Alltoall, Ialltoall, out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < world_size; ++r) {
    CHECK(holds(in + r * n, n, r, world_rank));
  }
  memcpy(in, out, sizeof(int) * n * world_size);
  COLLECTIVE(Alltoall, Ialltoall, MPI_IN_PLACE, 0, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < world_size; ++r) {
    CHECK(holds(in + r * n, n, r, world_rank));
  }

  /* rank a sends (a + b) % 4 times n / 4 values to rank b */
  const int quarter = n / 4;
  for (int r = 0, at = 0; r < world_size; ++r) {
    counts[r] = other_counts[r] = (world_rank + r) % 4 * quarter;
    displacements[r] = other_displacements[r] = at;
    put(out + at, counts[r], world_rank, r);
    at += counts[r];
  }
  clear(in, n * world_size);
  COLLECTIVE(Alltoallv, Ialltoallv, out, counts, displacements, MPI_INT, in, other_counts, other_displacements, MPI_INT,
             MPI_COMM_WORLD);
  for (int r = 0; r < world_size; ++r) {
    CHECK(holds(in + other_displacements[r], other_counts[r], r, world_rank));
  }

  /* each pair with its own datatype, displacements in bytes */
  MPI_Datatype* types = malloc(world_size * sizeof *types);
  for (int r = 0; r < world_size; ++r) {
    MPI_Type_contiguous(1 + (world_rank + r) % 3, MPI_INT, &types[r]);
    MPI_Type_commit(&types[r]);
    counts[r] = quarter;
    displacements[r] = r * n * (int)sizeof(int);
    put(out + r * n, n, world_rank, r);
  }
  clear(in, n * world_size);
  COLLECTIVE(Alltoallw, Ialltoallw, out, counts, displacements, types, in, counts, displacements, types,
             MPI_COMM_WORLD);
  for (int r = 0; r < world_size; ++r) {
    const int got = quarter * (1 + (world_rank + r) % 3);
    CHECK(holds(in + r * n, got, r, world_rank));
    CHECK(got == n || in[r * n + got] == -1);
    MPI_Type_free(&types[r]);
  }
  free(types);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  static const int sizes[] = {1, 4, 100, 3000, 40000};
  const size_t longest = (size_t)world_size * (sizes[4] + world_size + 1);
  out = malloc(longest * sizeof *out);
  in = malloc(longest * sizeof *in);
  counts = malloc(world_size * sizeof *counts);
  displacements = malloc(world_size * sizeof *displacements);
  other_counts = malloc(world_size * sizeof *other_counts);
  other_displacements = malloc(world_size * sizeof *other_displacements);
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    for (int root = 0; root < world_size; ++root) {
      rooted(root, sizes[s]);
    }
    everybody(sizes[s]);
    COLLECTIVE(Barrier, Ibarrier, MPI_COMM_WORLD);
  }
  COLLECTIVE(Bcast, Ibcast, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  free(out);
  free(in);
  free(counts);
  free(displacements);
  free(other_counts);
  free(other_displacements);
  return finish();
}
