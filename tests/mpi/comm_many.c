/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Communicators come and go: 300 in turn, then 60 alive at once, each of them with its own traffic. */
#include "check.h"

enum { in_turn = 300, alive = 60 };

static void use(MPI_Comm communicator, int number)
{
  int value = number, got = -1, sum = -1;
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  MPI_Sendrecv(&value, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, communicator, MPI_STATUS_IGNORE);
  CHECK_EQ(got, number);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, communicator);
  CHECK_EQ(sum, number * world_size);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  for (int i = 0; i < in_turn; ++i) {
    MPI_Comm communicator;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    use(communicator, i);
    MPI_Comm_free(&communicator);
  }
  MPI_Comm all[alive];
  for (int i = 0; i < alive; ++i) {
    MPI_Comm_dup(i ? all[i - 1] : MPI_COMM_WORLD, &all[i]);
  }
  for (int i = alive - 1; i >= 0; --i) {
    use(all[i], i);
  }
  for (int i = 0; i < alive; ++i) {
    MPI_Comm_free(&all[i]);
  }
  return finish();
}
