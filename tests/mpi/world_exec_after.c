/* SPDX-License-Identifier: LGPL-2.1-or-later
 * exec after MPI_Init: the new program runs as the rank, has its standard streams, and its own MPI_Init fails. HOW is
 * what the last rank executes: shell, shell 3 (its exit code), mpi, or shell after MPI_Finalize. */
#include "check.h"

#include <unistd.h>

int main(int argc, char** argv)
{
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "again") == 0) {
    world_rank = atoi(argv[2]);
    say("executed");
    fflush(stdout);
    MPI_Init(&argc, &argv);
    say("MPI_Init has succeeded");
    return 0;
  }
  const int after = argc > 1 && strcmp(how, "after") == 0;
  begin(&argc, &argv);
  int sum = 0, last = world_size - 1, token = world_rank;
  MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQ(sum, world_size * last / 2);
  say("sum %d", sum);
  fflush(stdout);
  if (after)
    MPI_Finalize();
  else if (world_rank != last) /* it goes when all others have said what they have to say */
    MPI_Send(&token, 1, MPI_INT, last, 0, MPI_COMM_WORLD);
  if (world_rank != last && !after) {
    MPI_Recv(&token, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* never comes */
    say("FAILED: got a message from a program that is no more");
  }
  if (world_rank != last)
    return verdict();
  for (int i = 0; i < last && !after; ++i)
    MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  usleep(100000); /* mpirun ends the others at once, with what it has not yet read of them */
  char rank[16], self[4096] = "";
  snprintf(rank, sizeof rank, "%d", world_rank);
  if (strcmp(how, "mpi") == 0 && readlink("/proc/self/exe", self, sizeof self - 1) > 0)
    execl(self, argv[0], "again", rank, NULL);
  else
    execlp("sh", "sh", "-c", "echo \"[$0] in the shell\"; env echo \"[$0] and in env\"; exit ${1:-0}", rank,
           argc > 2 ? argv[2] : "0", NULL);
  say("FAILED: exec has come back");
  return 9;
}
