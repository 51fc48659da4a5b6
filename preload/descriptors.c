/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/shim.h"

#include "preload/descriptors.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind {
  unknown,
  plain,
  waits,
  local_socket,
  simulated,
  watches
}; /* the last: an epoll that looks at simulated sockets */

#define most_known 65536

/* Only the pages of numbers in use are ever touched. */
static uint8_t kinds[most_known];
static struct umw_socket* sockets[most_known];
static int* children;
static size_t child_count;
static bool owned[most_known];   /* the rank has opened it and not closed */
static int owned_count = 3;      /* with 0, 1 and 2 */
static bool foreign[most_known]; /* it was there before the rank: of Umwelt, or of another rank */

static bool in_table(int fd)
{
  return fd >= 0 && fd < most_known;
}

struct umw_socket* umw_socket_of(int fd)
{
  return umw_gate && in_table(fd) && kinds[fd] == simulated ? sockets[fd] : NULL;
}

void umw_note_socket(int fd, struct umw_socket* socket)
{
  umw_note_opened(fd);
  kinds[fd] = simulated;
  sockets[fd] = socket;
  ++socket->descriptors;
}

void umw_note_opened(int fd)
{
  if (!in_table(fd))
    return;
  kinds[fd] = unknown;
  owned_count += !owned[fd];
  owned[fd] = true;
  foreign[fd] = false;
}

void umw_note_foreign(void)
{
  enum { most_at_start = 4096, at_once = 256 };
  const int error = errno;
  for (int begin = 0; begin < most_at_start; begin += at_once) {
    struct pollfd descriptors[at_once];
    for (int i = 0; i < at_once; ++i)
      descriptors[i] = (struct pollfd){.fd = begin + i};
    const bool known = UMW_REAL(poll)(descriptors, at_once, 0) >= 0;
    for (int i = 0; i < at_once; ++i)
      foreign[begin + i] =
          begin + i > 2 && begin + i != umw_gate->pmi_fd && known && !(descriptors[i].revents & POLLNVAL);
  }
  errno = error;
}

static void disown(int fd)
{
  if (!in_table(fd))
    return;
  kinds[fd] = unknown;
  owned_count -= owned[fd];
  owned[fd] = false;
}

bool umw_may_open(int more)
{
  if (!umw_gate || (uint64_t)(owned_count + more) <= umw_gate->descriptors_soft)
    return true;
  for (int fd = 0; fd < most_known; ++fd) /* the C library may have closed some (pclose) */
    if (owned[fd] && UMW_REAL(fcntl)(fd, F_GETFD) < 0)
      disown(fd);
  if ((uint64_t)(owned_count + more) <= umw_gate->descriptors_soft)
    return true;
  errno = EMFILE;
  return false;
}

void umw_note_watched(int epfd, int fd)
{
  if (in_table(epfd) && in_table(fd) && (kinds[fd] == simulated || kinds[fd] == watches))
    kinds[epfd] = watches;
}

void umw_look_at(int fd)
{
  if (in_table(fd) && (kinds[fd] == simulated || kinds[fd] == watches))
    umw_gate->descriptor_seen = umw_gate->descriptor_news;
}

/* `fd` leads to it no more; the last one closes it. */
static void leave(int fd)
{
  struct umw_socket* socket = umw_socket_of(fd);
  disown(fd);
  if (!socket || --socket->descriptors > 0)
    return;
  umw_socket_close(socket->number);
  free(socket);
}

void umw_note_copied(int from, int to)
{
  if (!umw_gate || to < 0 || from == to)
    return;
  leave(to); /* dup2 has closed it */
  umw_note_opened(to);
  struct umw_socket* socket = umw_socket_of(from);
  if (socket && in_table(to))
    umw_note_socket(to, socket);
  else if (in_table(from) && in_table(to))
    kinds[to] = kinds[from];
}

void umw_note_closed(int fd)
{
  if (umw_gate)
    leave(fd);
}

static enum kind classify(int fd)
{
  struct stat status;
  if (fstat(fd, &status) != 0)
    return unknown;
  if (S_ISSOCK(status.st_mode))
    return local_socket;
  return S_ISFIFO(status.st_mode) || (status.st_mode & S_IFMT) == 0 ? waits : plain;
}

static enum kind kind_of(int fd)
{
  if (!in_table(fd))
    return classify(fd);
  if (kinds[fd] == unknown)
    kinds[fd] = (uint8_t)classify(fd);
  return kinds[fd];
}

static void wake(bool others)
{
  ++umw_gate->wakes;
  if (umw_descriptor_waiters > 0)
    umw_thread_wake(0);
  if (others && umw_gate->local_ranks > 1)
    umw_node_wake(0);
}

int umw_close(int fd)
{
  if (umw_gate && in_table(fd) && foreign[fd]) {
    errno = EBADF; /* for the rank there is none */
    return -1;
  }
  const bool known = umw_gate && in_table(fd) && (kinds[fd] == waits || kinds[fd] == local_socket);
  if (known && umw_gate->local_ranks > 1)
    umw_clock_settle(0);
  const int result = UMW_REAL(close)(fd);
  if (!umw_gate)
    return result;
  const int error = errno;
  leave(fd);
  if (known)
    wake(true); /* a reader may find the end of a pipe */
  errno = error;
  return result;
}

/* Programs close all there may be: those of the rank. */
UMW_PUBLIC int close_range(unsigned first, unsigned last, int flags)
{
  if (!umw_gate)
    return UMW_REAL(close_range)(first, last, flags);
  if (first > last || flags & ~(CLOSE_RANGE_CLOEXEC | CLOSE_RANGE_UNSHARE)) {
    errno = EINVAL;
    return -1;
  }
  for (unsigned fd = first; fd < most_known && fd <= last; ++fd)
    if (fd < 3 || owned[fd]) {
      if (flags & CLOSE_RANGE_CLOEXEC)
        fcntl((int)fd, F_SETFD, FD_CLOEXEC);
      else
        close((int)fd);
    }
  return 0;
}

UMW_PUBLIC void closefrom(int first)
{
  if (umw_gate)
    close_range(first < 0 ? 0 : (unsigned)first, ~0U, 0);
  else
    UMW_REAL(closefrom)(first);
}

void umw_note_child(int pid)
{
  int* more = realloc(children, (child_count + 1) * sizeof *more);
  if (!more)
    return;
  children = more;
  children[child_count++] = pid;
}

bool umw_has_children(void)
{
  const int error = errno;
  for (size_t i = 0; i < child_count;) {
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)children[i], &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0)
      ++i;
    else
      children[i] = children[--child_count];
  }
  errno = error;
  return child_count > 0;
}

/* With a child the other end of a pipe may be its: as much real time goes by as it needs, but if it is another rank's after all, that
 * must get on, too: after a second others run every 10 ms. False: it is their turn. */
static bool wait_for_child(struct pollfd* descriptor, int* rounds)
{
  umw_yield(0);
  const bool child_first = ++*rounds <= 100 || *rounds % 2 != 0;
  if (child_first)
    UMW_REAL(poll)(descriptor, 1, 10);
  return child_first;
}

int umw_await(int fd, short events, int64_t deadline)
{
  const unsigned final = umw_interruptions.final;
  struct pollfd descriptor = {fd, events, 0};
  int patience = 0;
  for (;;) {
    const uint64_t seen = umw_gate->wakes; /* from before the look, see threads.c */
    umw_test_cancel();
    umw_look_at(fd);
    const int found = UMW_REAL(poll)(&descriptor, 1, 0);
    if (found > 0 || (found < 0 && errno != EINTR)) /* EINTR: Umwelt's own signals */
      return 1;
    int64_t left = -1;
    if (deadline >= 0) {
      left = deadline - umw_now_ps(NULL);
      if (left <= 0)
        return 0;
    }
    if (umw_has_children() && wait_for_child(&descriptor, &patience))
      continue;
    ++umw_descriptor_waiters;
    umw_descriptor_wait(seen, left);
    --umw_descriptor_waiters;
    if (umw_interruptions.final != final) {
      errno = EINTR;
      return -1;
    }
  }
}

int umw_await_change(uint64_t seen, int64_t deadline)
{
  const unsigned final = umw_interruptions.final;
  int64_t left = -1;
  if (deadline >= 0) {
    left = deadline - umw_now_ps(NULL);
    if (left <= 0)
      return 0;
  }
  umw_test_cancel();
  ++umw_descriptor_waiters;
  umw_descriptor_wait(seen, left);
  --umw_descriptor_waiters;
  if (umw_interruptions.final == final)
    return 1;
  errno = EINTR;
  return -1;
}

/* Whether a call on it may have to wait, and does so in simulated time. */
static bool may_block(int fd)
{
  if (!umw_gate || fd < 0)
    return false;
  for (int i = 0; i < 3; ++i)
    if (fd == umw_gate->standard_fds[i])
      return false;
  if (kind_of(fd) != waits && kind_of(fd) != local_socket)
    return false;
  umw_clock_settle(0); /* those at earlier dates come first */
  return !(UMW_REAL(fcntl)(fd, F_GETFL) & O_NONBLOCK);
}

bool umw_may_wait(int fd)
{
  const enum kind kind = fd < 0 ? unknown : kind_of(fd);
  return kind == waits || kind == local_socket || kind == simulated;
}

bool umw_is_local_socket(int fd)
{
  if (!umw_gate || fd < 0)
    return false;
  for (int i = 0; i < 3; ++i)
    if (fd == umw_gate->standard_fds[i])
      return false;
  return kind_of(fd) == local_socket;
}

bool umw_ready_to_read(int fd)
{
  return !may_block(fd) || umw_await(fd, POLLIN, -1) > 0;
}

bool umw_ready_to_write(int fd, size_t* most)
{
  *most = SIZE_MAX;
  if (!may_block(fd))
    return true;
  *most = PIPE_BUF;
  return umw_await(fd, POLLOUT, -1) > 0;
}

void umw_descriptor_written(int fd)
{
  wake(fd >= 0 && (kind_of(fd) == waits || kind_of(fd) == local_socket));
}

/* --- FIFOs ---------------------------------------------------------------------------------------------------------------------------- */

/* Whether a FIFO that is open for reading has a writer, or had one since: tee(2) finds an end of file if not, and takes nothing. */
static bool has_writer(int fd, const int scratch[2])
{
  struct pollfd descriptor = {fd, POLLIN, 0};
  if (UMW_REAL(poll)(&descriptor, 1, 0) > 0)
    return true;
  return tee(fd, scratch[1], 1, SPLICE_F_NONBLOCK) != 0;
}

static int wait_for_writer(int fd)
{
  int scratch[2];
  if (UMW_REAL(pipe2)(scratch, O_CLOEXEC | O_NONBLOCK) != 0)
    return -1;
  int waited = 1;
  for (;;) {
    const uint64_t seen = umw_gate->wakes;
    if (has_writer(fd, scratch))
      break;
    if ((waited = umw_await_change(seen, -1)) <= 0)
      break;
  }
  const int error = errno;
  UMW_REAL(close)(scratch[0]);
  UMW_REAL(close)(scratch[1]);
  errno = error;
  return waited;
}

int umw_open_fifo(int folder, const char* path, int flags)
{
  struct stat status;
  const int mode = flags & O_ACCMODE;
  if (!umw_gate || flags & (O_NONBLOCK | O_PATH) || mode == O_RDWR || umw_has_children())
    return -2;
  const int error = errno;
  const bool is_fifo = UMW_REAL(fstatat)(folder, path, &status, 0) == 0 && S_ISFIFO(status.st_mode);
  errno = error;
  if (!is_fifo)
    return -2;
  int fd;
  umw_clock_settle(0);
  for (;;) {
    const uint64_t seen = umw_gate->wakes;
    fd = UMW_REAL(openat)(folder, path, flags | O_NONBLOCK);
    if (fd >= 0 || errno != ENXIO) /* nobody reads */
      break;
    if (umw_await_change(seen, -1) <= 0)
      return -1;
  }
  if (fd < 0)
    return -1;
  wake(true);
  if (mode == O_RDONLY && wait_for_writer(fd) <= 0) {
    const int failed = errno;
    UMW_REAL(close)(fd);
    errno = failed;
    return -1;
  }
  UMW_REAL(fcntl)(fd, F_SETFL, UMW_REAL(fcntl)(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}
