/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Rank 0 reads what the job was given on stdin; the others see its end. */
#include "check.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  char line[256];
  int lines = 0;
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    say("read '%s'", line);
    ++lines;
  }
  CHECK(feof(stdin));
  CHECK(world_rank == 0 ? lines > 0 : lines == 0);
  MPI_Bcast(&lines, 1, MPI_INT, 0, MPI_COMM_WORLD);
  say("%d lines", lines);
  return finish();
}
