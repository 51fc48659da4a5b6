/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Each rank executes itself with other arguments, then through a shell and env(1), then begins with MPI: it is the rank
 * that it was, and its time has gone on. After MPI_Init an exec that fails says so. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char** argv)
{
  char self[4096] = "";
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
    return 1;
  const int stage = argc > 1 ? atoi(argv[1]) : 0;
  char text[32];
  if (stage == 0) {
    snprintf(text, sizeof text, "%lld", now());
    setenv("UMWELT_TEST_DATE", text, 1);
    snprintf(text, sizeof text, "%d", getpid());
    setenv("UMWELT_TEST_PID", text, 1);
    usleep(20000);
    execvp(self, (char*[]){argv[0], "1", NULL});
    return 2;
  }
  if (stage == 1) {
    execlp("sh", "sh", "-c", "test $# = 2 && exec env UMWELT_TEST_GIVEN=by_env \"$1\" 2 \"$2\"", "script", self,
           "two words", NULL);
    return 3;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK(getenv("UMWELT_TEST_DATE") != NULL && now() >= atoll(getenv("UMWELT_TEST_DATE")) + 20000000);
  CHECK(getenv("UMWELT_TEST_PID") != NULL && atoi(getenv("UMWELT_TEST_PID")) == getpid());
  CHECK(argc == 3 && strcmp(argv[2], "two words") == 0);
  say("given %s", getenv("UMWELT_TEST_GIVEN"));
  int sum = 0;
  const int one = 1 + world_rank;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQ(sum, world_size * (world_size + 1) / 2);
  CHECK(execv("/no/such/program", argv) == -1 && errno == ENOENT);
  MPI_Finalize();
  return verdict();
}
