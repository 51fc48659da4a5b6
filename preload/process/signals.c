/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Signals of a rank. The kernel knows one set of handlers for the whole process, and those are the runtime's; what a
 * rank installs is kept here. The runtime hands on the rank's own faults and signals (a closed pipe). What ranks, their
 * threads and timers send each other never reaches the kernel: the runtime keeps what pends and each thread's mask, and
 * a thread acts on what is due at the end of a crossing or when its time slice is over, on its own stack.
 */
#include "preload/shim.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/abi/time_units.h"

static struct sigaction actions[NSIG];

_Thread_local struct umw_interruptions umw_interruptions;

static uint64_t bit(int number)
{
  return (uint64_t)1 << (number - 1);
}

static uint64_t bits_of(const sigset_t* set)
{
  const uint64_t own_of_the_c_library = bit(32) | bit(33); /* __SIGRTMIN and the next */
  const uint64_t never_blocked = bit(SIGKILL) | bit(SIGSTOP);
  uint64_t bits;
  memcpy(&bits, set, sizeof bits);
  return bits & ~(own_of_the_c_library | never_blocked);
}

static void set_bits(sigset_t* set, uint64_t bits)
{
  sigemptyset(set);
  memcpy(set, &bits, sizeof bits);
}

static int failed(int error)
{
  errno = error;
  return -1;
}

/* --- what is done about a signal ---------------------------------------------------------------------------------- */

static bool stops(int number)
{
  return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

static bool ignored(int number)
{
  if (actions[number].sa_handler == SIG_DFL)
    return number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT;
  return actions[number].sa_handler == SIG_IGN;
}

static void tell_what_is_ignored(void)
{
  uint64_t set = 0;
  for (int number = 1; number < NSIG; ++number)
    if (ignored(number))
      set |= bit(number);
  umw_signal_ignore(set);
}

static bool acceptable(int number)
{
  return number > 0 && number < NSIG && number != SIGKILL && number != SIGSTOP;
}

UMW_PUBLIC int sigaction(int number, const struct sigaction* restrict action, struct sigaction* restrict old)
{
  if (!umw_gate)
    return UMW_REAL(sigaction)(number, action, old);
  if (!acceptable(number) && (action || number <= 0 || number >= NSIG))
    return failed(EINVAL);
  const struct sigaction previous = actions[number];
  if (action) {
    const bool was_ignored = ignored(number);
    actions[number] = *action;
    if (ignored(number) != was_ignored)
      tell_what_is_ignored();
  }
  if (old)
    *old = previous;
  return 0;
}

static sighandler_t install(int number, sighandler_t handler, int flags)
{
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

UMW_PUBLIC sighandler_t signal(int number, sighandler_t handler)
{
  return umw_gate ? install(number, handler, SA_RESTART) : UMW_REAL(signal)(number, handler);
}

UMW_PUBLIC sighandler_t __sysv_signal(int number, sighandler_t handler)
{
  return umw_gate ? install(number, handler, (int)(SA_RESETHAND | SA_NODEFER))
                  : UMW_REAL(__sysv_signal)(number, handler);
}

UMW_PUBLIC sighandler_t sysv_signal(int number, sighandler_t handler)
{
  return __sysv_signal(number, handler);
}

UMW_PUBLIC int siginterrupt(int number, int interrupt)
{
  struct sigaction action;
  if (sigaction(number, NULL, &action) != 0)
    return -1;
  action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
  return sigaction(number, &action, NULL);
}

/* What the thread has asked for. Handlers use the runtime's signal stack in its place. */
static _Thread_local stack_t alternate_stack = {.ss_flags = SS_DISABLE};

UMW_PUBLIC int sigaltstack(const stack_t* restrict stack, stack_t* restrict old)
{
  if (!umw_gate)
    return UMW_REAL(sigaltstack)(stack, old);
  const int auto_disarm = (int)(1U << 31); /* SS_AUTODISARM of linux/signal.h */
  const stack_t previous = alternate_stack;
  if (stack) {
    const int mode = stack->ss_flags & ~auto_disarm;
    if (mode != 0 && mode != SS_DISABLE && mode != SS_ONSTACK)
      return failed(EINVAL);
    if (mode != SS_DISABLE && stack->ss_size < (size_t)MINSIGSTKSZ)
      return failed(ENOMEM);
    alternate_stack = mode == SS_DISABLE ? (stack_t){.ss_flags = SS_DISABLE}
                                         : (stack_t){stack->ss_sp, stack->ss_flags & auto_disarm, stack->ss_size};
  }
  if (old)
    *old = previous;
  return 0;
}

/* At its beginning; returns the thread's mask while it runs. */
static uint64_t begin_handler(const struct sigaction* action, int number, uint64_t mask)
{
  if (action->sa_flags & (int)SA_RESETHAND)
    actions[number].sa_handler = SIG_DFL;
  return mask | bits_of(&action->sa_mask) | (action->sa_flags & SA_NODEFER ? 0 : bit(number));
}

static void call(const struct sigaction* action, int number, siginfo_t* info, void* context)
{
  if (action->sa_flags & SA_SIGINFO)
    action->sa_sigaction(number, info, context);
  else
    action->sa_handler(number);
}

/* The same where no kernel interrupts the thread: a handler begins with rounding and traps as usual, whatever the
 * thread has chosen. */
static void call_as_kernel(const struct sigaction* action, int number, siginfo_t* info, void* context)
{
  const uint32_t usual = 0x1f80;
  uint32_t mxcsr, x87[7];
  __asm__ volatile("stmxcsr %0\n\tfnstenv %1\n\tfninit\n\tldmxcsr %2" : "=m"(mxcsr), "=m"(x87) : "m"(usual));
  call(action, number, info, context);
  __asm__ volatile("ldmxcsr %0\n\tfldenv %1" : : "m"(mxcsr), "m"(x87));
}

/* The fault whose handler runs: if it ends by raising the same signal, this is what the process has died of. */
struct fault {
  int number; /* 0: none */
  const siginfo_t* info;
  const void* context;
};
static _Thread_local struct fault fault;

/* A fault cannot be ignored, sigaction(2). On the runtime's signal stack, so nothing crosses that the handler does not.
 */
static bool deliver(int number, siginfo_t* info, void* context, uint64_t* mask, bool stack_used_up)
{
  const struct sigaction action = actions[number];
  if (action.sa_handler == SIG_DFL)
    return false;
  if (action.sa_handler == SIG_IGN)
    return number == SIGPIPE;
  if (stack_used_up && (!(action.sa_flags & SA_ONSTACK) || alternate_stack.ss_flags & SS_DISABLE))
    return false;
  const uint64_t before = *mask;
  const uint64_t crossings = umw_gate->crossings;
  const struct fault outer = fault;
  *mask = begin_handler(&action, number, before);
  fault = (struct fault){number, info, context};
  call(&action, number, info, context);
  *mask = before;
  if (umw_gate->crossings != crossings)
    umw_signal_mask(SIG_BLOCK, NULL, NULL); /* what it has raised is acted upon on the way back */
  fault = outer;
  return true;
}

/* The mask that a call such as sigsuspend has replaced. It comes back when the first handler returns, so that what else
 * is pending stays so, sigsuspend(2). */
static _Thread_local struct {
  uint64_t before;
  bool changed;
} replaced;

/* All signals are blocked now; `mask` is what was before. False: no handler. */
static bool act_on(int number, siginfo_t* info, void* context, uint64_t mask)
{
  const struct sigaction action = actions[number];
  if (stops(number) && action.sa_handler == SIG_DFL)
    umw_warn("a signal that stops a process has no effect: the simulation has no job control");
  else if (action.sa_handler == SIG_DFL && !ignored(number))
    umw_die(number, fault.number == number ? fault.info : NULL, fault.number == number ? fault.context : NULL);
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
    return false;
  ++umw_interruptions.handled;
  if (!(action.sa_flags & SA_RESTART))
    ++umw_interruptions.final;
  ucontext_t here;
  if (!context && action.sa_flags & SA_SIGINFO && getcontext(&here) == 0)
    context = &here;
  const uint64_t during = begin_handler(&action, number, mask);
  umw_signal_mask(SIG_SETMASK, &during, NULL); /* others that are due interrupt this one at its first instruction */
  call_as_kernel(&action, number, info, context);
  return true;
}

static bool act_on_all(void* context)
{
  const int error = errno;
  const unsigned final = umw_interruptions.final;
  siginfo_t info;
  uint64_t mask = 0;
  for (int number = umw_signal_take(0, &mask, &info); number > 0; number = umw_signal_take(1, &mask, &info)) {
    const uint64_t before = mask;
    const __typeof__(replaced) own = replaced;
    replaced.changed = false;
    const bool handled = act_on(number, &info, context, before);
    mask = handled && own.changed ? own.before : before;
    if (!handled)
      replaced = own;
  }
  errno = error;
  return umw_interruptions.final != final;
}

void umw_act_on_signals(void)
{
  act_on_all(NULL);
}

void umw_offer_delivery(void)
{
  umw_gate->deliver_signal = (umw_deliver_signal)deliver;
  umw_gate->deliver_pending = act_on_all;
  for (int number = 1; number < NSIG; ++number)
    if (umw_gate->kept_ignored & bit(number))
      actions[number].sa_handler = SIG_IGN;
}

uint64_t umw_explicitly_ignored(void)
{
  uint64_t set = 0;
  for (int number = 1; number < NSIG; ++number)
    if (actions[number].sa_handler == SIG_IGN)
      set |= bit(number);
  return set;
}

void umw_signals_of_child(uint64_t mask)
{
  sigset_t set;
  for (int number = 1; number < NSIG; ++number)
    if (acceptable(number) && number != 32 && number != 33)
      UMW_REAL(sigaction)(number, &actions[number], NULL);
  UMW_REAL(sigaltstack)(&alternate_stack, NULL);
  set_bits(&set, mask);
  UMW_REAL(pthread_sigmask)(SIG_SETMASK, &set, NULL);
}

/* A handler may leave by a long jump; the mask that __sigsetjmp has saved is the kernel's, which nobody changes. */
void __longjmp_chk(struct __jmp_buf_tag environment[1], int value) __attribute__((noreturn));
#define LONG_JUMP(name)                                                                                                \
  UMW_PUBLIC void name(struct __jmp_buf_tag environment[1], int value)                                                 \
  {                                                                                                                    \
    if (umw_gate) {                                                                                                    \
      fault.number = 0;                                                                                                \
      if (environment->__mask_was_saved) {                                                                             \
        const uint64_t mask = bits_of((const sigset_t*)&environment->__saved_mask);                                    \
        umw_signal_mask(SIG_SETMASK, &mask, NULL);                                                                     \
      }                                                                                                                \
    }                                                                                                                  \
    UMW_REAL(name)(environment, value);                                                                                \
    __builtin_unreachable();                                                                                           \
  }
LONG_JUMP(longjmp)
LONG_JUMP(_longjmp)
LONG_JUMP(siglongjmp)
LONG_JUMP(__longjmp_chk)

/* --- masks -------------------------------------------------------------------------------------------------------- */

UMW_PUBLIC int pthread_sigmask(int how, const sigset_t* restrict set, sigset_t* restrict old)
{
  if (!umw_gate)
    return UMW_REAL(pthread_sigmask)(how, set, old);
  const uint64_t wanted = set ? bits_of(set) : 0;
  uint64_t before = 0;
  const int status = umw_signal_mask(how, set ? &wanted : NULL, &before);
  if (status < 0)
    return -status;
  if (old)
    set_bits(old, before);
  return 0;
}

UMW_PUBLIC int sigprocmask(int how, const sigset_t* restrict set, sigset_t* restrict old)
{
  if (!umw_gate)
    return UMW_REAL(sigprocmask)(how, set, old);
  const int error = pthread_sigmask(how, set, old);
  return error == 0 ? 0 : failed(error);
}

/* BSD's calls, which know the first 32 signals; sigvec(3). Shells use them. */
static int change_mask(int how, int mask)
{
  sigset_t set, old;
  sigemptyset(&set);
  memcpy(&set, &mask, sizeof mask);
  int before = 0;
  if (sigprocmask(how, &set, &old) != 0)
    return -1;
  memcpy(&before, &old, sizeof before);
  return before;
}

UMW_PUBLIC int sigsetmask(int mask)
{
  return change_mask(SIG_SETMASK, mask);
}

UMW_PUBLIC int sigblock(int mask)
{
  return change_mask(SIG_BLOCK, mask);
}

UMW_PUBLIC int siggetmask(void)
{
  return change_mask(SIG_BLOCK, 0);
}

static int change_one(int how, int number)
{
  sigset_t set;
  sigemptyset(&set);
  return sigaddset(&set, number) == 0 ? sigprocmask(how, &set, NULL) : -1;
}

UMW_PUBLIC int sighold(int number)
{
  return change_one(SIG_BLOCK, number);
}

UMW_PUBLIC int sigrelse(int number)
{
  return change_one(SIG_UNBLOCK, number);
}

UMW_PUBLIC int sigignore(int number)
{
  return signal(number, SIG_IGN) == SIG_ERR ? -1 : 0;
}

UMW_PUBLIC int sigpending(sigset_t* set)
{
  if (!umw_gate)
    return UMW_REAL(sigpending)(set);
  set_bits(set, umw_signal_pending(0));
  return 0;
}

void umw_mask_during(const void* set)
{
  if (!set)
    return;
  const uint64_t wanted = bits_of(set);
  umw_signal_mask(SIG_BLOCK, NULL, &replaced.before);
  replaced.changed = true;
  umw_signal_mask(SIG_SETMASK, &wanted, NULL);
}

void umw_mask_after(void)
{
  if (!replaced.changed)
    return;
  replaced.changed = false;
  umw_signal_mask(SIG_SETMASK, &replaced.before, NULL);
}

/* --- waiting for one ---------------------------------------------------------------------------------------------- */

/* Until a handler has run that was not counted in `handled`. */
static int wait_for_handler(unsigned handled)
{
  while (umw_interruptions.handled == handled) {
    umw_test_cancel();
    umw_signal_wait(0, -1, NULL);
  }
  return failed(EINTR);
}

UMW_PUBLIC int pause(void)
{
  return umw_gate ? wait_for_handler(umw_interruptions.handled) : UMW_REAL(pause)();
}

UMW_PUBLIC int sigsuspend(const sigset_t* set)
{
  if (!umw_gate)
    return UMW_REAL(sigsuspend)(set);
  const unsigned handled = umw_interruptions.handled;
  umw_mask_during(set);
  wait_for_handler(handled);
  umw_mask_after();
  return failed(EINTR);
}

/* Negative errno; `duration_ps` negative: no limit. */
static int wait_for_signal(const sigset_t* set, siginfo_t* info, int64_t duration_ps)
{
  const unsigned handled = umw_interruptions.handled;
  const int64_t begin = duration_ps > 0 ? umw_now_ps(NULL) : 0;
  const uint64_t wanted = bits_of(set);
  for (int64_t left = duration_ps;;) {
    umw_test_cancel();
    const int number = umw_signal_wait(wanted, left, info);
    if (number != 0 && info && info->si_code == SI_TKILL)
      info->si_code = SI_USER; /* as the C library does, sysdeps/unix/sysv/linux/sigtimedwait.c */
    if (number != 0)
      return number;
    if (umw_interruptions.handled != handled)
      return -EINTR;
    if (duration_ps >= 0) {
      left = duration_ps == 0 ? 0 : umw_ps_left(begin, duration_ps, umw_now_ps(NULL));
      if (left == 0)
        return -EAGAIN;
    }
  }
}

UMW_PUBLIC int sigtimedwait(const sigset_t* restrict set, siginfo_t* restrict info,
                            const struct timespec* restrict timeout)
{
  if (!umw_gate)
    return UMW_REAL(sigtimedwait)(set, info, timeout);
  if (timeout && !umw_is_time(timeout))
    return failed(EINVAL);
  return umw_result(wait_for_signal(set, info, timeout ? umw_ps_of_timespec(timeout) : -1));
}

UMW_PUBLIC int sigwaitinfo(const sigset_t* restrict set, siginfo_t* restrict info)
{
  return umw_gate ? umw_result(wait_for_signal(set, info, -1)) : UMW_REAL(sigwaitinfo)(set, info);
}

UMW_PUBLIC int sigwait(const sigset_t* restrict set, int* restrict number)
{
  if (!umw_gate)
    return UMW_REAL(sigwait)(set, number);
  int result;
  do
    result = wait_for_signal(set, NULL, -1);
  while (result == -EINTR); /* sigwait(3) does not fail with it */
  *number = result;
  return 0;
}

int signalfd(int fd, const sigset_t* set, int flags);
UMW_PUBLIC int signalfd(int fd, const sigset_t* set, int flags)
{
  if (!umw_gate)
    return UMW_REAL(signalfd)(fd, set, flags);
  umw_warn("signalfd() refused (ENOSYS). Next step: sigwaitinfo() in a thread");
  return failed(ENOSYS);
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

static bool is_signal(int number)
{
  return number >= 0 && number < NSIG;
}

/* Children are processes of the machine, outside the simulation. */
bool umw_is_child(pid_t pid)
{
  siginfo_t info;
  const int error = errno;
  const bool child = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  errno = error;
  return child;
}

/* To a process: 0 or negative errno. */
static int send(pid_t pid, int number, int code, union sigval value)
{
  if (!is_signal(number))
    return -EINVAL;
  const int status = umw_signal_send(pid, 0, number, code, (uint64_t)value.sival_ptr);
  if (status != -ESRCH)
    return status;
  if (pid == umw_gate->parent_pid)
    return number == 0 ? 0 : -EPERM;
  if (pid > 1 && umw_is_child(pid) &&
      (code == SI_USER ? UMW_REAL(kill)(pid, number) : UMW_REAL(sigqueue)(pid, number, value)) == 0)
    return 0;
  return -ESRCH;
}

static int send_to_thread(int tid, int number)
{
  return is_signal(number) ? umw_signal_send(umw_gate->pid, tid, number, SI_TKILL, 0) : -EINVAL;
}

/* A rank leads a process group of its own, as Open MPI's launcher arranges it. */
UMW_PUBLIC int kill(pid_t pid, int number)
{
  const union sigval none = {0};
  if (!umw_gate)
    return UMW_REAL(kill)(pid, number);
  if (pid == 0 || -pid == getpgrp())
    pid = umw_gate->pid;
  if (pid == -1) /* everybody else would be the launcher's affair */
    return failed(EPERM);
  return umw_result(send(pid < 0 ? -pid : pid, number, SI_USER, none));
}

UMW_PUBLIC int killpg(pid_t group, int number)
{
  if (!umw_gate)
    return UMW_REAL(killpg)(group, number);
  return group < 0 ? failed(EINVAL) : kill(-group, number);
}

UMW_PUBLIC int sigqueue(pid_t pid, int number, const union sigval value)
{
  return umw_gate ? umw_result(send(pid, number, SI_QUEUE, value)) : UMW_REAL(sigqueue)(pid, number, value);
}

UMW_PUBLIC int raise(int number)
{
  return umw_gate ? umw_result(send_to_thread(umw_gate->tid, number)) : UMW_REAL(raise)(number);
}

UMW_PUBLIC int tgkill(pid_t group, pid_t thread, int number)
{
  if (!umw_gate)
    return UMW_REAL(tgkill)(group, thread, number);
  if (group <= 0 || thread <= 0 || !is_signal(number))
    return failed(EINVAL);
  return umw_result(umw_signal_send(group, thread, number, SI_TKILL, 0));
}

UMW_PUBLIC int pthread_kill(pthread_t thread, int number)
{
  if (!umw_gate)
    return UMW_REAL(pthread_kill)(thread, number);
  const int tid = umw_thread_id(thread);
  if (tid == 0) /* not yet joined: no error, pthread_kill(3) */
    return 0;
  return tid < 0 ? ESRCH : -send_to_thread(tid, number);
}

UMW_PUBLIC int pthread_sigqueue(pthread_t thread, int number, const union sigval value)
{
  if (!umw_gate)
    return UMW_REAL(pthread_sigqueue)(thread, number, value);
  const int tid = umw_thread_id(thread);
  if (tid <= 0)
    return ESRCH;
  return is_signal(number) ? -umw_signal_send(umw_gate->pid, tid, number, SI_QUEUE, (uint64_t)value.sival_ptr) : EINVAL;
}
