/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Many nonblocking collectives outstanding at once on two communicators, mixed with messages, completed out of order.
 */
#include "check.h"

enum { outstanding = 16, n = 2000 };

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  static int sums[outstanding][n], mine[outstanding][n], casts[outstanding][n];
  MPI_Request requests[2 * outstanding + 3];
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int used = 0;
  for (int k = 0; k < outstanding; ++k) {
    for (int i = 0; i < n; ++i) {
      mine[k][i] = world_rank + k * i;
      casts[k][i] = world_rank == k % world_size ? k * 100000 + i : -1;
    }
    MPI_Iallreduce(mine[k], sums[k], n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[used++]);
    MPI_Ibcast(casts[k], n, MPI_INT, k % world_size, other, &requests[used++]);
  }
  int out = world_rank, in = -1;
  MPI_Irecv(&in, 1, MPI_INT, (world_rank + 1) % world_size, 5, MPI_COMM_WORLD, &requests[used++]);
  MPI_Isend(&out, 1, MPI_INT, (world_rank + world_size - 1) % world_size, 5, MPI_COMM_WORLD, &requests[used++]);
  MPI_Ibarrier(other, &requests[used++]);

  MPI_Wait(&requests[2 * (outstanding - 1)], MPI_STATUS_IGNORE); /* the last reduction first */
  CHECK_EQ(sums[outstanding - 1][1], world_size * (world_size - 1) / 2 + world_size * (outstanding - 1));
  for (int completed = 0; completed < used - 1;) {
    int count, indices[2 * outstanding + 3];
    MPI_Testsome(used, requests, &count, indices, MPI_STATUSES_IGNORE);
    completed += count == MPI_UNDEFINED ? 0 : count;
  }
  for (int i = 0; i < used; ++i) {
    CHECK(requests[i] == MPI_REQUEST_NULL);
  }
  CHECK_EQ(in, (world_rank + 1) % world_size);
  for (int k = 0; k < outstanding; ++k) {
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
      wrong += sums[k][i] != world_size * (world_size - 1) / 2 + world_size * k * i;
      wrong += casts[k][i] != k * 100000 + i;
    }
    CHECK_EQ(wrong, 0);
  }
  MPI_Comm_free(&other);
  return finish();
}
