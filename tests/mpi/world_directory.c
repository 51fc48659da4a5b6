/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Every rank has its own working directory: each goes into one of its own, and relative names follow. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "directory.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  char base[directory_bytes];
  make_directory(base);
  char directory[PATH_MAX], seen[PATH_MAX];
  snprintf(directory, sizeof directory, "%s/%d", base, world_rank);
  CHECK_EQ(mkdir(directory, 0700), 0);
  CHECK_EQ(chdir(directory), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(getcwd(seen, sizeof seen) != NULL && strcmp(seen, directory) == 0);
  FILE* file = fopen("note", "w");
  CHECK(file != NULL);
  if (file != NULL) {
    fprintf(file, "%d\n", world_rank);
    fclose(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int got = -1;
  file = fopen("note", "r");
  CHECK(file != NULL && fscanf(file, "%d", &got) == 1);
  if (file != NULL) {
    fclose(file);
  }
  CHECK_EQ(got, world_rank);
  CHECK_EQ(unlink("note"), 0);
  CHECK_EQ(chdir("/"), 0);
  CHECK_EQ(rmdir(directory), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    CHECK_EQ(rmdir(base), 0);
  }
  return finish();
}
