/* SPDX-License-Identifier: LGPL-2.1-or-later
 * End of a rank, child processes. Table: preload/tables/process.def. */
#include "preload/shim.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "preload/descriptors.h"

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
__attribute__((constructor)) static void register_quick_exit(void)
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

/* The child is a plain process outside the simulation, usually on its way to exec. The parent goes on when it has the
 * handlers of the rank: the runtime's would otherwise take what the parent sends it. */
UMW_PUBLIC pid_t fork(void)
{
  uint64_t mask = 0;
  int ready[2];
  char byte = 0;
  if (!umw_gate)
    return UMW_REAL(fork)();
  umw_signal_mask(SIG_BLOCK, NULL, &mask);
  if (pipe2(ready, O_CLOEXEC) != 0)
    return -1;
  umw_unshare_memory();
  umw_gate->uncut = 1; /* as in threads.c, make_control_block */
  const pid_t child = UMW_REAL(fork)();
  umw_gate->uncut = 0;
  const int error = errno;
  if (child == 0) {
    const struct rlimit limit = {umw_gate->descriptors_soft, umw_gate->descriptors_hard};
    UMW_REAL(setrlimit)(RLIMIT_NOFILE, &limit);
    umw_gate = NULL;
    umw_signals_of_child(mask);
    (void)!UMW_REAL(write)(ready[1], &byte, 1);
  }
  UMW_REAL(close)(ready[1]);
  if (child > 0)
    umw_note_child(child);
  while (child > 0 && UMW_REAL(read)(ready[0], &byte, 1) < 0 && errno == EINTR)
    ;
  UMW_REAL(close)(ready[0]);
  errno = error;
  return child;
}

UMW_PUBLIC int posix_spawn(pid_t* restrict pid, const char* restrict path, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* restrict attributes, char* const argv[restrict],
                           char* const envp[restrict])
{
  pid_t child;
  const int result = UMW_REAL(posix_spawn)(&child, path, actions, attributes, argv, envp);
  if (result == 0 && umw_gate)
    umw_note_child(child);
  if (result == 0 && pid)
    *pid = child;
  return result;
}

UMW_PUBLIC int posix_spawnp(pid_t* restrict pid, const char* restrict file, const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* restrict attributes, char* const argv[restrict],
                            char* const envp[restrict])
{
  pid_t child;
  const int result = UMW_REAL(posix_spawnp)(&child, file, actions, attributes, argv, envp);
  if (result == 0 && umw_gate)
    umw_note_child(child);
  if (result == 0 && pid)
    *pid = child;
  return result;
}

UMW_PUBLIC pid_t vfork(void)
{
  return fork();
}
