/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Two ranks die one after the other, the second in what the first has left; then all messages of those that are left
 * still come, short ones and long ones. */
#include "ft.h"

static void exchange(MPI_Comm communicator, int size)
{
  int rank, ranks;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  unsigned char *out = malloc(size), *in = malloc(size);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  fill(out, size, rank, size);
  CHECK_EQ(MPI_Sendrecv(out, size, MPI_BYTE, next, 5, in, size, MPI_BYTE, before, 5, communicator, MPI_STATUS_IGNORE),
           MPI_SUCCESS);
  CHECK(is_filled(in, size, before, size));
  free(in);
  free(out);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  MPI_Comm now;
  MPI_Comm_dup(MPI_COMM_WORLD, &now);
  int left = world_size;
  for (int i = 0; i < 2; ++i) {
    int rank, code;
    MPI_Comm_set_errhandler(now, MPI_ERRORS_RETURN);
    MPI_Comm_rank(now, &rank);
    MPI_Barrier(now);
    if (rank == (i == 0 ? 1 : left - 1))
      die(i == 0 ? "kill" : "exit");
    while ((code = MPI_Barrier(now)) == MPI_SUCCESS) {
    }
    CHECK(is_failure(code));
    MPIX_Comm_revoke(now);
    MPI_Comm rest;
    CHECK_EQ(MPIX_Comm_shrink(now, &rest), MPI_SUCCESS);
    MPI_Comm_free(&now);
    now = rest;
    --left;
    exchange(now, 8);
    exchange(now, 200000);
  }
  int sum = 0;
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, now);
  check_whole(now, left, sum);
  MPI_Comm_free(&now);
  return finish();
}
