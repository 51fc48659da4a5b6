/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/shim.h"

#include "preload/sockets/local_sockets.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "preload/abi/time_units.h"
#include "preload/descriptors/descriptors.h"
#include "preload/paths/paths.h"
#include "preload/sockets/messages.h"

/* --- names -------------------------------------------------------------------------------------------------------- */

enum { path_offset = offsetof(struct sockaddr_un, sun_path) };

/* What an abstract name of the node begins with on this machine: the name of the run's directory and the node's number.
 */
static size_t prefix(char* text, size_t size)
{
  const char* node = strrchr(umw_gate->session_directory, '/');
  const char* end = node;
  while (end > umw_gate->session_directory && *--end != '/')
    ;
  const char* run = end;
  while (run > umw_gate->session_directory && *--run != '/')
    ;
  const int length = snprintf(text, size, "%.*s/%s/", (int)(end - run - 1), run + 1, node + 1);
  return (size_t)length;
}

static bool is_local(const struct sockaddr* address, socklen_t length)
{
  return address && length >= path_offset && address->sa_family == AF_UNIX;
}

/* The address as the kernel is to have it, in `room` or `address` itself; null: it cannot be. */
static const struct sockaddr* translate(const struct sockaddr* address, socklen_t* length, struct sockaddr_un* room)
{
  if (!is_local(address, *length) || *length <= path_offset || *length > sizeof *room)
    return address;
  memset(room, 0, sizeof *room);
  memcpy(room, address, *length);
  if (room->sun_path[0] == '\0') {
    char text[64];
    const size_t own = prefix(text, sizeof text);
    if (own >= sizeof text || *length + own > sizeof *room) {
      char warning[160];
      snprintf(
          warning, sizeof warning,
          "an abstract socket name of %u bytes: expected at most %zu, since the node's is put in front. Next step: a "
          "shorter one",
          (unsigned)*length - path_offset, sizeof *room - own - path_offset);
      umw_warn(warning);
      errno = EINVAL;
      return NULL;
    }
    memmove(room->sun_path + 1 + own, room->sun_path + 1, *length - path_offset - 1);
    memcpy(room->sun_path + 1, text, own);
    *length += (socklen_t)own;
    return (const struct sockaddr*)room;
  }
  struct umw_path path_room;
  char path[sizeof room->sun_path + 1];
  memcpy(path, room->sun_path, sizeof room->sun_path);
  path[sizeof room->sun_path] = '\0';
  const char* there = umw_path_of(path, &path_room);
  if (there == path)
    return address;
  if (strlen(there) >= sizeof room->sun_path) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  strcpy(room->sun_path, there);
  *length = (socklen_t)(path_offset + strlen(there) + 1);
  return (const struct sockaddr*)room;
}

/* Gives the caller an address of the kernel's as the program knows it. */
static void give(const struct sockaddr_un* kernels, socklen_t size, struct sockaddr* address, socklen_t* length)
{
  if (!address || !length)
    return;
  union {
    struct sockaddr_storage any;
    struct sockaddr_un local;
  } shown;
  memset(&shown, 0, sizeof shown);
  memcpy(&shown, kernels, size < sizeof shown ? size : sizeof shown);
  if (shown.local.sun_family == AF_UNIX && size > path_offset) {
    if (shown.local.sun_path[0] == '\0') {
      char text[64];
      const size_t own = prefix(text, sizeof text);
      if (size > path_offset + own && memcmp(shown.local.sun_path + 1, text, own) == 0) {
        memmove(shown.local.sun_path + 1, shown.local.sun_path + 1 + own, size - path_offset - 1 - own);
        size -= (socklen_t)own;
      }
    } else {
      char path[PATH_MAX];
      snprintf(path, sizeof path, "%.*s", (int)(size - path_offset), shown.local.sun_path);
      umw_path_shown(path);
      memcpy(shown.local.sun_path, path, strlen(path) + 1);
      size = (socklen_t)(path_offset + strlen(path) + 1);
    }
  }
  memcpy(address, &shown, *length < size ? *length : size);
  *length = size;
}

/* bind(2) with a family alone: an abstract name that is free, unix(7). */
static int bind_automatically(int fd)
{
  for (unsigned number = 0; number < 1U << 20; ++number) {
    struct sockaddr_un name = {.sun_family = AF_UNIX}, room;
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%05x", number);
    socklen_t length = path_offset + 6;
    const struct sockaddr* there = translate((const struct sockaddr*)&name, &length, &room);
    if (!there || UMW_REAL(bind)(fd, there, length) == 0)
      return there ? 0 : -1;
    if (errno != EADDRINUSE)
      return -1;
  }
  return -1;
}

int umw_local_bind(int fd, const struct sockaddr* address, socklen_t length)
{
  struct sockaddr_un room;
  if (address && length == sizeof(sa_family_t) && address->sa_family == AF_UNIX)
    return bind_automatically(fd);
  const struct sockaddr* there = translate(address, &length, &room);
  return there || !address ? UMW_REAL(bind)(fd, there, length) : -1;
}

static int shown_name(bool of_peer, int fd, struct sockaddr* address, socklen_t* length)
{
  union {
    struct sockaddr_storage any;
    struct sockaddr_un local;
  } name;
  socklen_t size = sizeof name;
  if (!address || !length) {
    errno = EFAULT;
    return -1;
  }
  const int result = of_peer ? UMW_REAL(getpeername)(fd, (struct sockaddr*)&name, &size)
                             : UMW_REAL(getsockname)(fd, (struct sockaddr*)&name, &size);
  if (result == 0)
    give(&name.local, size, address, length);
  return result;
}

int umw_local_name(int fd, struct sockaddr* address, socklen_t* length)
{
  return shown_name(false, fd, address, length);
}

int umw_local_peer(int fd, struct sockaddr* address, socklen_t* length)
{
  return shown_name(true, fd, address, length);
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

static int64_t deadline_of(int fd, int option)
{
  struct timeval limit = {0, 0};
  socklen_t length = sizeof limit;
  if (UMW_REAL(getsockopt)(fd, SOL_SOCKET, option, &limit, &length) != 0 || (limit.tv_sec == 0 && limit.tv_usec == 0))
    return -1;
  const int64_t deadline = umw_time_after(umw_now_ps(NULL), umw_ps_of_timeval(&limit));
  return deadline == UMW_PS_NEVER ? -1 : deadline;
}

static bool is_nonblocking(int fd)
{
  return (UMW_REAL(fcntl)(fd, F_GETFL) & O_NONBLOCK) != 0;
}

int umw_local_connect(int fd, const struct sockaddr* address, socklen_t length)
{
  struct sockaddr_un room;
  const struct sockaddr* there = translate(address, &length, &room);
  if (!there && address)
    return -1;
  umw_clock_settle(0); /* those at earlier times come first */
  if (!is_local(there, length) || is_nonblocking(fd)) {
    const int result = UMW_REAL(connect)(fd, there, length);
    umw_descriptor_written(fd);
    return result;
  }
  const int flags = UMW_REAL(fcntl)(fd, F_GETFL);
  const int64_t deadline = deadline_of(fd, SO_SNDTIMEO);
  UMW_REAL(fcntl)(fd, F_SETFL, flags | O_NONBLOCK);
  int result;
  for (;;) {
    const uint64_t seen = umw_gate->wakes;
    result = UMW_REAL(connect)(fd, there, length);
    if (result == 0 || errno != EAGAIN) /* the queue of those that wait to be accepted is full */
      break;
    const int waited = umw_await_change(seen, deadline);
    if (waited <= 0) {
      errno = waited < 0 ? EINTR : EAGAIN;
      break;
    }
  }
  const int error = errno;
  UMW_REAL(fcntl)(fd, F_SETFL, flags);
  umw_descriptor_written(fd);
  errno = error;
  return result;
}

int umw_local_accept(int fd, struct sockaddr* address, socklen_t* length, int flags)
{
  union {
    struct sockaddr_storage any;
    struct sockaddr_un local;
  } name;
  socklen_t size = sizeof name;
  if (!umw_ready_to_read(fd))
    return -1;
  const int number = UMW_UNINTERRUPTED(umw_note_opened(UMW_REAL(accept4)(fd, (struct sockaddr*)&name, &size, flags)));
  if (number < 0)
    return -1;
  umw_descriptor_written(fd); /* there is room for another one */
  give(&name.local, size, address, length);
  return number;
}

/* --- data --------------------------------------------------------------------------------------------------------- */

/* Descriptors on their way (SCM_RIGHTS) have the process's numbers. `room`: as large as the control data. */
static void translate_rights(struct msghdr* message, char* room)
{
  memcpy(room, message->msg_control, message->msg_controllen);
  message->msg_control = room;
  for (struct cmsghdr* part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
      continue;
    for (size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int fd;
      memcpy(&fd, CMSG_DATA(part) + at, sizeof fd);
      fd = umw_open_descriptor(fd);
      memcpy(CMSG_DATA(part) + at, &fd, sizeof fd);
    }
  }
}

static void note_rights(const struct msghdr* message)
{
  for (struct cmsghdr* part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR((struct msghdr*)message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
      continue;
    for (size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int fd;
      memcpy(&fd, CMSG_DATA(part) + at, sizeof fd);
      fd = umw_note_opened(fd);
      memcpy(CMSG_DATA(part) + at, &fd, sizeof fd);
    }
  }
}

static ssize_t receive_once(int fd, struct msghdr* message, int flags, bool first)
{
  const ssize_t size = UMW_REAL(recvmsg)(fd, message, flags);
  if (size >= 0 && first)
    note_rights(message);
  return size;
}

enum { most_parts = 64 };

static bool is_stream(int fd)
{
  int type = 0;
  socklen_t length = sizeof type;
  return UMW_REAL(getsockopt)(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

/* 1: look again; 0: time-out; -1: EINTR. With a child, whose end of the socket may move in real time, poll(2) tells. */
static int wait_again(int fd, short events, uint64_t seen, int64_t deadline)
{
  return umw_has_children() ? umw_await(fd, events, deadline) : umw_await_change(seen, deadline);
}

ssize_t umw_local_send(int fd, const struct msghdr* message, int flags)
{
  struct sockaddr_un room;
  struct msghdr whole = *message;
  char* rights = NULL;
  socklen_t length = whole.msg_namelen;
  whole.msg_name = (void*)translate(message->msg_name, &length, &room);
  if (!whole.msg_name && message->msg_name)
    return -1;
  whole.msg_namelen = length;
  if (whole.msg_control && whole.msg_controllen > 0 && whole.msg_controllen <= 4096) {
    if (!(rights = malloc(whole.msg_controllen)))
      return -1;
    translate_rights(&whole, rights);
  }
  umw_clock_settle(0);
  const bool blocking = !is_nonblocking(fd) && !(flags & MSG_DONTWAIT);
  const size_t size = umw_message_size(message);
  const bool stream = is_stream(fd);
  int64_t deadline = -2; /* not known yet */
  size_t done = 0;
  ssize_t n;
  for (;;) {
    struct iovec parts[most_parts];
    const uint64_t seen = umw_gate->wakes;
    if (stream || whole.msg_iovlen <= most_parts) {
      whole.msg_iovlen = umw_message_rest(message, done, parts, most_parts);
      whole.msg_iov = parts;
    }
    n = UMW_REAL(sendmsg)(fd, &whole, flags | MSG_DONTWAIT);
    if (n >= 0) {
      done += (size_t)n;
      whole.msg_controllen = 0; /* gone with the first byte */
      whole.msg_control = NULL;
      umw_descriptor_written(fd);
    }
    if ((n < 0 && errno != EAGAIN) || (n >= 0 && (!stream || done >= size)) || !blocking)
      break;
    if (n >= 0)
      continue;
    if (deadline == -2)
      deadline = deadline_of(fd, SO_SNDTIMEO);
    const int waited = wait_again(fd, POLLOUT, seen, deadline);
    if (waited <= 0) {
      errno = waited < 0 ? EINTR : EAGAIN;
      break;
    }
  }
  const int error = errno;
  free(rights);
  errno = error;
  return n >= 0 || (stream && done > 0) ? (ssize_t)done : -1;
}

ssize_t umw_local_receive(int fd, struct msghdr* message, int flags)
{
  union {
    struct sockaddr_storage any;
    struct sockaddr_un local;
  } name;
  umw_clock_settle(0);
  const bool blocking = !is_nonblocking(fd) && !(flags & MSG_DONTWAIT);
  const bool all = flags & MSG_WAITALL && !(flags & MSG_PEEK) && blocking && is_stream(fd);
  const size_t size = umw_message_size(message);
  int64_t deadline = -2;
  size_t done = 0;
  for (;;) {
    struct iovec parts[most_parts];
    struct msghdr once = *message;
    const uint64_t seen = umw_gate->wakes;
    once.msg_name = message->msg_name ? &name : NULL;
    once.msg_namelen = message->msg_name ? sizeof name : 0;
    if (all) {
      once.msg_iovlen = umw_message_rest(message, done, parts, most_parts);
      once.msg_iov = parts;
    }
    const ssize_t n = UMW_UNINTERRUPTED(receive_once(fd, &once, (flags & ~MSG_WAITALL) | MSG_DONTWAIT, done == 0));
    if (n >= 0) {
      if (done == 0) {
        message->msg_flags = once.msg_flags;
        message->msg_controllen = once.msg_controllen;
        if (message->msg_name)
          give(&name.local, once.msg_namelen, message->msg_name, &message->msg_namelen);
        else
          message->msg_namelen = 0;
      }
      done += (size_t)n;
      if (n > 0 && !(flags & MSG_PEEK))
        umw_descriptor_written(fd); /* there is room for more */
      if (!all || n == 0 || done >= size)
        return (ssize_t)done;
      continue;
    }
    if (errno != EAGAIN || !blocking) {
      if (errno == EAGAIN) {
        umw_yield(0); /* it looks again and again */
        errno = EAGAIN;
      }
      return done > 0 ? (ssize_t)done : -1;
    }
    if (deadline == -2)
      deadline = deadline_of(fd, SO_RCVTIMEO);
    const int waited = wait_again(fd, POLLIN, seen, deadline);
    if (waited <= 0) {
      errno = waited < 0 ? EINTR : EAGAIN;
      return done > 0 ? (ssize_t)done : -1;
    }
  }
}
