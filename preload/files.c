/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Standard descriptors. All ranks of a process share its descriptors, so a
 * rank's 0, 1 and 2 may lead elsewhere: the gate says where. The C library's own streams are redirected once by their
 * descriptor number, direct calls are translated here.
 */
#include "preload/shim.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/descriptors.h"
#include "preload/gate/datagram.h"
#include "preload/local_sockets.h"
#include "preload/shm_room.h"
#include "preload/sockets.h"

_Noreturn void __chk_fail(void);

static int translate(int fd)
{
  return umw_gate && fd >= 0 && fd <= 2 ? umw_gate->standard_fds[fd] : fd;
}

void umw_standard_streams(void)
{
  FILE* const streams[3] = {stdin, stdout, stderr};
  for (int i = 0; i < 3; ++i)
    streams[i]->_fileno = umw_gate->standard_fds[i];
  setvbuf(stdout, NULL, _IOLBF, 0); /* under mpirun a rank writes to a pseudo-terminal */
}

UMW_PUBLIC ssize_t read(int fd, void* buffer, size_t size)
{
  const int own = translate(fd);
  struct umw_socket* socket = umw_socket_of(own);
  if (socket) {
    struct iovec part = {buffer, size};
    return umw_socket_receive(own, socket, &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1}, 0);
  }
  if (umw_is_local_socket(own) && !umw_is_pmi(own)) {
    struct iovec part = {buffer, size};
    return umw_local_receive(own, &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1}, 0);
  }
  ssize_t result;
  if (!umw_timer_fd_wait(own) || !umw_ready_to_read(own))
    return -1;
  do
    result = UMW_REAL(read)(own, buffer, size);
  while (result < 0 && umw_pmi_read_again(own));
  if (umw_gate && result > 0)
    umw_descriptor_written(own);
  return result;
}

UMW_PUBLIC ssize_t readv(int fd, const struct iovec* parts, int count)
{
  const int own = translate(fd);
  struct umw_socket* socket = umw_socket_of(own);
  if (socket)
    return umw_socket_receive(own, socket,
                              &(struct msghdr){.msg_iov = (struct iovec*)parts, .msg_iovlen = (size_t)count}, 0);
  if (umw_is_local_socket(own) && !umw_is_pmi(own))
    return umw_local_receive(own, &(struct msghdr){.msg_iov = (struct iovec*)parts, .msg_iovlen = (size_t)count}, 0);
  if (!umw_ready_to_read(own))
    return -1;
  ssize_t result;
  do
    result = UMW_REAL(readv)(own, parts, count);
  while (result < 0 && umw_pmi_read_again(own));
  if (umw_gate && result > 0)
    umw_descriptor_written(own);
  return result;
}

/* The launcher, or another thread of the rank, may wait for what was written. */
static ssize_t written(int fd, ssize_t result)
{
  if (!umw_gate)
    return result;
  umw_pmi_written(fd);
  umw_descriptor_written(fd);
  return result;
}

UMW_PUBLIC ssize_t write(int fd, const void* buffer, size_t size)
{
  const int own = translate(fd);
  struct umw_socket* socket = umw_socket_of(own);
  if (socket) {
    struct iovec part = {(void*)buffer, size};
    return umw_socket_send(own, socket, &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1}, 0);
  }
  if (!umw_shm_fits(own, -1, &size))
    return -1;
  if (umw_is_local_socket(own) && !umw_is_pmi(own)) {
    struct iovec part = {(void*)buffer, size};
    return umw_local_send(own, &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1}, 0);
  }
  for (size_t done = 0, most;;) {
    if (!umw_ready_to_write(own, &most))
      return done > 0 ? (ssize_t)done : -1;
    const size_t part = size - done < most ? size - done : most;
    const ssize_t result = written(own, UMW_REAL(write)(own, (const char*)buffer + done, part));
    if (result < 0)
      return done > 0 ? (ssize_t)done : result;
    done += (size_t)result;
    if (done == size || most == SIZE_MAX)
      return (ssize_t)done;
  }
}

UMW_PUBLIC ssize_t writev(int fd, const struct iovec* parts, int count)
{
  const int own = translate(fd);
  struct umw_socket* socket = umw_socket_of(own);
  if (socket)
    return umw_socket_send(own, socket, &(struct msghdr){.msg_iov = (struct iovec*)parts, .msg_iovlen = (size_t)count},
                           0);
  if (umw_is_local_socket(own) && !umw_is_pmi(own))
    return umw_local_send(own, &(struct msghdr){.msg_iov = (struct iovec*)parts, .msg_iovlen = (size_t)count}, 0);
  size_t most, size = 0;
  for (int i = 0; i < count; ++i)
    size += parts[i].iov_len;
  if (!umw_ready_to_write(own, &most))
    return -1;
  if (size <= most)
    return written(own, UMW_REAL(writev)(own, parts, count));
  size_t done = 0; /* more than fits at once into a pipe */
  for (int i = 0; i < count; ++i) {
    const ssize_t result = write(fd, parts[i].iov_base, parts[i].iov_len);
    if (result < 0)
      return done > 0 ? (ssize_t)done : -1;
    done += (size_t)result;
    if ((size_t)result < parts[i].iov_len)
      break;
  }
  return (ssize_t)done;
}

UMW_PUBLIC int close(int fd)
{
  const int own = translate(fd);
  umw_timer_fd_closed(own);
  if (own != fd) {
    umw_gate->standard_fds[fd] = -1; /* closed for this rank alone, */
    umw_note_opened(own);            /* whose it is under this number only */
  }
  return umw_close(own);
}

UMW_PUBLIC int dup(int fd)
{
  const int copy = umw_may_open(1) ? UMW_REAL(dup)(translate(fd)) : -1;
  umw_timer_fd_copied(fd, copy);
  umw_note_copied(fd, copy);
  return copy;
}

UMW_PUBLIC int dup2(int from, int to)
{
  const int own = translate(to);
  const int result = UMW_REAL(dup2)(translate(from), own);
  umw_timer_fd_copied(from, result);
  umw_note_copied(from, result);
  return result == own ? to : result;
}

UMW_PUBLIC int dup3(int from, int to, int flags)
{
  const int own = translate(to);
  const int result = UMW_REAL(dup3)(translate(from), own, flags);
  umw_timer_fd_copied(from, result);
  umw_note_copied(from, result);
  return result == own ? to : result;
}

/* --- fcntl, ioctl; what makes descriptors on which calls may wait ------------------------------------------------------------------- */

static int control(int fd, int command, void* argument)
{
  struct umw_socket* socket = umw_socket_of(fd);
  if (socket && command == F_GETFL)
    return O_RDWR | (socket->nonblocking ? O_NONBLOCK : 0);
  if (socket && command == F_SETFL) {
    socket->nonblocking = ((intptr_t)argument & O_NONBLOCK) != 0;
    return 0;
  }
  const bool copies = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  if (copies && umw_gate && (uint64_t)(uintptr_t)argument >= umw_gate->descriptors_soft) {
    errno = EINVAL;
    return -1;
  }
  if (copies && !umw_may_open(1))
    return -1;
  const int result = UMW_REAL(fcntl)(fd, command, argument);
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
    umw_timer_fd_copied(fd, result);
    umw_note_copied(fd, result);
  }
  return result;
}

/* The third argument is a number or an address; passing one that is not there does no harm. */
#define THIRD_ARGUMENT(type, last)                                                                                     \
  type argument;                                                                                                       \
  {                                                                                                                    \
    va_list list;                                                                                                      \
    va_start(list, last);                                                                                              \
    argument = va_arg(list, type);                                                                                     \
    va_end(list);                                                                                                      \
  }

UMW_PUBLIC int fcntl(int fd, int command, ...)
{
  THIRD_ARGUMENT(void*, command)
  return control(translate(fd), command, argument);
}

UMW_PUBLIC int fcntl64(int fd, int command, ...)
{
  THIRD_ARGUMENT(void*, command)
  return control(translate(fd), command, argument);
}

UMW_PUBLIC int ioctl(int fd, unsigned long request, ...)
{
  THIRD_ARGUMENT(void*, request)
  const int own = translate(fd);
  struct umw_socket* socket = umw_socket_of(own);
  if (!socket)
    return UMW_REAL(ioctl)(own, request, argument);
  if (request == FIONBIO) {
    socket->nonblocking = *(int*)argument != 0;
    return 0;
  }
  if (request == FIONREAD || request == SIOCOUTQ) {
    const int result = UMW_REAL(ioctl)(own, request, argument);
    if (result == 0 && socket->datagram && *(int*)argument >= (int)sizeof(umw_datagram_head))
      *(int*)argument -= (int)sizeof(umw_datagram_head);
    return result;
  }
  return umw_interface_request(request, argument);
}

UMW_PUBLIC int pipe2(int ends[2], int flags)
{
  if (!umw_may_open(2))
    return -1;
  const int result = UMW_REAL(pipe2)(ends, flags);
  if (umw_gate && result == 0) {
    umw_note_opened(ends[0]);
    umw_note_opened(ends[1]);
  }
  return result;
}

UMW_PUBLIC int pipe(int ends[2])
{
  return pipe2(ends, 0);
}

static int made(int fd)
{
  if (umw_gate)
    umw_note_opened(fd);
  return fd;
}

UMW_PUBLIC int epoll_create1(int flags)
{
  return made(umw_may_open(1) ? UMW_REAL(epoll_create1)(flags) : -1);
}

UMW_PUBLIC int epoll_create(int size)
{
  return made(umw_may_open(1) ? UMW_REAL(epoll_create)(size) : -1);
}

UMW_PUBLIC int inotify_init1(int flags)
{
  return made(umw_may_open(1) ? UMW_REAL(inotify_init1)(flags) : -1);
}

UMW_PUBLIC int inotify_init(void)
{
  return inotify_init1(0);
}

/* The C library closes by itself what is behind these. */
UMW_PUBLIC int fclose(FILE* stream)
{
  const int fd = umw_gate ? UMW_REAL(fileno)(stream) : -1;
  const int result = UMW_REAL(fclose)(stream);
  const int error = errno;
  umw_note_closed(fd);
  errno = error;
  return result;
}

UMW_PUBLIC int closedir(DIR* folder)
{
  const int fd = umw_gate && folder ? dirfd(folder) : -1;
  const int result = UMW_REAL(closedir)(folder);
  const int error = errno;
  umw_note_closed(fd);
  errno = error;
  return result;
}

UMW_PUBLIC int eventfd(unsigned count, int flags)
{
  return made(umw_may_open(1) ? UMW_REAL(eventfd)(count, flags) : -1);
}

/* What -D_FORTIFY_SOURCE makes of read. */
UMW_PUBLIC ssize_t __read_chk(int fd, void* buffer, size_t size, size_t room)
{
  if (size > room)
    __chk_fail();
  return read(fd, buffer, size);
}

/* The number the program knows its stream by. */
static int number_of(int fd)
{
  for (int i = 0; umw_gate && i < 3; ++i)
    if (fd >= 0 && fd == umw_gate->standard_fds[i])
      return i;
  return fd;
}

UMW_PUBLIC int fileno(FILE* stream)
{
  return number_of(UMW_REAL(fileno)(stream));
}

UMW_PUBLIC int fileno_unlocked(FILE* stream)
{
  return number_of(UMW_REAL(fileno_unlocked)(stream));
}

UMW_PUBLIC int vdprintf(int fd, const char* restrict format, va_list arguments)
{
  return UMW_REAL(vdprintf)(translate(fd), format, arguments);
}

UMW_PUBLIC int dprintf(int fd, const char* restrict format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int result = UMW_REAL(vdprintf)(translate(fd), format, arguments);
  va_end(arguments);
  return result;
}
