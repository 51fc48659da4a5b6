/* SPDX-License-Identifier: LGPL-2.1-or-later
 * MPI_Comm_spawn_multiple: one job of two commands; their arguments, working directories and variables. */
#include "spawn.h"

#include <unistd.h>

int main(int argc, char** argv)
{
  begin_family(&argc, &argv);
  if (generation == 0) {
    char* commands[] = {argv[0], argv[0]};
    char* first[] = {"first", "1", NULL};
    char* second[] = {"second", "with blanks", "1", NULL};
    char** arguments[] = {first, second};
    int counts[] = {2, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Info_create(&infos[1]);
    MPI_Info_set(infos[1], "wdir", "/");
    MPI_Info_set(infos[1], "env", "UMWELT_TEST_SPAWN=set");
    int codes[] = {1, 1, 1};
    MPI_Comm children;
    CHECK_EQ(MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, 0, MPI_COMM_WORLD, &children, codes),
             MPI_SUCCESS);
    MPI_Info_free(&infos[1]);
    int size;
    MPI_Comm_remote_size(children, &size);
    CHECK_EQ(size, 3);
    if (world_rank == 0)
      for (int i = 0; i < size; ++i) {
        int number = -1;
        CHECK_EQ(codes[i], MPI_SUCCESS);
        MPI_Recv(&number, 1, MPI_INT, i, 0, children, MPI_STATUS_IGNORE);
        CHECK_EQ(number, i < 2 ? 0 : 1);
      }
    MPI_Comm_disconnect(&children);
  } else {
    char directory[1024];
    const int is_second = strcmp(argv[1], "second") == 0;
    int* number;
    int found;
    CHECK_EQ(world_size, 3);
    CHECK_EQ(is_second, world_rank - 100 == 2);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
    CHECK(found);
    CHECK_EQ(*number, is_second);
    CHECK_EQ(argc, is_second ? 4 : 3);
    CHECK(!is_second || strcmp(argv[2], "with blanks") == 0);
    CHECK(getcwd(directory, sizeof directory) != NULL);
    CHECK_EQ(strcmp(directory, "/") == 0, is_second);
    CHECK_EQ(getenv("UMWELT_TEST_SPAWN") != NULL, is_second);
    MPI_Send(number, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
  }
  return finish();
}
