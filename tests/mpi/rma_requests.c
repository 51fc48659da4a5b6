/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Request-based one-sided operations: rput, rget, raccumulate, rget_accumulate, several at once, completed like
 * messages. */
#include "check.h"

enum { pieces = 8, piece = 2000 }; /* Open MPI's osc portals4 has eight such requests and waits for a ninth for ever */

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  int* memory;
  MPI_Win window;
  MPI_Win_allocate(2 * pieces * piece * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window);
  memset(memory, 0, 2 * pieces * piece * sizeof(int));
  MPI_Win_unlock(world_rank, window);
  MPI_Barrier(MPI_COMM_WORLD);

  static int out[pieces][piece], in[pieces][piece];
  MPI_Request requests[pieces];
  const int target = (world_rank + 1) % world_size;
  MPI_Win_lock_all(0, window);
  for (int p = 0; p < pieces; ++p) {
    for (int i = 0; i < piece; ++i) {
      out[p][i] = world_rank * 100000 + p * piece + i;
    }
    MPI_Rput(out[p], piece, MPI_INT, target, p * piece, piece, MPI_INT, window, &requests[p]);
  }
  MPI_Waitall(pieces, requests, MPI_STATUSES_IGNORE);
  MPI_Win_flush(target, window);
  for (int p = 0; p < pieces; ++p) {
    MPI_Rget(in[p], piece, MPI_INT, target, p * piece, piece, MPI_INT, window, &requests[p]);
  }
  for (int left = pieces; left > 0; --left) {
    int index = -1;
    MPI_Waitany(pieces, requests, &index, MPI_STATUS_IGNORE);
    CHECK(memcmp(in[index], out[index], sizeof in[index]) == 0);
  }
  for (int p = 0; p < pieces; ++p) { /* all ranks add to rank 0 */
    MPI_Raccumulate(out[p], piece, MPI_INT, 0, (pieces + p) * piece, piece, MPI_INT, MPI_SUM, window, &requests[p]);
  }
  MPI_Waitall(pieces, requests, MPI_STATUSES_IGNORE);
  MPI_Win_flush(0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Rget_accumulate(NULL, 0, MPI_INT, in[3], piece, MPI_INT, 0, (pieces + 3) * piece, piece, MPI_INT, MPI_NO_OP,
                      window, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  for (int i = 0; i < piece; ++i) {
    CHECK_EQ(in[3][i], world_size * (world_size - 1) / 2 * 100000 + world_size * (3 * piece + i));
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&window);
  return finish();
}
