/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Pack and unpack (native and external32), partial receives, extents, and looking into a datatype. */
#include "check.h"

static void packed_message(void)
{
  char buffer[1000];
  int position = 0;
  const int peer = 1 - world_rank;
  int whole[3] = {world_rank, 20, 30};
  double real = 2.5 * (world_rank + 1);
  char text[16] = "umwelt";
  int bound = 0, sum = 0;
  MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &bound);
  sum += bound;
  MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &bound);
  sum += bound;
  MPI_Pack_size(16, MPI_CHAR, MPI_COMM_WORLD, &bound);
  sum += bound;
  MPI_Pack(whole, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
  MPI_Pack(&real, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
  MPI_Pack(text, 16, MPI_CHAR, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
  CHECK(position > 0 && position <= sum);

  char received[1000];
  MPI_Status status;
  int size = 0;
  MPI_Sendrecv(buffer, position, MPI_PACKED, peer, 1, received, sizeof received, MPI_PACKED, peer, 1, MPI_COMM_WORLD,
               &status);
  MPI_Get_count(&status, MPI_PACKED, &size);
  CHECK_EQ(size, position);
  memset(whole, 0, sizeof whole);
  memset(text, 0, sizeof text);
  position = 0;
  MPI_Unpack(received, size, &position, whole, 3, MPI_INT, MPI_COMM_WORLD);
  MPI_Unpack(received, size, &position, &real, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Unpack(received, size, &position, text, 16, MPI_CHAR, MPI_COMM_WORLD);
  CHECK_EQ(position, size);
  CHECK_EQ(whole[0], peer);
  CHECK_EQ(whole[2], 30);
  CHECK(real == 2.5 * (peer + 1));
  CHECK(strcmp(text, "umwelt") == 0);
}

static void external(void)
{
  const int value = 0x01020304;
  int back = 0;
  unsigned char bytes[8] = {0};
  MPI_Aint position = 0, size = 0;
  MPI_Pack_external_size("external32", 1, MPI_INT, &size);
  CHECK_EQ(size, 4);
  MPI_Pack_external("external32", &value, 1, MPI_INT, bytes, sizeof bytes, &position);
  CHECK_EQ(position, 4);
  CHECK(bytes[0] == 1 && bytes[3] == 4); /* big-endian */
  position = 0;
  MPI_Unpack_external("external32", bytes, 4, &position, &back, 1, MPI_INT);
  CHECK_EQ(back, value);
}

static void partial(void)
{
  MPI_Datatype pairs;
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  int out[5] = {1, 2, 3, 4, 5}, in[20] = {0};
  MPI_Status status;
  int whole = 0, elements = 0;
  MPI_Count elements_x = 0;
  const int peer = 1 - world_rank;
  MPI_Sendrecv(out, 5, MPI_INT, peer, 2, in, 10, pairs, peer, 2, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, pairs, &whole);
  MPI_Get_elements(&status, pairs, &elements);
  MPI_Get_elements_x(&status, pairs, &elements_x);
  CHECK_EQ(whole, MPI_UNDEFINED); /* two pairs and a half */
  CHECK_EQ(elements, 5);
  CHECK_EQ(elements_x, 5);
  CHECK_EQ(in[4], 5);
  MPI_Type_free(&pairs);
}

static void inspection(void)
{
  MPI_Datatype vector, resized, duplicate;
  MPI_Aint lower = -1, extent = -1, true_lower = -1, true_extent = -1;
  MPI_Type_vector(4, 2, 5, MPI_SHORT, &vector);
  MPI_Type_get_extent(vector, &lower, &extent);
  CHECK_EQ(lower, 0);
  CHECK_EQ(extent, 17 * 2);
  MPI_Type_create_resized(vector, -4, 100, &resized);
  MPI_Type_get_extent(resized, &lower, &extent);
  MPI_Type_get_true_extent(resized, &true_lower, &true_extent);
  CHECK_EQ(lower, -4);
  CHECK_EQ(extent, 100);
  CHECK_EQ(true_lower, 0);
  CHECK_EQ(true_extent, 17 * 2);

  int integers = 0, addresses = 0, types = 0, combiner = 0, contents[3] = {0};
  MPI_Datatype inner;
  MPI_Type_get_envelope(vector, &integers, &addresses, &types, &combiner);
  CHECK_EQ(integers, 3);
  CHECK_EQ(addresses, 0);
  CHECK_EQ(types, 1);
  CHECK_EQ(combiner, MPI_COMBINER_VECTOR);
  MPI_Type_get_contents(vector, 3, 0, 1, contents, NULL, &inner);
  CHECK(contents[0] == 4 && contents[1] == 2 && contents[2] == 5);
  CHECK(inner == MPI_SHORT);

  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  MPI_Type_set_name(vector, "four pairs");
  MPI_Type_get_name(vector, name, &length);
  CHECK(strcmp(name, "four pairs") == 0);
  MPI_Type_dup(vector, &duplicate);
  MPI_Type_free(&vector);
  int size = 0;
  MPI_Type_size(duplicate, &size); /* lives on without the original */
  CHECK_EQ(size, 16);
  MPI_Type_free(&duplicate);
  MPI_Type_free(&resized);

  MPI_Aint a, b;
  int pair[2];
  MPI_Get_address(&pair[0], &a);
  MPI_Get_address(&pair[1], &b);
  CHECK_EQ(MPI_Aint_diff(b, a), sizeof(int));
  CHECK_EQ(MPI_Aint_add(a, sizeof(int)), b);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  packed_message();
  external();
  partial();
  inspection();
  return finish();
}
