/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * recv and its relatives on simulated sockets. The runtime is told that there is room again only if it has more for the
 * rank than fits into the pair: most reads do not cross.
 */
#include "preload/shim.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "preload/abi/datagram.h"
#include "preload/descriptors/descriptors.h"
#include "preload/sockets/local_sockets.h"
#include "preload/sockets/messages.h"
#include "preload/sockets/socket_addresses.h"
#include "preload/sockets/socket_calls.h"
#include "preload/sockets/sockets.h"

static void made_room(const struct umw_socket* socket, int flags)
{
  if (umw_gate->socket_backlog > 0 && !(flags & MSG_PEEK))
    umw_socket_read(socket->number);
}

static ssize_t receive_once(int fd, struct umw_socket* socket, struct msghdr* message, size_t done, int flags)
{
  umw_datagram_head head;
  struct iovec parts[umw_most_parts + 1] = {{&head, sizeof head}};
  const size_t first = socket->datagram ? 1 : 0;
  const size_t count = umw_message_rest(message, done, parts + first, umw_most_parts);
  struct msghdr rest = {.msg_iov = parts, .msg_iovlen = count + first};
  umw_gate->descriptor_seen = umw_gate->descriptor_news;
  const ssize_t n = UMW_REAL(recvmsg)(fd, &rest, (flags & (MSG_PEEK | MSG_TRUNC)) | MSG_DONTWAIT);
  if (n > 0)
    umw_gate->made_progress = UMW_GOT_ON;
  message->msg_flags = rest.msg_flags & MSG_TRUNC;
  if (socket->datagram && n == 0 &&
      !(flags & MSG_PEEK)) { /* no datagram, which has a head: something has become of one before */
    const int error = umw_socket_error(socket->number);
    return umw_fail(error != 0 ? error : EAGAIN);
  }
  if (!socket->datagram || n < (ssize_t)sizeof head)
    return n;
  if (message->msg_name)
    umw_give_address(socket, &head.address, message->msg_name, &message->msg_namelen);
  return n - (ssize_t)sizeof head;
}

ssize_t umw_socket_receive(int fd, struct umw_socket* socket, struct msghdr* message, int flags)
{
  if (!socket->datagram && !socket->connecting)
    return umw_fail(ENOTCONN);
  const bool blocking = !socket->nonblocking && !(flags & MSG_DONTWAIT);
  const size_t size = umw_message_size(message);
  const int64_t deadline = umw_deadline_after(socket->receive_timeout);
  if (!socket->datagram)
    message->msg_namelen = 0;
  message->msg_controllen = 0;
  for (size_t done = 0;;) {
    const ssize_t n = receive_once(fd, socket, message, done, flags);
    if (n > 0 || (n == 0 && (socket->datagram || size == done))) {
      made_room(socket, flags);
      done += (size_t)n;
      if (socket->datagram || !(flags & MSG_WAITALL) || flags & MSG_PEEK || done == size || !blocking)
        return (ssize_t)done;
      continue;
    }
    if (n == 0) { /* the end, or an error that has closed the pair */
      if (done > 0)
        return (ssize_t)done;
      if (socket->at_end) {
        umw_yield(0); /* it looks again and again */
        return 0;
      }
      const int error = umw_socket_error(socket->number);
      socket->at_end = error == 0;
      return error != 0 ? umw_fail(error) : 0;
    }
    if (errno != EAGAIN)
      return done > 0 ? (ssize_t)done : -1;
    if (socket->datagram) {
      const int error = umw_socket_error(socket->number);
      if (error != 0)
        return umw_fail(error);
    }
    if (!blocking) {
      if (done > 0)
        return (ssize_t)done;
      umw_yield(0);
      return umw_fail(EAGAIN);
    }
    const int ready = umw_await(fd, POLLIN, deadline);
    if (ready <= 0)
      return done > 0 ? (ssize_t)done : ready < 0 ? -1 : umw_fail(EAGAIN);
  }
}

UMW_PUBLIC ssize_t recvmsg(int fd, struct msghdr* message, int flags)
{
  fd = umw_open_descriptor(fd);
  struct umw_socket* socket = umw_socket_of(fd);
  if (socket)
    return umw_socket_receive(fd, socket, message, flags);
  return umw_gate ? umw_local_receive(fd, message, flags) : UMW_REAL(recvmsg)(fd, message, flags);
}

UMW_PUBLIC ssize_t recvfrom(int fd, void* restrict data, size_t size, int flags, struct sockaddr* restrict from,
                            socklen_t* restrict length)
{
  fd = umw_open_descriptor(fd);
  struct umw_socket* socket = umw_socket_of(fd);
  if (!umw_gate)
    return UMW_REAL(recvfrom)(fd, data, size, flags, from, length);
  struct iovec part = {data, size};
  struct msghdr message = {.msg_name = from, .msg_namelen = length ? *length : 0, .msg_iov = &part, .msg_iovlen = 1};
  const ssize_t result =
      socket ? umw_socket_receive(fd, socket, &message, flags) : umw_local_receive(fd, &message, flags);
  if (result >= 0 && length)
    *length = message.msg_namelen;
  return result;
}

UMW_PUBLIC ssize_t recv(int fd, void* data, size_t size, int flags)
{
  return umw_gate ? recvfrom(fd, data, size, flags, NULL, NULL) : UMW_REAL(recv)(fd, data, size, flags);
}

/* What -D_FORTIFY_SOURCE makes of them. */
_Noreturn void __chk_fail(void);

UMW_PUBLIC ssize_t __recv_chk(int fd, void* data, size_t size, size_t room, int flags)
{
  if (size > room)
    __chk_fail();
  return recv(fd, data, size, flags);
}

UMW_PUBLIC ssize_t __recvfrom_chk(int fd, void* restrict data, size_t size, size_t room, int flags,
                                  struct sockaddr* restrict from, socklen_t* restrict length)
{
  if (size > room)
    __chk_fail();
  return recvfrom(fd, data, size, flags, from, length);
}

UMW_PUBLIC int recvmmsg(int fd, struct mmsghdr* messages, unsigned count, int flags, struct timespec* timeout)
{
  if (!umw_gate)
    return UMW_REAL(recvmmsg)(fd, messages, count, flags, timeout);
  unsigned done = 0;
  for (; done < count; ++done) {
    const ssize_t n = recvmsg(fd, &messages[done].msg_hdr,
                              (flags & ~MSG_WAITFORONE) | (done > 0 && flags & MSG_WAITFORONE ? MSG_DONTWAIT : 0));
    if (n < 0)
      break;
    messages[done].msg_len = (unsigned)n;
  }
  return done > 0 || count == 0 ? (int)done : -1;
}
