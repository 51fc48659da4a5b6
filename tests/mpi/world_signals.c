/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Ranks of a node signal each other: one that waits for it, one that computes, one that is inside MPI. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t caught, sender;

static void handler(int number, siginfo_t* info, void* context)
{
  (void)number;
  (void)context;
  sender = info->si_pid;
  ++caught;
}

int main(int argc, char** argv)
{
  sigset_t usr1, old;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  /* before MPI starts threads: they inherit it, and leave the signals to this one */
  sigprocmask(SIG_BLOCK, &usr1, &old);
  begin(&argc, &argv);
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  const pid_t own = getpid();
  pid_t other = 0;

  MPI_Sendrecv(&own, (int)sizeof own, MPI_BYTE, 1 - world_rank, 0, &other, (int)sizeof other, MPI_BYTE, 1 - world_rank,
               0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(kill(other, 0) == 0);
  if (world_rank == 0) {
    CHECK(kill(other, SIGUSR1) == 0);
  } else {
    while (!caught) {
      CHECK(sigsuspend(&old) == -1 && errno == EINTR);
    }
    CHECK_EQ(sender, other);
  }
  sigprocmask(SIG_SETMASK, &old, NULL);

  MPI_Barrier(MPI_COMM_WORLD);
  caught = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    CHECK(kill(other, SIGUSR1) == 0);
  } else {
    while (!caught) { /* no call at all */
    }
  }

  MPI_Barrier(MPI_COMM_WORLD);
  caught = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  int token = 7;
  if (world_rank == 0) {
    usleep(10000);
    CHECK(kill(other, SIGUSR1) == 0);
    usleep(10000);
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    token = 0;
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(token, 7);
    CHECK_EQ(caught, 1);
  }
  return finish();
}
