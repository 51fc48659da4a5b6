/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Derived datatypes: the selected elements, and no others, travel; sender and receiver may lay them out differently. */
#include <stddef.h>

#include "check.h"

enum { n = 60000 };
static int out[n], in[n];

/* Sends count x type from `out` and receives it densely: `elements` ints, the i-th being out[where(i)]. */
static void dense(MPI_Datatype type, int count, int elements, int (*where)(int))
{
  int size = 0, got = -1;
  MPI_Status status;
  MPI_Type_commit(&type);
  MPI_Type_size(type, &size);
  CHECK_EQ((long)size * count, (long)elements * (long)sizeof(int));
  memset(in, 0xff, sizeof in);
  const int peer = 1 - world_rank;
  MPI_Sendrecv(out, count, type, peer, 1, in, n, MPI_INT, peer, 1, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &got);
  CHECK_EQ(got, elements);
  for (int i = 0; i < elements; ++i) {
    CHECK_EQ(in[i], peer * 1000000 + where(i));
  }
  CHECK(elements == n || in[elements] == -1);

  /* and back: dense to scattered; everything between stays untouched */
  static int scattered[n];
  memset(scattered, 0xff, sizeof scattered);
  MPI_Sendrecv(in, elements, MPI_INT, peer, 2, scattered, count, type, peer, 2, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, type, &got);
  CHECK_EQ(got, count);
  int written = 0;
  for (int i = 0; i < elements; ++i) {
    CHECK_EQ(scattered[where(i)], world_rank * 1000000 + where(i));
  }
  for (int i = 0; i < n; ++i) {
    written += scattered[i] != -1;
  }
  CHECK_EQ(written, elements);
  MPI_Type_free(&type);
  CHECK(type == MPI_DATATYPE_NULL);
}

static int contiguous(int i)
{
  return i;
}
static int column(int i)
{
  return i * 100;
}
static int wide_vector(int i)
{
  return i / 3 * 7 + i % 3;
}
static const int lengths[] = {2, 0, 5, 1, 3};
static const int places[] = {1000, 7, 0, 50, 200};
static int irregular(int i)
{
  const int period = 11, extent = 1002; /* the furthest element is places[0] + lengths[0] */
  int block = 0, rest = i % period;
  while (rest >= lengths[block]) {
    rest -= lengths[block++];
  }
  return i / period * extent + places[block] + rest;
}
static int equal_blocks(int i)
{
  return places[i / 2 % 5] + i % 2;
}
static int every_eighth(int i)
{
  return i * 8;
}
static int backwards(int i)
{
  return 500 - i;
}

static void structures(void)
{
  struct particle {
    char kind;
    double position[3];
    short flags;
    long long id;
  };
  enum { particles = 500 };
  static struct particle mine[particles], theirs[particles];
  const int blocks[] = {1, 3, 1, 1};
  const MPI_Aint at[] = {offsetof(struct particle, kind), offsetof(struct particle, position),
                         offsetof(struct particle, flags), offsetof(struct particle, id)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_LONG_LONG};
  MPI_Datatype packed, type;
  MPI_Type_create_struct(4, blocks, at, types, &packed);
  MPI_Type_create_resized(packed, 0, sizeof(struct particle), &type);
  MPI_Type_commit(&type);
  memset(theirs, 0x5a, sizeof theirs);
  for (int i = 0; i < particles; ++i) {
    mine[i].kind = (char)('a' + (i + world_rank) % 26);
    for (int d = 0; d < 3; ++d) {
      mine[i].position[d] = i + d * 0.25 + world_rank;
    }
    mine[i].flags = (short)(i - 250);
    mine[i].id = (1LL << 40) * (world_rank + 1) + i;
  }
  const int peer = 1 - world_rank;
  MPI_Sendrecv(mine, particles, type, peer, 3, theirs, particles, type, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < particles; ++i) {
    CHECK_EQ(theirs[i].kind, 'a' + (i + peer) % 26);
    CHECK(theirs[i].position[2] == i + 0.5 + peer);
    CHECK_EQ(theirs[i].flags, i - 250);
    CHECK_EQ(theirs[i].id, (1LL << 40) * (peer + 1) + i);
    CHECK_EQ(((unsigned char*)&theirs[i])[offsetof(struct particle, kind) + 1], 0x5a); /* padding is not sent */
  }
  MPI_Type_free(&packed);
  MPI_Type_free(&type);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  for (int i = 0; i < n; ++i) {
    out[i] = world_rank * 1000000 + i;
  }
  MPI_Datatype type, inner;
  MPI_Type_contiguous(300, MPI_INT, &type);
  dense(type, 200, 60000, contiguous);
  MPI_Type_vector(600, 1, 100, MPI_INT, &type);
  dense(type, 1, 600, column);
  MPI_Type_vector(8000, 3, 7, MPI_INT, &type); /* 96 kB of scattered data: rendezvous */
  dense(type, 1, 24000, wide_vector);
  MPI_Type_create_hvector(600, 1, 100 * sizeof(int), MPI_INT, &type);
  dense(type, 1, 600, column);
  MPI_Type_indexed(5, lengths, places, MPI_INT, &inner);
  MPI_Type_create_resized(inner, 0, 1002 * sizeof(int), &type);
  dense(type, 50, 550, irregular);
  MPI_Type_free(&inner);
  MPI_Aint bytes[5];
  for (int i = 0; i < 5; ++i) {
    bytes[i] = places[i] * (MPI_Aint)sizeof(int);
  }
  MPI_Type_create_hindexed(5, lengths, bytes, MPI_INT, &type);
  dense(type, 1, 11, irregular);
  MPI_Type_create_indexed_block(5, 2, places, MPI_INT, &type);
  dense(type, 1, 10, equal_blocks);
  MPI_Type_create_hindexed_block(5, 2, bytes, MPI_INT, &type);
  dense(type, 1, 10, equal_blocks);
  MPI_Type_create_resized(MPI_INT, 0, 8 * sizeof(int), &type);
  dense(type, 7000, 7000, every_eighth);
  for (int i = 0; i < 5; ++i) {
    bytes[i] = (500 - i) * (MPI_Aint)sizeof(int);
  }
  MPI_Type_create_hindexed_block(5, 1, bytes, MPI_INT, &type); /* displacements that decrease */
  dense(type, 1, 5, backwards);
  structures();
  return finish();
}
