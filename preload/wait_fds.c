/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waiting for descriptors. The descriptors are the machine's, the time-out is simulated: they are looked at when the call
 * begins, whenever another thread of the rank writes to a descriptor (libevent's wake-up pipe), and when the time-out is
 * over. A signal handler ends it. Such a wait does not keep the simulation going: a rank whose helper thread looks at a
 * pipe once an hour is still deadlocked if nothing else can happen.
 */
#include "preload/shim.h"

#include "preload/descriptors.h"

#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

static const int64_t ps_per_second = 1000000000000;

int umw_descriptor_waiters;

static int64_t ps_of_timespec(const struct timespec* t)
{
  return t->tv_sec * ps_per_second + t->tv_nsec * 1000;
}

static int64_t ps_of_milliseconds(int milliseconds)
{
  return milliseconds < 0 ? -1 : (int64_t)milliseconds * 1000000000;
}

/* One look without waiting; the arguments are the call's own. */
typedef int (*look)(void* call);

/* `duration_ps` negative: no limit. */
static int wait_unmasked(look look_now, void* call, int64_t duration_ps)
{
  const unsigned handled = umw_interruptions.handled;
  const int64_t begin = duration_ps == 0 ? 0 : umw_now_ps(NULL);
  for (;;) {
    const uint64_t seen = umw_gate->wakes; /* from before the look, see threads.c */
    umw_test_cancel();
    int result;
    do
      result = look_now(call);
    while (result < 0 &&
           errno == EINTR); /* Umwelt's own signals (runtime/world/slices.h): those of the rank are simulated */
    if (result == 0 && duration_ps == 0)
      umw_yield(0); /* it looks again and again: nothing changes before others get on */
    if (result != 0 || duration_ps == 0)
      return result;
    int64_t left = -1;
    if (duration_ps > 0) {
      left = begin + duration_ps - umw_now_ps(NULL);
      if (left <= 0)
        return 0;
    }
    ++umw_descriptor_waiters;
    umw_descriptor_wait(seen, left);
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

UMW_PUBLIC int poll(struct pollfd* fds, nfds_t count, int timeout)
{
  struct poll_call call = {fds, count};
  return umw_gate ? wait_for_descriptors(look_poll, &call, ps_of_milliseconds(timeout), NULL)
                  : UMW_REAL(poll)(fds, count, timeout);
}

UMW_PUBLIC int ppoll(struct pollfd* fds, nfds_t count, const struct timespec* timeout, const sigset_t* mask)
{
  struct poll_call call = {fds, count};
  return umw_gate ? wait_for_descriptors(look_poll, &call, timeout ? ps_of_timespec(timeout) : -1, mask)
                  : UMW_REAL(ppoll)(fds, count, timeout, mask);
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

UMW_PUBLIC int pselect(int count, fd_set* restrict in, fd_set* restrict out, fd_set* restrict except,
                       const struct timespec* restrict timeout, const sigset_t* restrict mask)
{
  if (!umw_gate)
    return UMW_REAL(pselect)(count, in, out, except, timeout, mask);
  struct select_call call = {.count = count, .sets = {in, out, except}};
  for (int i = 0; i < 3; ++i)
    if (call.sets[i])
      call.asked[i] = *call.sets[i];
  return wait_for_descriptors(look_select, &call, timeout ? ps_of_timespec(timeout) : -1, mask);
}

UMW_PUBLIC int select(int count, fd_set* restrict in, fd_set* restrict out, fd_set* restrict except,
                      struct timeval* restrict timeout)
{
  if (!umw_gate)
    return UMW_REAL(select)(count, in, out, except, timeout);
  const struct timespec converted =
      timeout ? (struct timespec){timeout->tv_sec, timeout->tv_usec * 1000} : (struct timespec){0, 0};
  const int ready = pselect(count, in, out, except, timeout ? &converted : NULL, NULL);
  if (ready == 0 && timeout)
    *timeout = (struct timeval){0, 0}; /* Linux leaves the time not slept */
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
  struct epoll_call call = {epfd, events, max};
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
  struct epoll_call call = {epfd, events, max};
  return umw_gate ? wait_for_descriptors(look_epoll, &call, timeout ? ps_of_timespec(timeout) : -1, mask)
                  : UMW_REAL(epoll_pwait2)(epfd, events, max, timeout, mask);
}

UMW_PUBLIC int epoll_ctl(int epfd, int operation, int fd, struct epoll_event* event)
{
  const int result = UMW_REAL(epoll_ctl)(epfd, operation, fd, event);
  if (umw_gate && result == 0 && operation == EPOLL_CTL_ADD)
    umw_note_watched(epfd, fd);
  return result;
}
