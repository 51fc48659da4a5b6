/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Several programs in one job (launched as "a : b"): one MPI_COMM_WORLD, MPI_APPNUM tells which of them a rank is. */
#include "check.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  int* number = NULL;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
  CHECK(found);
  say("program %d of the job, argument '%s', %d ranks in all", found ? *number : -1, argc > 1 ? argv[1] : "",
      world_size);
  int sum = 0;
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQ(sum, world_size * (world_size - 1) / 2);
  return finish();
}
