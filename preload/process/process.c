/* SPDX-License-Identifier: LGPL-2.1-or-later
 * End of a rank, fork(2). Table: preload/abi/tables/process.def. */
#include "preload/shim.h"

#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"

UMW_PUBLIC void _exit(int status)
{
  if (umw_gate) {
    umw_release_robust_mutexes();
    umw_exit(status & 0xff, UMW_EXIT_NORMAL, NULL);
  }
  UMW_REAL(_exit)(status);
  __builtin_unreachable();
}

UMW_PUBLIC void _Exit(int status)
{
  _exit(status);
}

static int quick_status;

static void end_of_quick_exit(void)
{
  if (umw_gate) {
    umw_release_robust_mutexes();
    umw_exit(quick_status & 0xff, UMW_EXIT_NORMAL, NULL);
  }
}

/* The very first handler, hence the last to run. */
void umw_register_quick_exit(void)
{
  at_quick_exit(end_of_quick_exit);
}

UMW_PUBLIC void quick_exit(int status)
{
  quick_status = status;
  UMW_REAL(quick_exit)(status);
  __builtin_unreachable();
}

UMW_PUBLIC void abort(void)
{
  if (umw_gate) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGABRT);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(SIGABRT);
    umw_die(SIGABRT, NULL, NULL); /* a handler that returns, or none, does not save the process, abort(3) */
  }
  UMW_REAL(abort)();
  __builtin_unreachable();
}

/* --- fork(2) --------------------------------------------------------------------------------------------------------
 * The child is a plain process outside the simulation, usually on its way to exec. It has the rank's code as it came
 * from its files. The parent goes on when it has the handlers of the rank: the runtime's would otherwise take what the
 * parent sends it. All of this also where the C library forks (forkpty). */
static struct {
  uint64_t mask;
  int ready[2]; /* -1: there was no descriptor to be had */
} forking;

static void before_fork(void)
{
  if (!umw_gate)
    return;
  const int error = errno;
  umw_signal_mask(SIG_BLOCK, NULL, &forking.mask);
  if (UMW_REAL(pipe2)(forking.ready, O_CLOEXEC) != 0)
    forking.ready[0] = forking.ready[1] = -1;
  umw_unshare_memory();
  umw_gate->no_preempt = 1; /* as in threads/thread_blocks.c */
  umw_original_code(1);
  errno = error;
}

static void child_of_fork(void)
{
  if (!umw_gate)
    return;
  const struct rlimit limit = {umw_gate->descriptors_soft, umw_gate->descriptors_hard};
  UMW_REAL(setrlimit)(RLIMIT_NOFILE, &limit);
  const struct umw_gate* gate = umw_gate;
  umw_gate = NULL;
  umw_signals_of_child(forking.mask);
  (void)!UMW_REAL(write)(forking.ready[1], "", 1);
  UMW_REAL(close)(forking.ready[0]);
  UMW_REAL(close)(forking.ready[1]);
  umw_numbers_of_child(gate);
}

/* Also if there is no child: then nobody writes. */
static void parent_of_fork(void)
{
  char byte;
  if (!umw_gate)
    return;
  const int error = errno;
  umw_original_code(0);
  umw_gate->no_preempt = 0;
  UMW_REAL(close)(forking.ready[1]);
  while (UMW_REAL(read)(forking.ready[0], &byte, 1) < 0 && errno == EINTR)
    ;
  UMW_REAL(close)(forking.ready[0]);
  errno = error;
}

void umw_watch_forks(void)
{
  pthread_atfork(before_fork, parent_of_fork, child_of_fork);
}

UMW_PUBLIC pid_t fork(void)
{
  const pid_t child = UMW_REAL(fork)();
  if (child > 0 && umw_gate)
    umw_note_child(child);
  return child;
}

UMW_PUBLIC pid_t forkpty(int* terminal, char* name, const struct termios* settings, const struct winsize* size)
{
  umw_count_opening(1);
  const pid_t child = UMW_REAL(forkpty)(terminal, name, settings, size);
  if (child > 0 && umw_gate) {
    umw_note_child(child);
    *terminal = umw_note_opened(*terminal);
  }
  if (child != 0)
    umw_count_opening(-1);
  return child;
}

UMW_PUBLIC pid_t vfork(void)
{
  return fork();
}
