/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Signals of a rank. The kernel knows one set of handlers for the whole process, and those are the runtime's; what a rank
 * installs is kept here. The runtime hands on what befalls the rank (a fault, a closed pipe), and what a rank raises itself
 * never reaches the kernel.
 */
#include "preload/shim.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static struct sigaction actions[NSIG];

static bool acceptable(int number)
{
  return number > 0 && number < NSIG && number != SIGKILL && number != SIGSTOP;
}

UMW_PUBLIC int sigaction(int number, const struct sigaction* restrict action, struct sigaction* restrict old)
{
  if (!umw_gate)
    return UMW_REAL(sigaction)(number, action, old);
  if (!acceptable(number) && (action || number <= 0 || number >= NSIG)) {
    errno = EINVAL;
    return -1;
  }
  const struct sigaction previous = actions[number];
  if (action)
    actions[number] = *action;
  if (old)
    *old = previous;
  return 0;
}

UMW_PUBLIC sighandler_t signal(int number, sighandler_t handler)
{
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
  if (!umw_gate)
    return UMW_REAL(signal)(number, handler);
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

UMW_PUBLIC int sigaltstack(const stack_t* restrict stack, stack_t* restrict old)
{
  if (!umw_gate)
    return UMW_REAL(sigaltstack)(stack, old);
  if (old)
    *old = (stack_t){.ss_flags = SS_DISABLE};
  return 0;
}

/* Runs the rank's handler; false if the rank has none and does not ignore the signal. */
static bool deliver(int number, siginfo_t* info, void* context)
{
  const struct sigaction action = actions[number];
  if (action.sa_handler == SIG_DFL)
    return false;
  if (action.sa_handler == SIG_IGN) /* a fault cannot be ignored, sigaction(2) */
    return number != SIGSEGV && number != SIGBUS && number != SIGFPE && number != SIGILL;
  if (action.sa_flags & SA_RESETHAND)
    actions[number].sa_handler = SIG_DFL;
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(number, info, context);
  else
    action.sa_handler(number);
  return true;
}

__attribute__((constructor)) static void offer_delivery(void)
{
  if (umw_gate)
    umw_gate->deliver_signal = (umw_deliver_signal)deliver;
}

static bool harmless(int number)
{
  return number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT || number == SIGTSTP ||
         number == SIGTTIN || number == SIGTTOU || number == SIGSTOP;
}

int umw_raise(int number)
{
  siginfo_t info = {.si_signo = number, .si_code = SI_USER};
  info.si_pid = umw_gate->pid;
  info.si_uid = getuid();
  if (number != SIGKILL && number != SIGSTOP && deliver(number, &info, NULL))
    return 0;
  if (!harmless(number))
    umw_exit(number, UMW_EXIT_SIGNAL, NULL);
  return 0;
}

static int send(int number, bool to_self)
{
  if (number < 0 || number >= NSIG)
    return EINVAL;
  if (!to_self)
    return EPERM;
  return number == 0 ? 0 : umw_raise(number);
}

static int send_or_fail(int number, bool to_self)
{
  const int error = send(number, to_self);
  if (error == 0)
    return 0;
  errno = error;
  return -1;
}

UMW_PUBLIC int raise(int number)
{
  return umw_gate ? send_or_fail(number, true) : UMW_REAL(raise)(number);
}

UMW_PUBLIC int kill(pid_t pid, int number)
{
  return umw_gate ? send_or_fail(number, pid == umw_gate->pid || pid == 0) : UMW_REAL(kill)(pid, number);
}

UMW_PUBLIC int tgkill(pid_t group, pid_t thread, int number)
{
  if (!umw_gate)
    return UMW_REAL(tgkill)(group, thread, number);
  return send_or_fail(number, group == umw_gate->pid && thread == umw_gate->pid);
}

UMW_PUBLIC int pthread_kill(pthread_t thread, int number)
{
  return umw_gate ? send(number, pthread_equal(thread, pthread_self()) != 0) : UMW_REAL(pthread_kill)(thread, number);
}
