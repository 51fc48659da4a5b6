/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * send and its relatives on simulated sockets: of a stream goes what the pair has room for, a datagram as a whole,
 * behind its address. The errors of earlier ones are told here, as Linux does.
 */
#include "preload/shim.h"

#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/abi/datagram.h"
#include "preload/descriptors/descriptors.h"
#include "preload/sockets/local_sockets.h"
#include "preload/sockets/messages.h"
#include "preload/sockets/socket_addresses.h"
#include "preload/sockets/socket_calls.h"
#include "preload/sockets/socket_pairs.h"
#include "preload/sockets/sockets.h"

static int broken(const struct umw_socket* socket)
{
  const int error = umw_socket_error(socket->number);
  return umw_fail(error != 0 ? error : EPIPE);
}

static ssize_t send_stream(int fd, struct umw_socket* socket, const struct msghdr* message, int flags)
{
  if (!socket->connecting)
    return umw_fail(ENOTCONN);
  const bool blocking = !socket->nonblocking && !(flags & MSG_DONTWAIT);
  const size_t size = umw_message_size(message);
  const int64_t deadline = umw_deadline_after(socket->send_timeout);
  for (size_t done = 0;;) {
    struct iovec parts[umw_most_parts];
    const struct msghdr rest = {.msg_iov = parts, .msg_iovlen = umw_message_rest(message, done, parts, umw_most_parts)};
    const ssize_t n = size == 0 ? 0 : UMW_REAL(sendmsg)(fd, &rest, (flags & MSG_NOSIGNAL) | MSG_DONTWAIT);
    if (n < 0 && errno == EPIPE && done == 0)
      return broken(socket);
    if (n < 0 && errno != EAGAIN)
      return done > 0 ? (ssize_t)done : -1;
    if (n > 0) {
      if (socket->send_buffer > 0) { /* it could be written to, so the connection stands */
        socket->connected = true;
        umw_restore_buffer(fd, socket);
      }
      umw_socket_written(socket->number);
      done += (size_t)n;
    }
    if (done == size)
      return (ssize_t)done;
    if (!blocking) {
      if (done > 0)
        return (ssize_t)done;
      umw_yield(0);
      return umw_fail(EAGAIN);
    }
    const int ready = umw_await(fd, POLLOUT, deadline);
    if (ready <= 0)
      return done > 0 ? (ssize_t)done : ready < 0 ? -1 : umw_fail(EAGAIN);
  }
}

/* Null: to the peer. */
static size_t largest_to(const struct umw_socket* socket, const umw_address* destination)
{
  umw_address peer = {0};
  if (!destination && socket->v6 && umw_socket_name(socket->number, 1, &peer) == 0)
    destination = &peer;
  return socket->v6 && !(destination && umw_is_v4(destination)) ? UMW_LARGEST_DATAGRAM : UMW_LARGEST_DATAGRAM_V4;
}

static ssize_t send_datagram(int fd, struct umw_socket* socket, const struct msghdr* message, int flags)
{
  umw_datagram_head head = {{0}};
  if (message->msg_name) {
    if (!umw_read_address(socket, umw_for_sending, message->msg_name, message->msg_namelen, &head.address))
      return -1;
  } else if (!socket->connected)
    return umw_fail(EDESTADDRREQ);
  const size_t size = umw_message_size(message);
  if (size > UMW_LARGEST_DATAGRAM_V4 && size > largest_to(socket, message->msg_name ? &head.address : NULL))
    return umw_fail(EMSGSIZE);
  const int earlier = umw_socket_error(socket->number); /* what became of one before, udp(7) */
  if (earlier != 0)
    return umw_fail(earlier);
  struct iovec parts[umw_most_parts + 1] = {{&head, sizeof head}};
  const size_t count = umw_message_rest(message, 0, parts + 1, umw_most_parts);
  const struct msghdr whole = {.msg_iov = parts, .msg_iovlen = count + 1};
  for (;;) {
    const ssize_t n = UMW_REAL(sendmsg)(fd, &whole, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      umw_socket_written(socket->number);
      const int error = message->msg_name ? umw_socket_error(socket->number) : 0; /* no way there */
      return error == ENETUNREACH || error == EHOSTUNREACH || error == EAFNOSUPPORT ? umw_fail(error) : (ssize_t)size;
    }
    if (errno != EAGAIN || socket->nonblocking || (flags & MSG_DONTWAIT))
      return -1;
    const int ready = umw_await(fd, POLLOUT, umw_deadline_after(socket->send_timeout));
    if (ready <= 0)
      return ready < 0 ? -1 : umw_fail(EAGAIN);
  }
}

ssize_t umw_socket_send(int fd, struct umw_socket* socket, const struct msghdr* message, int flags)
{
  return socket->datagram ? send_datagram(fd, socket, message, flags) : send_stream(fd, socket, message, flags);
}

UMW_PUBLIC ssize_t sendmsg(int fd, const struct msghdr* message, int flags)
{
  fd = umw_open_descriptor(fd);
  struct umw_socket* socket = umw_socket_of(fd);
  if (socket)
    return umw_socket_send(fd, socket, message, flags);
  return umw_gate ? umw_local_send(fd, message, flags) : UMW_REAL(sendmsg)(fd, message, flags);
}

UMW_PUBLIC ssize_t sendto(int fd, const void* data, size_t size, int flags, const struct sockaddr* to, socklen_t length)
{
  struct iovec part = {(void*)data, size};
  const struct msghdr message = {.msg_name = (void*)to, .msg_namelen = length, .msg_iov = &part, .msg_iovlen = 1};
  return umw_gate ? sendmsg(fd, &message, flags) : UMW_REAL(sendto)(fd, data, size, flags, to, length);
}

UMW_PUBLIC ssize_t send(int fd, const void* data, size_t size, int flags)
{
  return umw_gate ? sendto(fd, data, size, flags, NULL, 0) : UMW_REAL(send)(fd, data, size, flags);
}

UMW_PUBLIC ssize_t sendfile(int to, int from, off_t* offset, size_t size)
{
  to = umw_open_descriptor(to);
  from = umw_open_descriptor(from);
  struct umw_socket* socket = umw_socket_of(to);
  if (!socket)
    return UMW_REAL(sendfile)(to, from, offset, size);
  char buffer[16384];
  size_t done = 0;
  while (done < size) {
    const size_t part = size - done < sizeof buffer ? size - done : sizeof buffer;
    const ssize_t got = offset ? UMW_REAL(pread)(from, buffer, part, *offset) : UMW_REAL(read)(from, buffer, part);
    if (got <= 0)
      return done > 0 ? (ssize_t)done : got;
    struct iovec whole = {buffer, (size_t)got};
    const struct msghdr message = {.msg_iov = &whole, .msg_iovlen = 1};
    const ssize_t sent = umw_socket_send(to, socket, &message, 0);
    if (!offset && sent < got) /* what could not be sent is read again */
      UMW_REAL(lseek)(from, (sent < 0 ? 0 : sent) - got, SEEK_CUR);
    if (sent < 0)
      return done > 0 ? (ssize_t)done : -1;
    if (offset)
      *offset += sent;
    done += (size_t)sent;
    if (sent < got)
      break;
  }
  return (ssize_t)done;
}

UMW_PUBLIC ssize_t sendfile64(int to, int from, off64_t* offset, size_t size)
{
  return sendfile(to, from, offset, size);
}

UMW_PUBLIC int sendmmsg(int fd, struct mmsghdr* messages, unsigned count, int flags)
{
  if (!umw_gate)
    return UMW_REAL(sendmmsg)(fd, messages, count, flags);
  unsigned done = 0;
  for (; done < count; ++done) {
    const ssize_t n = sendmsg(fd, &messages[done].msg_hdr, flags);
    if (n < 0)
      break;
    messages[done].msg_len = (unsigned)n;
  }
  return done > 0 || count == 0 ? (int)done : -1;
}
