/* SPDX-License-Identifier: LGPL-2.1-or-later
 * End of a rank, child processes, working directory. Table: preload/tables/process.def. */
#include "preload/shim.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

UMW_PUBLIC void _exit(int status)
{
  if (umw_gate)
    umw_exit(status & 0xff, UMW_EXIT_NORMAL, NULL);
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
  if (umw_gate)
    umw_exit(quick_status & 0xff, UMW_EXIT_NORMAL, NULL);
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
    umw_raise(SIGABRT);
    umw_exit(SIGABRT, UMW_EXIT_SIGNAL, NULL); /* a handler that returns does not save the process, abort(3) */
  }
  UMW_REAL(abort)();
  __builtin_unreachable();
}

/* The child is a plain process outside the simulation, usually on its way to exec. */
UMW_PUBLIC pid_t fork(void)
{
  const pid_t child = UMW_REAL(fork)();
  if (child == 0)
    umw_gate = NULL;
  return child;
}

UMW_PUBLIC pid_t vfork(void)
{
  return fork();
}

UMW_PUBLIC unsigned alarm(unsigned seconds)
{
  if (!umw_gate)
    return UMW_REAL(alarm)(seconds);
  if (seconds != 0)
    umw_warn("alarm() has no effect: timer signals are not simulated by this version");
  return 0;
}

UMW_PUBLIC int setitimer(__itimer_which_t which, const struct itimerval* restrict value, struct itimerval* restrict old)
{
  if (!umw_gate)
    return UMW_REAL(setitimer)(which, value, old);
  umw_warn("setitimer() refused (ENOSYS): timer signals are not simulated by this version");
  errno = ENOSYS;
  return -1;
}

UMW_PUBLIC int chdir(const char* path)
{
  return umw_gate ? umw_result(umw_change_directory(path, -1)) : UMW_REAL(chdir)(path);
}

UMW_PUBLIC int fchdir(int fd)
{
  return umw_gate ? umw_result(umw_change_directory(NULL, fd)) : UMW_REAL(fchdir)(fd);
}
