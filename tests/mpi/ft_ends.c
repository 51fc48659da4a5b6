/* SPDX-License-Identifier: LGPL-2.1-or-later
 * ft_ends all|status|finalized|fatal|abort: how a job ends some of whose ranks do not end well (ft_ends.sh). */
#include "ft.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const char* how = argc > 1 ? argv[1] : "all";
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "all") == 0)
    die("kill");
  if (strcmp(how, "status") == 0 && world_rank == 1)
    _exit(3);
  if (strcmp(how, "fatal") == 0 && world_rank == 1)
    die("kill");
  if (strcmp(how, "abort") == 0 && world_rank == 1)
    MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(how, "status") == 0)
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (world_rank != 1)
    say("%s", code == MPI_SUCCESS ? "well" : is_failure(code) ? "a failure" : "another error");
  return strcmp(how, "finalized") == 0 && world_rank == 1 ? 5 : 0;
}
