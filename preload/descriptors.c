/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/shim.h"

#include "preload/descriptors.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { unknown, plain, waits, simulated, watches }; /* the last: an epoll that looks at simulated sockets */

#define most_known 65536

/* Only the pages of numbers in use are ever touched. */
static uint8_t kinds[most_known];
static struct umw_socket* sockets[most_known];
static bool has_children;

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
  kinds[fd] = simulated;
  sockets[fd] = socket;
  ++socket->descriptors;
}

void umw_note_opened(int fd)
{
  if (in_table(fd))
    kinds[fd] = unknown;
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
  umw_note_opened(fd);
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
  struct umw_socket* socket = umw_socket_of(from);
  if (socket && in_table(to))
    umw_note_socket(to, socket);
  else if (in_table(from) && in_table(to))
    kinds[to] = kinds[from];
}

static enum kind classify(int fd)
{
  struct stat status;
  if (fstat(fd, &status) != 0)
    return unknown;
  const bool may_wait = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || (status.st_mode & S_IFMT) == 0;
  return may_wait ? waits : plain;
}

static enum kind kind_of(int fd)
{
  if (!in_table(fd))
    return classify(fd);
  if (kinds[fd] == unknown)
    kinds[fd] = (uint8_t)classify(fd);
  return kinds[fd];
}

int umw_close(int fd)
{
  const bool known = umw_gate && in_table(fd) && kinds[fd] == waits;
  const int result = UMW_REAL(close)(fd);
  if (!umw_gate)
    return result;
  const int error = errno;
  leave(fd);
  if (known)
    umw_descriptor_written(-1); /* a reader may find the end of a pipe */
  errno = error;
  return result;
}

void umw_note_child(void)
{
  has_children = true;
}

int umw_await(int fd, short events, int64_t deadline)
{
  const unsigned final = umw_interruptions.final;
  struct pollfd descriptor = {fd, events, 0};
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
    ++umw_descriptor_waiters;
    umw_descriptor_wait(seen, left);
    --umw_descriptor_waiters;
    if (umw_interruptions.final != final) {
      errno = EINTR;
      return -1;
    }
  }
}

/* Whether a call on it may have to wait, and does so in simulated time. */
static bool may_block(int fd)
{
  if (!umw_gate || has_children || fd < 0)
    return false;
  for (int i = 0; i < 3; ++i)
    if (fd == umw_gate->standard_fds[i])
      return false;
  return kind_of(fd) == waits && !(UMW_REAL(fcntl)(fd, F_GETFL) & O_NONBLOCK);
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
  ++umw_gate->wakes;
  if (umw_descriptor_waiters > 0)
    umw_thread_wake(0);
  if (umw_gate->local_ranks > 1 && fd >= 0 && kind_of(fd) == waits)
    umw_node_wake(0);
}
