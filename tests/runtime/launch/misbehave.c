/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Programs that go wrong in one way each: misbehave HOW [RANK]. The rank that misbehaves is 1 unless given. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char* how, const char* name)
{
  return strcmp(how, name) == 0;
}

static int* volatile nowhere; /* null; volatile: the compiler must not know */

__attribute__((noinline)) static void crash(void)
{
  *nowhere = 1;
}

__attribute__((noinline)) static int overflow(int depth)
{
  volatile char frame[4096];
  frame[0] = (char)depth;
  return overflow(depth + 1) + frame[0];
}

__attribute__((constructor)) static void early(void)
{
  if (getenv("CRASH_IN_CONSTRUCTOR"))
    crash();
}

int main(int argc, char** argv)
{
  const char* how = argc > 1 ? argv[1] : "";
  int rank = 0, buffer = 0;
  if (is(how, "crash-before-init"))
    crash();
  if (is(how, "exit-before-init"))
    return 4;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int who = argc > 2 ? atoi(argv[2]) : 1;
  if (is(how, "deadlock"))
    MPI_Recv(&buffer, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (is(how, "endless")) {
    if (rank == 0 && getenv("MISBEHAVE_STARTED")) /* a file that signal_once_started.sh waits for, and removes */
      close(creat(getenv("MISBEHAVE_STARTED"), 0600));
    for (;;)
      ++*(volatile int*)&buffer;
  }
  if (is(how, "endless-polling"))
    for (int flag = 0; !flag;)
      MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), MPI_Wtime();
  if (rank == who) {
    if (is(how, "crash"))
      crash();
    if (is(how, "overflow"))
      return overflow(0);
    if (is(how, "exit"))
      exit(3);
    if (is(how, "_exit"))
      _exit(5);
    if (is(how, "abort"))
      abort();
    if (is(how, "mpi-abort"))
      MPI_Abort(MPI_COMM_WORLD, 7);
    if (is(how, "no-finalize"))
      return 0;
    if (is(how, "raise"))
      raise(SIGTERM);
    if (is(how, "chatter"))
      for (int i = 0; i < 1000000; ++i)
        printf("line %d\n", i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
