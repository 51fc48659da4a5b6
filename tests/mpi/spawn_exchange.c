/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Ranks start two others: messages of all sizes both ways, collectives over the intercommunicator, one
 * intracommunicator of all, the end of the connection. Twice, with both jobs alive for a while. Those that are started
 * start one more. */
#include "spawn.h"

enum { children_count = 2, largest = 300000 };

static unsigned char buffer[largest];

static void send_and_receive(MPI_Comm other, int me, int peer, int first)
{
  static const int sizes[] = {0, 1, 1000, 70000, largest};
  for (int i = 0; i < 5; ++i)
    for (int turn = 0; turn < 2; ++turn) {
      if (turn == first) {
        fill(buffer, (size_t)sizes[i], me, i);
        MPI_Send(buffer, sizes[i], MPI_BYTE, peer, i, other);
      } else {
        MPI_Status status;
        MPI_Recv(buffer, largest, MPI_BYTE, peer, i, other, &status);
        int count;
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQ(count, sizes[i]);
        CHECK(is_filled(buffer, (size_t)count, peer, i));
      }
    }
}

/* Both sides. */
static void meet(MPI_Comm other, int is_child)
{
  int inter;
  int rank;
  int size;
  int remote;
  MPI_Comm_test_inter(other, &inter);
  CHECK(inter);
  MPI_Comm_rank(other, &rank);
  MPI_Comm_size(other, &size);
  MPI_Comm_remote_size(other, &remote);
  if (rank < size && rank < remote)
    send_and_receive(other, rank, rank, is_child);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other); /* of the others */
  CHECK_EQ(sum, remote * (remote - 1) / 2);
  MPI_Comm all;
  MPI_Intercomm_merge(other, is_child, &all);
  MPI_Comm_size(all, &size);
  MPI_Comm_rank(all, &rank);
  sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
  CHECK_EQ(sum, size * (size - 1) / 2);
  MPI_Comm_free(&all);
}

int main(int argc, char** argv)
{
  begin_family(&argc, &argv);
  if (generation == 0) {
    CHECK_EQ(argc, 1);
    MPI_Comm first = spawn(argv[0], "first", children_count, MPI_INFO_NULL, MPI_COMM_WORLD);
    meet(first, 0);
    MPI_Comm second = spawn(argv[0], "second", 1, MPI_INFO_NULL, MPI_COMM_WORLD);
    meet(second, 0);
    meet(first, 0);
    MPI_Comm_disconnect(&first);
    CHECK(first == MPI_COMM_NULL);
    meet(second, 0);
    MPI_Comm_disconnect(&second);
  } else {
    const int is_first = strcmp(argv[1], "first") == 0;
    CHECK_EQ(argc, 3);
    world_rank += is_first ? 0 : 50;
    if (generation == 1)
      CHECK_EQ(world_size, is_first ? children_count : 1);
    meet(parent, 1);
    if (generation == 1) {
      if (!is_first) {
        MPI_Comm third = spawn(argv[0], "third", 1, MPI_INFO_NULL, MPI_COMM_SELF);
        meet(third, 0);
        MPI_Comm_disconnect(&third);
      }
      meet(parent, 1);
    }
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
  }
  return finish();
}
