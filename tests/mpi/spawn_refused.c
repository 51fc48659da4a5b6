/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A job that cannot be started is an error that the program sees, and goes on from; slots of ranks that have ended are
 * free again. Usage: spawn_refused SLOTS, of which it has one itself. */
#include "spawn.h"

#include <unistd.h>

#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5 /* natively, too */
enum { refused = MPI_ERR_UNKNOWN };
#else
enum { refused = MPI_ERR_SPAWN };
#endif

static int spawn_class(const char* program, int count, MPI_Comm* children)
{
  char* arguments[] = {"child", "1", NULL};
  int class;
  int codes[64] = {0};
  MPI_Error_class(MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, MPI_COMM_SELF, children, codes), &class);
  for (int i = 0; i < count; ++i)
    CHECK_EQ(codes[i] == MPI_SUCCESS, class == MPI_SUCCESS);
  return class;
}

int main(int argc, char** argv)
{
  begin_family(&argc, &argv);
  if (generation == 0) {
    const int slots = atoi(argv[1]);
    MPI_Comm children;
    int* universe;
    int found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &found);
    CHECK(found);
    CHECK_EQ(*universe, slots);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int turn = 0; turn < 3; ++turn) {
      CHECK_EQ(spawn_class(argv[0], slots, &children), refused); /* one too many */
      CHECK_EQ(spawn_class(argv[0], slots - 1, &children), MPI_SUCCESS);
      MPI_Comm second;
      CHECK_EQ(spawn_class(argv[0], 1, &second), refused);
      MPI_Barrier(children);
      MPI_Comm_disconnect(&children);
      sleep(1); /* natively the launcher must hear of their end first */
    }
  } else {
    MPI_Barrier(parent);
    MPI_Comm_disconnect(&parent);
  }
  return finish();
}
