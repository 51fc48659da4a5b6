/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Calls on descriptors that do something of their own; those that only need the process's number are in
 * descriptor_calls.c. The C library's standard streams are led once to where the rank's 0, 1 and 2 are
 * (descriptor_numbers.h).
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

#include "preload/abi/datagram.h"
#include "preload/descriptors/descriptors.h"
#include "preload/descriptors/file_locks.h"
#include "preload/memory/shm_room.h"
#include "preload/process/spawn.h"
#include "preload/sockets/local_sockets.h"
#include "preload/sockets/sockets.h"

_Noreturn void __chk_fail(void);

void umw_standard_streams(void)
{
  FILE* const streams[3] = {stdin, stdout, stderr};
  for (int i = 0; i < 3; ++i)
    streams[i]->_fileno = umw_descriptor(i);
  setvbuf(stdout, NULL, _IOLBF, 0); /* under mpirun a rank writes to a pseudo-terminal */
}

UMW_PUBLIC ssize_t read(int fd, void* buffer, size_t size)
{
  const int own = umw_open_descriptor(fd);
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
  const int own = umw_open_descriptor(fd);
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

/* Before and after something is printed: other ranks may print before the line ends (job/output_relay.h). Streams of
 * the C library print whole lines. */
static bool prints(int fd, int own)
{
  return umw_gate && (fd == 1 || fd == 2) && own == umw_gate->standard_fds[fd];
}

static void begin_line(int fd, int own)
{
  if (prints(fd, own))
    umw_gate->line_open |= 1U << fd;
}

static void end_line(int fd, int own, const char* text, size_t size)
{
  if (prints(fd, own) && size > 0 && text[size - 1] == '\n')
    umw_gate->line_open &= ~(1U << fd);
}

UMW_PUBLIC ssize_t write(int fd, const void* buffer, size_t size)
{
  const int own = umw_open_descriptor(fd);
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
    begin_line(fd, own);
    const ssize_t bytes = UMW_REAL(write)(own, (const char*)buffer + done, part);
    end_line(fd, own, (const char*)buffer + done, part);
    const ssize_t result = written(own, bytes);
    if (result < 0)
      return done > 0 ? (ssize_t)done : result;
    done += (size_t)result;
    if (done == size || most == SIZE_MAX)
      return (ssize_t)done;
  }
}

UMW_PUBLIC ssize_t writev(int fd, const struct iovec* parts, int count)
{
  const int own = umw_open_descriptor(fd);
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
  if (size <= most) {
    begin_line(fd, own);
    const ssize_t bytes = UMW_REAL(writev)(own, parts, count);
    if (count > 0)
      end_line(fd, own, parts[count - 1].iov_base, parts[count - 1].iov_len);
    return written(own, bytes);
  }
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
  const int own = umw_open_descriptor(fd);
  umw_timer_fd_closed(own);
  umw_queue_fd_closed(own);
  return umw_close(own);
}

/* A copy the kernel has made. */
static int copy_of(int own, int copy, int least)
{
  const int number = umw_note_copied(own, copy, least);
  umw_timer_fd_copied(own, umw_descriptor(number));
  return number;
}

UMW_PUBLIC int dup(int fd)
{
  const int own = umw_open_descriptor(fd);
  return umw_may_open(1) ? UMW_UNINTERRUPTED(copy_of(own, UMW_REAL(dup)(own), 0)) : -1;
}

static int replaced(int own, int to, int result)
{
  if (result >= 0)
    umw_note_replaced(own, umw_descriptor(to));
  return result;
}

static int replace(int from, int to, int flags)
{
  const int own = umw_open_descriptor(from);
  if (to < 0 || (uint64_t)to >= umw_gate->descriptors_soft) {
    errno = EBADF;
    return -1;
  }
  umw_about_to_copy(own, umw_descriptor(to));
  if (UMW_UNINTERRUPTED(replaced(own, to, umw_number_copy(own, to, flags))) < 0)
    return -1;
  umw_timer_fd_copied(own, umw_descriptor(to));
  return to;
}

UMW_PUBLIC int dup2(int from, int to)
{
  if (!umw_gate)
    return UMW_REAL(dup2)(from, to);
  if (from == to)
    return UMW_REAL(fcntl)(umw_open_descriptor(from), F_GETFD) < 0 ? -1 : to;
  return replace(from, to, 0);
}

UMW_PUBLIC int dup3(int from, int to, int flags)
{
  if (!umw_gate)
    return UMW_REAL(dup3)(from, to, flags);
  if (from == to || flags & ~O_CLOEXEC) {
    errno = EINVAL;
    return -1;
  }
  return replace(from, to, flags);
}

/* --- fcntl, ioctl; what makes descriptors on which calls may wait ------------------------------------------------- */

static int control(int number, int command, void* argument)
{
  const int fd = umw_open_descriptor(number);
  if (!umw_gate)
    return UMW_REAL(fcntl)(fd, command, argument);
  if (umw_is_lock_command(command))
    return umw_lock_command(fd, command, argument);
  const struct umw_socket* socket = umw_socket_of(fd);
  if (socket && command == F_GETFL)
    return O_RDWR | (socket->nonblocking ? O_NONBLOCK : 0);
  if (socket && command == F_SETFL) {
    umw_socket_of(fd)->nonblocking = ((intptr_t)argument & O_NONBLOCK) != 0;
    return 0;
  }
  int flags;
  if (command == F_GETFD && umw_number_flags(number, &flags))
    return flags;
  if (command == F_SETFD && umw_number_set_flags(number, (int)(intptr_t)argument))
    return 0;
  if (command != F_DUPFD && command != F_DUPFD_CLOEXEC)
    return UMW_REAL(fcntl)(fd, command, argument);
  const int least = (int)(intptr_t)argument;
  if (least < 0 || (uint64_t)least >= umw_gate->descriptors_soft) {
    errno = EINVAL;
    return -1;
  }
  return umw_may_open(1) ? UMW_UNINTERRUPTED(copy_of(fd, UMW_REAL(fcntl)(fd, command, argument), least)) : -1;
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
  return control(fd, command, argument);
}

UMW_PUBLIC int fcntl64(int fd, int command, ...)
{
  THIRD_ARGUMENT(void*, command)
  return control(fd, command, argument);
}

UMW_PUBLIC int ioctl(int fd, unsigned long request, ...)
{
  THIRD_ARGUMENT(void*, request)
  const int own = umw_open_descriptor(fd);
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
  return umw_interface_request(socket, request, argument);
}

UMW_PUBLIC int pipe2(int ends[2], int flags)
{
  if (!umw_may_open(2))
    return -1;
  return UMW_UNINTERRUPTED(umw_note_both(UMW_REAL(pipe2)(ends, flags), ends));
}

UMW_PUBLIC int pipe(int ends[2])
{
  return pipe2(ends, 0);
}

UMW_PUBLIC int epoll_create1(int flags)
{
  return umw_may_open(1) ? UMW_UNINTERRUPTED(umw_note_opened(UMW_REAL(epoll_create1)(flags))) : -1;
}

UMW_PUBLIC int epoll_create(int size)
{
  return umw_may_open(1) ? UMW_UNINTERRUPTED(umw_note_opened(UMW_REAL(epoll_create)(size))) : -1;
}

UMW_PUBLIC int inotify_init1(int flags)
{
  return umw_may_open(1) ? UMW_UNINTERRUPTED(umw_note_opened(UMW_REAL(inotify_init1)(flags))) : -1;
}

UMW_PUBLIC int inotify_init(void)
{
  return inotify_init1(0);
}

/* The C library closes by itself what is behind these. */
UMW_PUBLIC int fclose(FILE* stream)
{
  if (umw_is_child_stream(stream))
    return pclose(stream); /* as theirs does */
  const int fd = umw_gate ? UMW_REAL(fileno)(stream) : -1;
  if (fd >= 0) {
    fflush(stream); /* while its locks hold */
    umw_note_closing(fd);
  }
  const int result = UMW_REAL(fclose)(stream);
  const int error = errno;
  umw_note_closed(fd);
  errno = error;
  return result;
}

UMW_PUBLIC int closedir(DIR* directory)
{
  const int fd = umw_gate && directory ? UMW_REAL(dirfd)(directory) : -1;
  umw_note_closing(fd);
  const int result = UMW_REAL(closedir)(directory);
  const int error = errno;
  umw_note_closed(fd);
  errno = error;
  return result;
}

UMW_PUBLIC int eventfd(unsigned count, int flags)
{
  return umw_may_open(1) ? UMW_UNINTERRUPTED(umw_note_opened(UMW_REAL(eventfd)(count, flags))) : -1;
}

/* What -D_FORTIFY_SOURCE makes of read. */
UMW_PUBLIC ssize_t __read_chk(int fd, void* buffer, size_t size, size_t room)
{
  if (size > room)
    __chk_fail();
  return read(fd, buffer, size);
}

UMW_PUBLIC int fileno(FILE* stream)
{
  return umw_number(UMW_REAL(fileno)(stream));
}

UMW_PUBLIC int fileno_unlocked(FILE* stream)
{
  return umw_number(UMW_REAL(fileno_unlocked)(stream));
}

UMW_PUBLIC int dirfd(DIR* directory)
{
  return umw_number(UMW_REAL(dirfd)(directory));
}

UMW_PUBLIC int vdprintf(int fd, const char* restrict format, va_list arguments)
{
  return UMW_REAL(vdprintf)(umw_open_descriptor(fd), format, arguments);
}

UMW_PUBLIC int dprintf(int fd, const char* restrict format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int result = UMW_REAL(vdprintf)(umw_open_descriptor(fd), format, arguments);
  va_end(arguments);
  return result;
}
