/* SPDX-License-Identifier: LGPL-2.1-or-later
 * MPI_Init_thread, the state queries around it, versions, and the attributes of MPI_COMM_WORLD. */
#include "check.h"

int main(int argc, char** argv)
{
  int flag = -1, provided = -1, level = -1, is_main = 0, version = 0, subversion = -1, found = 0;
  MPI_Initialized(&flag);
  CHECK_EQ(flag, 0);
  MPI_Finalized(&flag);
  CHECK_EQ(flag, 0);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK(provided >= MPI_THREAD_FUNNELED);
  MPI_Query_thread(&level);
  CHECK_EQ(level, provided);
  MPI_Is_thread_main(&is_main);
  CHECK(is_main);
  MPI_Initialized(&flag);
  CHECK_EQ(flag, 1);
  MPI_Get_version(&version, &subversion);
  say("MPI %d.%d", version, subversion);
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(library, &length);
  CHECK(strstr(library, "Open MPI") != NULL);
  void* value = NULL;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  CHECK(found && *(int*)value >= 32767);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &found);
  CHECK(found);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found);
  CHECK(!found || *(int*)value >= 1);
  MPI_Comm parent = MPI_COMM_WORLD;
  MPI_Comm_get_parent(&parent);
  CHECK(parent == MPI_COMM_NULL);
  MPI_Finalize();
  MPI_Finalized(&flag);
  CHECK_EQ(flag, 1);
  return verdict();
}
