/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A shared library beside the program, found through $ORIGIN: its data, also where the program refers to it directly
 * (copy relocation) and thread-locally, is each rank's own. */
#include "check.h"
#include "library.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  library_set_rank(world_rank);
  CHECK_EQ(library_constructed(), 1);
  CHECK_EQ(library_counter, 100);
  CHECK_EQ(library_thread, 1000);
  for (int i = 1; i <= 3 + world_rank; ++i) {
    CHECK_EQ(library_bump(), 1100 + 2 * i);
    MPI_Barrier(MPI_COMM_SELF);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQ(library_counter, 103 + world_rank);
  CHECK_EQ(library_thread, 1003 + world_rank);
  library_counter = 7;
  library_thread = 8;
  CHECK_EQ(library_bump(), 17);
  int* const where = &library_thread; /* the same variable for both sides */
  *where = 50;
  CHECK_EQ(library_bump(), 60);
  return finish();
}
