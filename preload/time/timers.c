/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Timers. They run on the simulation's timeline or on the rank's simulated CPU time; the runtime has them
 * (runtime/job/timers.h), and settings and times are translated here. The descriptor of timerfd_create is an eventfd
 * that the runtime adds to, so it can be read and polled like the real one.
 */
#include "preload/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "preload/abi/time_units.h"
#include "preload/descriptors/descriptors.h"
#include "preload/threads/notify.h"

static int failed(int error)
{
  errno = error;
  return -1;
}

/* --- alarm, setitimer --------------------------------------------------------------------------------------------- */

static const int interval_signals[] = {SIGALRM, SIGVTALRM, SIGPROF}; /* ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF */
static int interval_timers[3];                                       /* number + 1; 0: not made yet */

static int interval_timer(int which)
{
  if (interval_timers[which] == 0)
    interval_timers[which] = umw_timer_create(which != ITIMER_REAL, interval_signals[which], SI_KERNEL, 0, 0, -1) + 1;
  return interval_timers[which] - 1;
}

static bool microseconds(const struct timeval* t)
{
  return t->tv_sec >= 0 && t->tv_usec >= 0 && t->tv_usec < 1000000;
}

static struct timeval timeval_of(int64_t ps)
{
  const int64_t us = ps / 1000000 + (ps % 1000000 > 0); /* what is armed is not shown as zero */
  return (struct timeval){us / 1000000, us % 1000000};
}

static struct itimerval itimerval_of(const int64_t* setting)
{
  return (struct itimerval){timeval_of(setting[1]), timeval_of(setting[0])};
}

UMW_PUBLIC int setitimer(__itimer_which_t which, const struct itimerval* restrict value, struct itimerval* restrict old)
{
  if (!umw_gate)
    return UMW_REAL(setitimer)(which, value, old);
  int64_t setting[2] = {0, 0}, before[2];
  if ((unsigned)which > ITIMER_PROF)
    return failed(EINVAL);
  if (value) {
    if (!microseconds(&value->it_value) || !microseconds(&value->it_interval))
      return failed(EINVAL);
    setting[0] = umw_ps_of_timeval(&value->it_value);
    setting[1] = umw_ps_of_timeval(&value->it_interval);
  }
  umw_timer_set(interval_timer((int)which), 0, setting, before);
  if (old)
    *old = itimerval_of(before);
  return 0;
}

UMW_PUBLIC int getitimer(__itimer_which_t which, struct itimerval* value)
{
  if (!umw_gate)
    return UMW_REAL(getitimer)(which, value);
  int64_t setting[2];
  if ((unsigned)which > ITIMER_PROF)
    return failed(EINVAL);
  umw_timer_get(interval_timer((int)which), setting);
  *value = itimerval_of(setting);
  return 0;
}

UMW_PUBLIC unsigned alarm(unsigned seconds)
{
  if (!umw_gate)
    return UMW_REAL(alarm)(seconds);
  const struct itimerval value = {.it_value = {seconds, 0}};
  struct itimerval old;
  setitimer(ITIMER_REAL, &value, &old);
  const unsigned left = (unsigned)old.it_value.tv_sec; /* rounded as the kernel does, but never to zero */
  return left + (old.it_value.tv_usec >= 500000 || (left == 0 && old.it_value.tv_usec > 0));
}

UMW_PUBLIC useconds_t ualarm(useconds_t value, useconds_t interval)
{
  if (!umw_gate)
    return UMW_REAL(ualarm)(value, interval);
  const struct itimerval setting = {{interval / 1000000, interval % 1000000}, {value / 1000000, value % 1000000}};
  struct itimerval old;
  setitimer(ITIMER_REAL, &setting, &old);
  return (useconds_t)(old.it_value.tv_sec * 1000000 + old.it_value.tv_usec);
}

/* --- settings with a clock ---------------------------------------------------------------------------------------- */

static bool is_cpu_clock(clockid_t id)
{
  return id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID || id < 0;
}

static void translate_back(const int64_t* setting, struct itimerspec* value)
{
  *value = (struct itimerspec){umw_timespec_of(setting[1]), umw_timespec_of(setting[0])};
}

/* 0 or negative errno */
static int set_timer(int number, clockid_t id, bool absolute, const struct itimerspec* value, struct itimerspec* old)
{
  if (!umw_is_time(&value->it_value) || !umw_is_time(&value->it_interval))
    return -EINVAL;
  int64_t setting[2], before[2];
  setting[0] = umw_ps_of_timespec(&value->it_value);
  setting[1] = umw_ps_of_timespec(&value->it_interval);
  if (absolute && setting[0] != 0 && !is_cpu_clock(id)) {
    const int64_t origin =
        id == CLOCK_REALTIME || id == CLOCK_TAI ? umw_gate->clock.realtime_origin_ns : umw_gate->clock.uptime_origin_ns;
    const struct timespec begin = {origin / 1000000000, origin % 1000000000};
    setting[0] = umw_ps_between(&begin, &value->it_value);
    if (setting[0] < 1) /* long ago */
      setting[0] = 1;
  }
  const int status = umw_timer_set(number, absolute, setting, before);
  if (status == 0 && old)
    translate_back(before, old);
  return status;
}

static bool is_clock(clockid_t id)
{
  return id == CLOCK_REALTIME || id == CLOCK_MONOTONIC || id == CLOCK_BOOTTIME || id == CLOCK_TAI || is_cpu_clock(id);
}

/* --- timer_create ------------------------------------------------------------------------------------------------- */

struct timer {
  int number;
  clockid_t clock;
  struct umw_due due; /* SIGEV_THREAD */
};

UMW_PUBLIC int timer_create(clockid_t id, struct sigevent* restrict event, timer_t* restrict result)
{
  if (!umw_gate)
    return UMW_REAL(timer_create)(id, event, result);
  if (!is_clock(id))
    return failed(EINVAL);
  struct timer* timer = calloc(1, sizeof *timer);
  if (!timer)
    return failed(EAGAIN);
  timer->clock = id;
  int number = SIGALRM, tid = 0, error = 0;
  uint64_t value = 0;
  switch (event ? event->sigev_notify : SIGEV_SIGNAL) {
  case SIGEV_NONE:
    number = 0;
    break;
  case SIGEV_THREAD:
    number = UMW_DUE_SIGNAL;
    timer->due =
        (struct umw_due){event->sigev_notify_function, event->sigev_value, event->sigev_notify_attributes, false};
    value = (uint64_t)&timer->due;
    error = umw_due_helper(&tid);
    break;
  case SIGEV_THREAD_ID:
    tid = event->_sigev_un._tid;
    /* fallthrough */
  case SIGEV_SIGNAL:
    if (event) {
      number = event->sigev_signo;
      value = (uint64_t)event->sigev_value.sival_ptr;
    }
    if (number <= 0 || number >= NSIG)
      error = EINVAL;
    break;
  default:
    error = EINVAL;
  }
  timer->number = error != 0 ? -error : umw_timer_create(is_cpu_clock(id), number, SI_TIMER, tid, value, -1);
  if (timer->number < 0) {
    error = -timer->number;
    free(timer);
    return failed(error);
  }
  if (!event) { /* sigev_value is then the timer's number, timer_create(2) */
    umw_timer_delete(timer->number);
    timer->number = umw_timer_create(is_cpu_clock(id), number, SI_TIMER, 0, (uint64_t)timer->number, -1);
  }
  *result = timer;
  return 0;
}

UMW_PUBLIC int timer_settime(timer_t timer, int flags, const struct itimerspec* restrict value,
                             struct itimerspec* restrict old)
{
  if (!umw_gate)
    return UMW_REAL(timer_settime)(timer, flags, value, old);
  const struct timer* own = timer;
  return umw_result(set_timer(own->number, own->clock, flags & TIMER_ABSTIME, value, old));
}

UMW_PUBLIC int timer_gettime(timer_t timer, struct itimerspec* value)
{
  if (!umw_gate)
    return UMW_REAL(timer_gettime)(timer, value);
  int64_t setting[2];
  const int status = umw_timer_get(((const struct timer*)timer)->number, setting);
  if (status == 0)
    translate_back(setting, value);
  return umw_result(status);
}

UMW_PUBLIC int timer_getoverrun(timer_t timer)
{
  return umw_gate ? umw_result(umw_timer_overrun(((const struct timer*)timer)->number))
                  : UMW_REAL(timer_getoverrun)(timer);
}

UMW_PUBLIC int timer_delete(timer_t timer)
{
  if (!umw_gate)
    return UMW_REAL(timer_delete)(timer);
  struct timer* own = timer;
  const int status = umw_timer_delete(own->number);
  if (!own->due.function) /* a thread of its last expiry may still be about to read it */
    free(own);
  return umw_result(status);
}

/* --- timerfd_create ----------------------------------------------------------------------------------------------- */

struct timer_fd {
  int fd, number;
  clockid_t clock;
  struct timer_fd* next;
};
static struct timer_fd* timer_fds; /* one for each descriptor: copies share the timer */

static struct timer_fd* find(int fd)
{
  struct timer_fd* entry = timer_fds;
  while (entry && entry->fd != fd)
    entry = entry->next;
  return entry;
}

static bool note(int fd, int number, clockid_t id)
{
  struct timer_fd* entry = malloc(sizeof *entry);
  if (!entry)
    return false;
  *entry = (struct timer_fd){fd, number, id, timer_fds};
  timer_fds = entry;
  return true;
}

void umw_timer_fd_closed(int fd)
{
  struct timer_fd** link = &timer_fds;
  while (*link && (*link)->fd != fd)
    link = &(*link)->next;
  struct timer_fd* entry = *link;
  if (!entry || !umw_gate)
    return;
  *link = entry->next;
  bool last = true;
  for (const struct timer_fd* other = timer_fds; other; other = other->next)
    last = last && other->number != entry->number;
  if (last)
    umw_timer_delete(entry->number);
  free(entry);
}

void umw_timer_fd_copied(int from, int to)
{
  if (!timer_fds || to < 0 || from == to)
    return;
  umw_timer_fd_closed(to); /* dup2 closes it */
  const struct timer_fd* entry = find(from);
  if (entry)
    note(to, entry->number, entry->clock);
}

bool umw_timer_fd_wait(int fd)
{
  if (!timer_fds || !umw_gate || !find(fd) || UMW_REAL(fcntl)(fd, F_GETFL) & O_NONBLOCK)
    return true;
  const unsigned final = umw_interruptions.final;
  struct pollfd descriptor = {fd, POLLIN, 0};
  for (uint64_t seen = umw_gate->wakes; UMW_REAL(poll)(&descriptor, 1, 0) <= 0; seen = umw_gate->wakes) {
    umw_test_cancel();
    ++umw_descriptor_waiters;
    umw_thread_wait(seen, -1, 0, 0);
    --umw_descriptor_waiters;
    if (umw_interruptions.final != final) {
      errno = EINTR;
      return false;
    }
  }
  return true;
}

UMW_PUBLIC int timerfd_create(clockid_t id, int flags)
{
  if (!umw_gate)
    return UMW_REAL(timerfd_create)(id, flags);
  if (!is_clock(id) || is_cpu_clock(id) || id == CLOCK_TAI || flags & ~(TFD_CLOEXEC | TFD_NONBLOCK))
    return failed(EINVAL);
  if (!umw_may_open(1))
    return -1;
  const int descriptor =
      UMW_UNINTERRUPTED(umw_note_opened(UMW_REAL(eventfd)(0, flags))); /* EFD_* and TFD_* are the same bits */
  if (descriptor < 0)
    return -1;
  const int own = umw_descriptor(descriptor);
  const int number = umw_timer_create(0, 0, 0, 0, 0, own);
  if (number >= 0 && note(own, number, id))
    return descriptor;
  umw_close(own);
  return failed(number < 0 ? -number : ENOMEM);
}

UMW_PUBLIC int timerfd_settime(int fd, int flags, const struct itimerspec* value, struct itimerspec* old)
{
  if (!umw_gate)
    return UMW_REAL(timerfd_settime)(fd, flags, value, old);
  const struct timer_fd* entry = find(umw_open_descriptor(fd));
  if (!entry)
    return failed(EINVAL);
  return umw_result(set_timer(entry->number, entry->clock, flags & TFD_TIMER_ABSTIME, value, old));
}

UMW_PUBLIC int timerfd_gettime(int fd, struct itimerspec* value)
{
  if (!umw_gate)
    return UMW_REAL(timerfd_gettime)(fd, value);
  const struct timer_fd* entry = find(umw_open_descriptor(fd));
  if (!entry)
    return failed(EINVAL);
  int64_t setting[2];
  umw_timer_get(entry->number, setting);
  translate_back(setting, value);
  return 0;
}
