/* SPDX-License-Identifier: LGPL-2.1-or-later
 * The ranks that are started ask for another level of threads than those that start them: none, or MPI_THREAD_MULTIPLE.
 */
#include "spawn.h"

/* The argument says who asks for it: "parent" or "child". */
static void begin_with_threads(int* argc, char*** argv)
{
  const int child = *argc == 3;
  int provided = MPI_THREAD_SINGLE;
  if (child == (strcmp((*argv)[1], "child") == 0)) {
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided >= MPI_THREAD_SERIALIZED); /* less than was asked for is for the library to say */
  } else {
    MPI_Init(argc, argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm_get_parent(&parent);
  generation = parent != MPI_COMM_NULL;
  world_rank += 100 * generation;
}

int main(int argc, char** argv)
{
  begin_with_threads(&argc, &argv);
  MPI_Comm other = generation == 0 ? spawn(argv[0], argv[1], 2, MPI_INFO_NULL, MPI_COMM_WORLD) : parent;
  int one = 1;
  int sum = 0;
  int remote;
  MPI_Comm_remote_size(other, &remote);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
  CHECK_EQ(sum, remote);
  MPI_Comm_disconnect(&other);
  return finish();
}
