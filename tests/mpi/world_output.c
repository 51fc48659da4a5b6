/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Every line a rank writes arrives, whole and in the order in which the rank wrote it, on stdout and on stderr; also
 * what is written with write(2), in pieces, and without a final flush. */
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  for (int i = 0; i < 100; ++i) {
    say("line %d of stdout", i);
    if (i % 10 == 0) {
      say_to(stderr, "line %d of stderr", i);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  fflush(stdout);
  char line[64];
  const int length = snprintf(line, sizeof line, "[%d] written by write(2)\n", world_rank);
  CHECK_EQ(write(STDOUT_FILENO, line, length), length);
  printf("[%d] a line ", world_rank);
  printf("in %d ", 3);
  printf("pieces\n");
  puts("");
  printf("[%d] %s\n", world_rank,
         "a long line: "
         "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
         "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789");
  CHECK_EQ(fileno(stdout), 1);
  CHECK_EQ(fileno(stderr), 2);
  const int result = finish();
  setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
  printf("[%d] flushed by exit\n", world_rank);
  return result;
}
