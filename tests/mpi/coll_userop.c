/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A user-defined operation that is associative but not commutative (composition of affine maps modulo a prime): a
 * reduction must combine the ranks in order. */
#include "collective.h"

enum { n = 500 };
static const long long prime = 1000003;

typedef struct { /* x -> a x + b */
  long long a, b;
} Affine;

static Affine compose(Affine first, Affine second)
{
  const Affine both = {first.a * second.a % prime, (second.a * first.b + second.b) % prime};
  return both;
}

static int calls;
static void operation(void* in, void* inout, int* length, MPI_Datatype* type)
{
  (void)type;
  ++calls;
  for (int i = 0; i < *length; ++i) {
    ((Affine*)inout)[i] = compose(((Affine*)in)[i], ((Affine*)inout)[i]);
  }
}

static Affine element(int rank, int index)
{
  const Affine map = {(rank * 31 + index * 17) % 1000 + 2, (rank * 13 + index * 7) % 1000 + 1};
  return map;
}

static int holds(const Affine* result, int last, int from, int length)
{
  for (int i = 0; i < length; ++i) {
    Affine wanted = element(0, from + i);
    for (int r = 1; r <= last; ++r) {
      wanted = compose(wanted, element(r, from + i));
    }
    if (result[i].a != wanted.a || result[i].b != wanted.b) {
      return 0;
    }
  }
  return 1;
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  static Affine out[n], in[n];
  MPI_Datatype type;
  MPI_Op op;
  int commutes = 1;
  MPI_Type_contiguous(2, MPI_LONG_LONG, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(operation, 0, &op);
  MPI_Op_commutative(op, &commutes);
  CHECK(!commutes);
  for (int i = 0; i < n; ++i) {
    out[i] = element(world_rank, i);
  }
  const int last = world_size - 1;
  for (int root = 0; root < world_size; ++root) {
    COLLECTIVE(Reduce, Ireduce, out, in, n, type, op, root, MPI_COMM_WORLD);
    CHECK(world_rank != root || holds(in, last, 0, n));
  }
  COLLECTIVE(Allreduce, Iallreduce, out, in, n, type, op, MPI_COMM_WORLD);
  CHECK(holds(in, last, 0, n));
  COLLECTIVE(Scan, Iscan, out, in, n, type, op, MPI_COMM_WORLD);
  CHECK(holds(in, world_rank, 0, n));
  COLLECTIVE(Exscan, Iexscan, out, in, n, type, op, MPI_COMM_WORLD);
  CHECK(world_rank == 0 || holds(in, world_rank - 1, 0, n));
  const int block = n / world_size;
  COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, out, in, block, type, op, MPI_COMM_WORLD);
  CHECK(holds(in, last, world_rank * block, block));
  MPI_Reduce_local(out, in, block, type, op);
  CHECK(calls > 0);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  return finish();
}
