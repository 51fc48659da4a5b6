/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Reductions with the predefined operations: reduce, allreduce, reduce_scatter, reduce_scatter_block, scan, exscan.
 * Floating point values are small integers, so that every order of additions gives the same bits. */
#include "collective.h"

enum { longest = 70000 };

#ifndef ELEMENT
#define ELEMENT long
#define ELEMENT_TYPE MPI_LONG
#endif

static long element(int rank, int index)
{
  return (rank * 7 + index * 3) % 11 + 1;
}

static long combine(MPI_Op op, long a, long b)
{
  return op == MPI_SUM    ? a + b
         : op == MPI_PROD ? a * b
         : op == MPI_MAX  ? (a > b ? a : b)
         : op == MPI_MIN  ? (a < b ? a : b)
         : op == MPI_LAND ? (a && b)
         : op == MPI_LOR  ? (a || b)
         : op == MPI_LXOR ? (!a != !b)
         : op == MPI_BAND ? (a & b)
         : op == MPI_BOR  ? (a | b)
                          : (a ^ b);
}

/* Over the ranks first .. last. */
static long expected(MPI_Op op, int first, int last, int index)
{
  long result = element(first, index);
  for (int r = first + 1; r <= last; ++r) {
    result = combine(op, result, element(r, index));
  }
  return result;
}

static ELEMENT out[longest], in[longest];
static double real_out[longest], real_in[longest];

static int holds(MPI_Op op, int first, int last, int from, int n)
{
  for (int i = 0; i < n; ++i) {
    if (in[i] != expected(op, first, last, from + i)) {
      return 0;
    }
  }
  return 1;
}

static void all_forms(MPI_Op op, int n)
{
  const int last = world_size - 1;
  for (int i = 0; i < n; ++i) {
    out[i] = element(world_rank, i);
  }
  const int root = n % world_size;
  memset(in, 0xff, sizeof in);
  COLLECTIVE(Reduce, Ireduce, out, in, n, ELEMENT_TYPE, op, root, MPI_COMM_WORLD);
  CHECK(world_rank == root ? holds(op, 0, last, 0, n) : in[0] == -1);
  COLLECTIVE(Allreduce, Iallreduce, out, in, n, ELEMENT_TYPE, op, MPI_COMM_WORLD);
  CHECK(holds(op, 0, last, 0, n));
  memcpy(in, out, n * sizeof *in);
  COLLECTIVE(Allreduce, Iallreduce, MPI_IN_PLACE, in, n, ELEMENT_TYPE, op, MPI_COMM_WORLD);
  CHECK(holds(op, 0, last, 0, n));
  COLLECTIVE(Scan, Iscan, out, in, n, ELEMENT_TYPE, op, MPI_COMM_WORLD);
  CHECK(holds(op, 0, world_rank, 0, n));
  memcpy(in, out, n * sizeof *in);
  COLLECTIVE(Scan, Iscan, MPI_IN_PLACE, in, n, ELEMENT_TYPE, op, MPI_COMM_WORLD);
  CHECK(holds(op, 0, world_rank, 0, n));
  COLLECTIVE(Exscan, Iexscan, out, in, n, ELEMENT_TYPE, op, MPI_COMM_WORLD);
  if (world_rank > 0) {
    CHECK(holds(op, 0, world_rank - 1, 0, n));
  }

  const int block = n / world_size;
  COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, out, in, block, ELEMENT_TYPE, op, MPI_COMM_WORLD);
  CHECK(holds(op, 0, last, world_rank * block, block));
  int* counts = malloc(world_size * sizeof *counts);
  int mine = 0;
  for (int r = 0, at = 0; r < world_size; ++r) { /* odd ranks get nothing */
    counts[r] = r % 2 ? 0 : block;
    if (r < world_rank) {
      mine = at += counts[r];
    }
  }
  COLLECTIVE(Reduce_scatter, Ireduce_scatter, out, in, counts, ELEMENT_TYPE, op, MPI_COMM_WORLD);
  CHECK(holds(op, 0, last, mine, counts[world_rank]));
  free(counts);
}

static void reals(int n)
{
  double sum_of_ranks = world_size * (world_size - 1) / 2.0;
  for (int i = 0; i < n; ++i) {
    real_out[i] = world_rank + i * 0.5;
  }
  COLLECTIVE(Allreduce, Iallreduce, real_out, real_in, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    wrong += real_in[i] != sum_of_ranks + world_size * (i * 0.5);
  }
  CHECK_EQ(wrong, 0);
}

static void located(void)
{
  struct {
    double value;
    int rank;
  } mine = {(world_rank * 5) % world_size, world_rank}, best;
  COLLECTIVE(Allreduce, Iallreduce, &mine, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(best.value == 0);
  CHECK_EQ(best.rank, 0);
  struct {
    int value, rank;
  } same = {42, world_rank}, first;
  COLLECTIVE(Allreduce, Iallreduce, &same, &first, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
  CHECK_EQ(first.value, 42);
  CHECK_EQ(first.rank, 0); /* of equals the lowest index wins */
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  static const int sizes[] = {1, 17, 1000, 9000, longest};
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
  for (unsigned o = 0; o < sizeof ops / sizeof *ops; ++o) {
    all_forms(ops[o], 1);
    all_forms(ops[o], 64);
  }
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    all_forms(MPI_SUM, sizes[s]);
    all_forms(MPI_MAX, sizes[s]);
    reals(sizes[s]);
  }
  located();
  return finish();
}
