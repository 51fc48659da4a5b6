/* SPDX-License-Identifier: LGPL-2.1-or-later
 * printers CHILDREN LINES: children of the rank, and the rank itself between its calls, write so many lines each, all
 * at the same time. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int output; /* what the rank's descriptor 1 leads to, also in its children */

static void print(const char* rank, int who, int line)
{
  char text[128];
  const int size = snprintf(text, sizeof text, "rank %s writer %d line %d of many, and its end\n", rank, who, line);
  if (write(output, text, (size_t)size) != size)
    abort();
}

int main(int argc, char** argv)
{
  const int children = argc > 1 ? atoi(argv[1]) : 1, lines = argc > 2 ? atoi(argv[2]) : 1;
  const char* rank = getenv("PMIX_RANK");
  int running = 0;
  output = dup(1);
  for (int child = 1; child <= children; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (int line = 0; line < lines; ++line)
        print(rank ? rank : "0", child, line);
      _exit(0);
    }
    running += pid > 0;
  }
  for (int line = 0; line < lines; ++line) {
    print(rank ? rank : "0", 0, line);
    sched_yield(); /* a call: what was written is passed on */
  }
  while (running > 0) {
    running -= waitpid(-1, NULL, WNOHANG) > 0;
    sched_yield();
  }
  return 0;
}
