/* SPDX-License-Identifier: LGPL-2.1-or-later
 * world_end HOW: the ways in which a job ends. One rank, the last, does it; the exit code of the whole is compared. */
#include <signal.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv)
{
  const char* how = argc > 1 ? argv[1] : "";
  begin(&argc, &argv);
  const int chosen = world_rank == world_size - 1;
  say("ends by %s", how);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD); /* all have said it before one ends the job */
  usleep(300000);              /* and a launcher had time to pass it on */
  if (strcmp(how, "return") == 0) {
    MPI_Finalize();
    return chosen ? 3 : 0;
  }
  if (strcmp(how, "exit") == 0) {
    MPI_Finalize();
    exit(chosen ? 4 : 0);
  }
  if (strcmp(how, "_exit") == 0) {
    MPI_Finalize();
    _exit(chosen ? 5 : 0);
  }
  if (chosen) {
    if (strcmp(how, "MPI_Abort") == 0) {
      MPI_Abort(MPI_COMM_WORLD, 7);
    } else if (strcmp(how, "early-exit") == 0) {
      exit(3); /* without MPI_Finalize: takes the job down */
    } else if (strcmp(how, "error") == 0) {
      MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD); /* the default error handler aborts */
    } else if (strcmp(how, "abort") == 0) {
      signal(SIGABRT, SIG_DFL);
      abort();
    } else if (strcmp(how, "segv") == 0) {
      signal(SIGSEGV, SIG_DFL);
      int* volatile nowhere = (int*)8;
      *nowhere = 1;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD); /* the others wait for the chosen one */
  return finish();
}
