/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waiting for descriptors. The descriptors are the machine's, the time-out is simulated: they are looked at when the
 * call begins, whenever another thread of the rank writes to a descriptor (libevent's wake-up pipe), and when the
 * time-out is over. A signal handler ends it. Such a wait does not keep the simulation going: a rank whose helper
 * thread looks at a pipe once an hour is still deadlocked if nothing else can happen. One for no descriptor at all is a
 * sleep, and does.
 */
#include "preload/shim.h"

#include "preload/descriptors/descriptors.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "preload/abi/time_units.h"

int umw_descriptor_waiters;

/* Null: no limit. */
static int64_t ps_of_timeout(const struct timespec* t)
{
  return t ? umw_ps_of_timespec(t) : -1;
}

static bool is_timeout(const struct timespec* t)
{
  if (!t || umw_is_time(t))
    return true;
  errno = EINVAL;
  return false;
}

static int64_t ps_of_milliseconds(int milliseconds)
{
  return milliseconds < 0 ? -1 : (int64_t)milliseconds * 1000000000;
}

/* One look without waiting; the arguments are the call's own. Null: there is nothing to look at. */
typedef int (*look)(void* call);

/* `duration_ps` negative: no limit. */
static int wait_unmasked(look look_now, void* call, int64_t duration_ps)
{
  const unsigned handled = umw_interruptions.handled;
  const int64_t begin = duration_ps == 0 ? 0 : umw_now_ps(NULL);
  for (;;) {
    const uint64_t seen = umw_gate->wakes; /* from before the look, see threads/waiting.h */
    umw_test_cancel();
    int result;
    do
      result = look_now ? look_now(call) : 0;
    while (result < 0 &&
           errno == EINTR); /* Umwelt's own signals (runtime/rank_host/slices.h): those of the rank are simulated */
    if (result == 0 && duration_ps == 0)
      umw_yield(0); /* it looks again and again: nothing changes before others get on */
    if (result != 0 || duration_ps == 0)
      return result;
    int64_t left = -1;
    if (duration_ps > 0) {
      left = umw_ps_left(begin, duration_ps, umw_now_ps(NULL));
      if (left == 0)
        return 0;
    }
    ++umw_descriptor_waiters;
    if (look_now || left < 0)
      umw_descriptor_wait(seen, left);
    else
      umw_thread_wait(seen, left, 0, 0);
    --umw_descriptor_waiters;
    if (umw_interruptions.handled != handled) { /* never restarted, signal(7) */
      errno = EINTR;
      return -1;
    }
  }
}

/* The signal mask of the thread is `mask` meanwhile; null: its own. */
static int wait_for_descriptors(look look_now, void* call, int64_t duration_ps, const sigset_t* mask)
{
  if (!mask)
    return wait_unmasked(look_now, call, duration_ps);
  const unsigned handled = umw_interruptions.handled;
  umw_mask_during(mask);
  int result = -1;
  if (umw_interruptions.handled != handled) /* one that was pending */
    errno = EINTR;
  else
    result = wait_unmasked(look_now, call, duration_ps);
  const int error = errno;
  umw_mask_after();
  errno = error;
  return result;
}

struct poll_call {
  struct pollfd* fds;
  nfds_t count;
};

static int look_poll(void* argument)
{
  const struct timespec none = {0, 0};
  const struct poll_call* call = argument;
  for (nfds_t i = 0; i < call->count; ++i)
    umw_look_at(call->fds[i].fd);
  return UMW_REAL(ppoll)(call->fds, call->count, &none, NULL);
}

/* A number that is surely not open: -1 is one that poll(2) passes over. */
enum { not_open = INT_MAX };

static int own_or_none(int number)
{
  const int own = umw_open_descriptor(number);
  return own < 0 && number >= 0 ? not_open : own;
}

/* By the process's numbers, which mostly are the program's. */
static int poll_own(struct pollfd* fds, nfds_t count, int64_t duration_ps, const sigset_t* mask)
{
  nfds_t same = 0;
  if (fds)
    while (same < count && umw_open_descriptor(fds[same].fd) == fds[same].fd)
      ++same;
  struct poll_call call = {fds, count};
  if (!fds || same == count)
    return wait_for_descriptors(count > 0 ? look_poll : NULL, &call, duration_ps, mask);
  enum { few = 64 };
  struct pollfd room[few];
  struct pollfd* own = count <= few ? room : count <= umw_most_numbers ? malloc(count * sizeof *own) : NULL;
  if (!own) {
    errno = count <= umw_most_numbers ? ENOMEM : EINVAL;
    return -1;
  }
  for (nfds_t i = 0; i < count; ++i)
    own[i] = (struct pollfd){own_or_none(fds[i].fd), fds[i].events, 0};
  call.fds = own;
  const int result = wait_for_descriptors(look_poll, &call, duration_ps, mask);
  for (nfds_t i = 0; i < count && result >= 0; ++i)
    fds[i].revents = own[i].revents;
  if (own != room) {
    const int error = errno;
    free(own);
    errno = error;
  }
  return result;
}

UMW_PUBLIC int poll(struct pollfd* fds, nfds_t count, int timeout)
{
  return umw_gate ? poll_own(fds, count, ps_of_milliseconds(timeout), NULL) : UMW_REAL(poll)(fds, count, timeout);
}

UMW_PUBLIC int ppoll(struct pollfd* fds, nfds_t count, const struct timespec* timeout, const sigset_t* mask)
{
  if (!umw_gate)
    return UMW_REAL(ppoll)(fds, count, timeout, mask);
  return is_timeout(timeout) ? poll_own(fds, count, ps_of_timeout(timeout), mask) : -1;
}

/* What -D_FORTIFY_SOURCE makes of them. */
_Noreturn void __chk_fail(void);

UMW_PUBLIC int __poll_chk(struct pollfd* fds, nfds_t count, int timeout, size_t room)
{
  if (room / sizeof *fds < count)
    __chk_fail();
  return poll(fds, count, timeout);
}

UMW_PUBLIC int __ppoll_chk(struct pollfd* fds, nfds_t count, const struct timespec* timeout, const sigset_t* mask,
                           size_t room)
{
  if (room / sizeof *fds < count)
    __chk_fail();
  return ppoll(fds, count, timeout, mask);
}

struct select_call {
  int count;
  fd_set* sets[3];
  fd_set asked[3];
};

static int look_select(void* argument)
{
  const struct timespec none = {0, 0};
  struct select_call* call = argument;
  for (int i = 0; i < 3; ++i)
    if (call->sets[i]) {
      *call->sets[i] = call->asked[i];
      for (int fd = 0; fd < call->count; ++fd)
        if (FD_ISSET(fd, call->sets[i]))
          umw_look_at(fd);
    }
  return UMW_REAL(pselect)(call->count, call->sets[0], call->sets[1], call->sets[2], &none, NULL);
}

/* The same by poll(2): the process's numbers may be above what a set has room for. */
static int select_moved(struct select_call* call, int64_t duration_ps, const sigset_t* mask)
{
  static const short events[3] = {POLLIN, POLLOUT, POLLPRI};
  static const short found[3] = {POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI};
  struct pollfd fds[FD_SETSIZE];
  nfds_t count = 0;
  for (int fd = 0; fd < call->count; ++fd) {
    struct pollfd asked = {own_or_none(fd), 0, 0};
    for (int i = 0; i < 3; ++i)
      if (call->sets[i] && FD_ISSET(fd, &call->asked[i]))
        asked.events |= events[i];
    if (asked.events)
      fds[count++] = asked;
  }
  struct poll_call looks = {fds, count};
  if (wait_for_descriptors(look_poll, &looks, duration_ps, mask) < 0)
    return -1;
  for (nfds_t i = 0; i < count; ++i)
    if (fds[i].revents & POLLNVAL) {
      errno = EBADF;
      return -1;
    }
  int ready = 0;
  nfds_t next = 0;
  for (int i = 0; i < 3; ++i)
    if (call->sets[i])
      FD_ZERO(call->sets[i]);
  for (int fd = 0; fd < call->count; ++fd) {
    bool is_asked = false;
    for (int i = 0; i < 3; ++i)
      is_asked = is_asked || (call->sets[i] && FD_ISSET(fd, &call->asked[i]));
    if (!is_asked)
      continue;
    for (int i = 0; i < 3; ++i)
      if (call->sets[i] && FD_ISSET(fd, &call->asked[i]) && fds[next].revents & found[i]) {
        FD_SET(fd, call->sets[i]);
        ++ready;
      }
    ++next;
  }
  return ready;
}

static bool any_moved(const struct select_call* call)
{
  for (int fd = 0; fd < call->count && fd < FD_SETSIZE; ++fd)
    for (int i = 0; i < 3; ++i)
      if (call->sets[i] && FD_ISSET(fd, call->sets[i]) && umw_open_descriptor(fd) != fd)
        return true;
  return false;
}

UMW_PUBLIC int pselect(int count, fd_set* restrict in, fd_set* restrict out, fd_set* restrict except,
                       const struct timespec* restrict timeout, const sigset_t* restrict mask)
{
  if (!umw_gate)
    return UMW_REAL(pselect)(count, in, out, except, timeout, mask);
  if (!is_timeout(timeout))
    return -1;
  struct select_call call = {.count = count, .sets = {in, out, except}};
  for (int i = 0; i < 3; ++i)
    if (call.sets[i])
      call.asked[i] = *call.sets[i];
  const int64_t duration_ps = ps_of_timeout(timeout);
  const bool any = count > 0 && (in || out || except);
  return count <= FD_SETSIZE && any_moved(&call)
             ? select_moved(&call, duration_ps, mask)
             : wait_for_descriptors(any ? look_select : NULL, &call, duration_ps, mask);
}

UMW_PUBLIC int select(int count, fd_set* restrict in, fd_set* restrict out, fd_set* restrict except,
                      struct timeval* restrict timeout)
{
  if (!umw_gate)
    return UMW_REAL(select)(count, in, out, except, timeout);
  if (!timeout)
    return pselect(count, in, out, except, NULL, NULL);
  if (timeout->tv_sec < 0 || timeout->tv_usec < 0) {
    errno = EINVAL;
    return -1;
  }
  struct timespec converted = {INT64_MAX, 999999999}; /* more microseconds than a second has are taken, too */
  if (!__builtin_add_overflow(timeout->tv_sec, timeout->tv_usec / 1000000, &converted.tv_sec))
    converted.tv_nsec = timeout->tv_usec % 1000000 * 1000;
  else
    converted.tv_sec = INT64_MAX;
  const bool counts = converted.tv_sec > 0 || converted.tv_nsec > 0;
  const int64_t begin = counts ? umw_now_ps(NULL) : 0;
  const int ready = pselect(count, in, out, except, &converted, NULL);
  const int error = errno;
  if (counts) { /* Linux leaves the time not slept */
    const struct timespec slept = umw_timespec_of(umw_now_ps(NULL) - begin);
    const bool borrows = converted.tv_nsec < slept.tv_nsec;
    converted.tv_sec -= slept.tv_sec + borrows;
    converted.tv_nsec += (borrows ? 1000000000 : 0) - slept.tv_nsec;
    *timeout =
        converted.tv_sec < 0 ? (struct timeval){0, 0} : (struct timeval){converted.tv_sec, converted.tv_nsec / 1000};
  }
  errno = error;
  return ready;
}

struct epoll_call {
  int epfd;
  struct epoll_event* events;
  int max;
};

static int look_epoll(void* argument)
{
  const struct epoll_call* call = argument;
  umw_look_at(call->epfd);
  return UMW_REAL(epoll_pwait)(call->epfd, call->events, call->max, 0, NULL);
}

UMW_PUBLIC int epoll_pwait(int epfd, struct epoll_event* events, int max, int timeout, const sigset_t* mask)
{
  struct epoll_call call = {umw_open_descriptor(epfd), events, max};
  return umw_gate ? wait_for_descriptors(look_epoll, &call, ps_of_milliseconds(timeout), mask)
                  : UMW_REAL(epoll_pwait)(epfd, events, max, timeout, mask);
}

UMW_PUBLIC int epoll_wait(int epfd, struct epoll_event* events, int max, int timeout)
{
  return umw_gate ? epoll_pwait(epfd, events, max, timeout, NULL) : UMW_REAL(epoll_wait)(epfd, events, max, timeout);
}

UMW_PUBLIC int epoll_pwait2(int epfd, struct epoll_event* events, int max, const struct timespec* timeout,
                            const sigset_t* mask)
{
  struct epoll_call call = {umw_open_descriptor(epfd), events, max};
  if (!umw_gate)
    return UMW_REAL(epoll_pwait2)(epfd, events, max, timeout, mask);
  return is_timeout(timeout) ? wait_for_descriptors(look_epoll, &call, ps_of_timeout(timeout), mask) : -1;
}

UMW_PUBLIC int epoll_ctl(int epfd, int operation, int fd, struct epoll_event* event)
{
  epfd = umw_open_descriptor(epfd);
  fd = umw_open_descriptor(fd);
  const int result = UMW_REAL(epoll_ctl)(epfd, operation, fd, event);
  if (umw_gate && result == 0 && operation == EPOLL_CTL_ADD)
    umw_note_watched(epfd, fd);
  return result;
}
