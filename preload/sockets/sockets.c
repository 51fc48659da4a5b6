/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * TCP and UDP over the simulated network. A simulated socket is one end of a pair of AF_UNIX sockets whose other end
 * the runtime has (runtime/sockets/stack.h); so what can be done with a descriptor alone (poll, epoll, dup, FIONREAD)
 * needs nothing here. What is written goes into the pair, and the runtime is told; what is read comes out of it. While
 * a socket connects its buffer is full, so that it becomes writable at the right moment. Sockets of other families are
 * the kernel's; only their waits are simulated.
 */
#include "preload/shim.h"

#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/abi/datagram.h"
#include "preload/abi/time_units.h"
#include "preload/descriptors/descriptors.h"
#include "preload/sockets/local_sockets.h"
#include "preload/sockets/messages.h"
#include "preload/sockets/socket_addresses.h"
#include "preload/sockets/sockets.h"

enum { most_parts = 64 };

static int fail(int error)
{
  errno = error;
  return -1;
}

/* --- making and naming -------------------------------------------------------------------------------------------- */

/* The pair behind a socket; the program's end. */
static int own_both(int result, const int ends[2])
{
  if (result == 0) {
    umw_own(ends[0]);
    umw_own(ends[1]);
  }
  return result;
}

static void release_socket(int own)
{
  umw_disown(own);
  UMW_REAL(close)(own);
}

static int make_pair(bool datagram, int flags, int* other)
{
  int ends[2];
  const int type = (datagram ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK;
  if (UMW_UNINTERRUPTED(own_both(UMW_REAL(socketpair)(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), ends)) != 0)
    return -1;
  if (!(flags & SOCK_CLOEXEC))
    UMW_REAL(fcntl)(ends[0], F_SETFD, 0);
  *other = ends[1];
  return ends[0];
}

/* A descriptor for socket `number`, of the kind of `like`, or what the runtime answered instead. */
static int adopt(int fd, int number, const struct umw_socket* like, int flags)
{
  struct umw_socket* socket = number > 0 ? calloc(1, sizeof *socket) : NULL;
  if (!socket) {
    if (number > 0)
      umw_socket_close(number);
    release_socket(fd);
    return fail(number > 0 ? ENOMEM : -number);
  }
  *socket = (struct umw_socket){.number = number,
                                .datagram = like->datagram,
                                .v6 = like->v6,
                                .only_v6 = like->only_v6,
                                .nonblocking = (flags & SOCK_NONBLOCK) != 0,
                                .tcp_options[TCP_KEEPIDLE] = 7200, /* tcp(7) */
                                .tcp_options[TCP_KEEPINTVL] = 75,
                                .tcp_options[TCP_KEEPCNT] = 9,
                                .tcp_options[TCP_SYNCNT] = 6,
                                .ipv6_options[IPV6_UNICAST_HOPS] = 64,
                                .ipv6_options[IPV6_MULTICAST_HOPS] = 1,
                                .ipv6_options[IPV6_MULTICAST_LOOP] = 1};
  return umw_note_socket(fd, socket);
}

UMW_PUBLIC int socket(int domain, int type, int protocol)
{
  if (!umw_gate)
    return UMW_REAL(socket)(domain, type, protocol);
  const int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (!umw_may_open(1))
    return -1;
  if (domain != AF_INET && domain != AF_INET6)
    return UMW_UNINTERRUPTED(umw_note_opened(UMW_REAL(socket)(domain, type, protocol)));
  if (kind == SOCK_RAW)
    return fail(EPERM);
  if ((kind == SOCK_STREAM && protocol != 0 && protocol != IPPROTO_TCP) ||
      (kind == SOCK_DGRAM && protocol != 0 && protocol != IPPROTO_UDP))
    return fail(EPROTONOSUPPORT);
  if (kind != SOCK_STREAM && kind != SOCK_DGRAM)
    return fail(ESOCKTNOSUPPORT);
  int other;
  const int fd = make_pair(kind == SOCK_DGRAM, type, &other);
  if (fd < 0)
    return -1;
  const struct umw_socket wanted = {.datagram = kind == SOCK_DGRAM, .v6 = domain == AF_INET6};
  const int number = umw_socket_create(wanted.datagram, wanted.v6, other);
  release_socket(other);
  return adopt(fd, number, &wanted, type);
}

UMW_PUBLIC int socketpair(int domain, int type, int protocol, int ends[2])
{
  if (!umw_may_open(2))
    return -1;
  return UMW_UNINTERRUPTED(umw_note_both(UMW_REAL(socketpair)(domain, type, protocol, ends), ends));
}

UMW_PUBLIC int bind(int fd, const struct sockaddr* address, socklen_t length)
{
  fd = umw_descriptor(fd);
  const struct umw_socket* socket = umw_socket_of(fd);
  if (!socket)
    return umw_gate ? umw_local_bind(fd, address, length) : UMW_REAL(bind)(fd, address, length);
  umw_address own;
  return umw_read_address(socket, umw_for_bind, address, length, &own)
             ? umw_result(umw_socket_bind(socket->number, &own))
             : -1;
}

UMW_PUBLIC int listen(int fd, int backlog)
{
  fd = umw_descriptor(fd);
  struct umw_socket* socket = umw_socket_of(fd);
  if (!socket)
    return UMW_REAL(listen)(fd, backlog);
  const int result = umw_result(umw_socket_listen(socket->number, backlog));
  socket->listening = result == 0;
  return result;
}

static int name_of(const struct umw_socket* socket, int peer, struct sockaddr* address, socklen_t* length)
{
  umw_address found = {0};
  const int result = umw_result(umw_socket_name(socket->number, peer, &found));
  if (result == 0)
    umw_give_address(socket, &found, address, length);
  return result;
}

UMW_PUBLIC int getsockname(int fd, struct sockaddr* restrict address, socklen_t* restrict length)
{
  fd = umw_descriptor(fd);
  const struct umw_socket* socket = umw_socket_of(fd);
  return socket     ? name_of(socket, 0, address, length)
         : umw_gate ? umw_local_name(fd, address, length)
                    : UMW_REAL(getsockname)(fd, address, length);
}

UMW_PUBLIC int getpeername(int fd, struct sockaddr* restrict address, socklen_t* restrict length)
{
  fd = umw_descriptor(fd);
  const struct umw_socket* socket = umw_socket_of(fd);
  return socket     ? name_of(socket, 1, address, length)
         : umw_gate ? umw_local_peer(fd, address, length)
                    : UMW_REAL(getpeername)(fd, address, length);
}

/* --- connecting --------------------------------------------------------------------------------------------------- */

/* Fills the buffer of the pair, made as small as can be; returns the bytes. */
static uint64_t fill(int fd, struct umw_socket* socket)
{
  static const char nothing[1024];
  socklen_t length = sizeof socket->send_buffer;
  UMW_REAL(getsockopt)(fd, SOL_SOCKET, SO_SNDBUF, &socket->send_buffer, &length);
  socket->send_buffer /= 2; /* the kernel doubles what it is told, socket(7) */
  const int least = 1;
  UMW_REAL(setsockopt)(fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof least);
  uint64_t filled = 0;
  for (ssize_t n; (n = UMW_REAL(send)(fd, nothing, sizeof nothing, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0;)
    filled += (uint64_t)n;
  return filled;
}

void umw_restore_buffer(int fd, struct umw_socket* socket)
{
  if (socket->send_buffer > 0)
    UMW_REAL(setsockopt)(fd, SOL_SOCKET, SO_SNDBUF, &socket->send_buffer, sizeof socket->send_buffer);
  socket->send_buffer = 0;
}

/* After an attempt to connect that has failed: a new pair in the place of the one that ended with it. A negative errno,
 * as services have. */
static int renew(int fd, struct umw_socket* socket)
{
  int other, size;
  socklen_t length = sizeof size;
  const int flags = UMW_REAL(fcntl)(fd, F_GETFD);
  const int own = make_pair(false, SOCK_CLOEXEC, &other);
  if (own < 0)
    return -errno;
  umw_restore_buffer(own, socket);
  if (UMW_REAL(getsockopt)(fd, SOL_SOCKET, SO_RCVBUF, &size, &length) == 0) {
    size /= 2;
    UMW_REAL(setsockopt)(own, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  }
  const int result = UMW_REAL(dup3)(own, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0) < 0
                         ? -errno
                         : umw_socket_renew(socket->number, other);
  release_socket(own);
  release_socket(other);
  return result;
}

static int64_t deadline_after(int64_t timeout)
{
  const int64_t deadline = timeout > 0 ? umw_time_after(umw_now_ps(NULL), timeout) : UMW_PS_NEVER;
  return deadline == UMW_PS_NEVER ? -1 : deadline;
}

static int wait_for_connection(int fd, struct umw_socket* socket)
{
  const int ready = umw_await(fd, POLLOUT, deadline_after(socket->send_timeout));
  if (ready <= 0)
    return ready < 0 ? -1 : fail(EINPROGRESS);
  const int error = umw_socket_error(socket->number);
  if (error != 0) {
    socket->connecting = false;
    umw_restore_buffer(fd, socket);
    return fail(error);
  }
  socket->connected = true;
  umw_restore_buffer(fd, socket);
  return 0;
}

UMW_PUBLIC int connect(int fd, const struct sockaddr* address, socklen_t length)
{
  fd = umw_descriptor(fd);
  struct umw_socket* socket = umw_socket_of(fd);
  if (!socket)
    return umw_gate ? umw_local_connect(fd, address, length) : UMW_REAL(connect)(fd, address, length);
  if (socket->datagram && address && length >= sizeof address->sa_family && address->sa_family == AF_UNSPEC) {
    socket->connected = false;
    return umw_result(umw_socket_disconnect(socket->number));
  }
  umw_address peer;
  if (!umw_read_address(socket, umw_for_connect, address, length, &peer))
    return -1;
  bool first = !socket->datagram && !socket->connecting && !socket->listening && !socket->connected;
  int result = umw_socket_connect(socket->number, &peer, first ? fill(fd, socket) : 0);
  if (!socket->datagram && socket->connecting && result != -EALREADY && result != -EISCONN) {
    socket->connecting = false; /* it has failed meanwhile; the program may have taken the error before */
    umw_restore_buffer(fd, socket);
    return umw_result(result == -ESTALE ? -ECONNABORTED : result);
  }
  if (result == -ESTALE) {
    first = true;
    result = renew(fd, socket);
    if (result == 0)
      result = umw_socket_connect(socket->number, &peer, fill(fd, socket));
  }
  if (socket->datagram) {
    socket->connected = result == 0;
    return umw_result(result);
  }
  if (result !=
      -EINPROGRESS) { /* EISCONN at the first call that finds it so is success, connect(2) on a non-blocking socket */
    if (first)
      umw_restore_buffer(fd, socket);
    return umw_result(result);
  }
  socket->connecting = true;
  return socket->nonblocking ? fail(EINPROGRESS) : wait_for_connection(fd, socket);
}

UMW_PUBLIC int accept4(int fd, struct sockaddr* restrict address, socklen_t* restrict length, int flags)
{
  fd = umw_descriptor(fd);
  const struct umw_socket* socket = umw_socket_of(fd);
  if (!umw_may_open(1))
    return -1;
  if (!socket)
    return umw_gate ? umw_local_accept(fd, address, length, flags) : UMW_REAL(accept4)(fd, address, length, flags);
  if (!socket->listening)
    return fail(EINVAL);
  for (;;) {
    char one;
    umw_gate->descriptor_seen = umw_gate->descriptor_news;
    if (UMW_REAL(recv)(fd, &one, 1, MSG_DONTWAIT | MSG_PEEK) != 1) {
      if (socket->nonblocking) {
        umw_yield(0); /* it looks again and again */
        return fail(EAGAIN);
      }
      const int ready = umw_await(fd, POLLIN, deadline_after(socket->receive_timeout));
      if (ready <= 0)
        return ready < 0 ? -1 : fail(EAGAIN);
      continue;
    }
    int other;
    const int own = make_pair(false, flags, &other);
    if (own < 0)
      return -1;
    UMW_REAL(recv)(fd, &one, 1, MSG_DONTWAIT);
    const int number = umw_socket_accept(socket->number, other);
    release_socket(other);
    if (number == -EAGAIN) {
      release_socket(own);
      continue;
    }
    const int adopted = adopt(own, number, socket, flags);
    if (adopted < 0)
      return -1;
    struct umw_socket* accepted = umw_socket_of(umw_descriptor(adopted));
    accepted->connecting = accepted->connected = true;
    name_of(accepted, 1, address, length);
    return adopted;
  }
}

UMW_PUBLIC int accept(int fd, struct sockaddr* restrict address, socklen_t* restrict length)
{
  return umw_gate ? accept4(fd, address, length, 0) : UMW_REAL(accept)(fd, address, length);
}

UMW_PUBLIC int shutdown(int fd, int how)
{
  fd = umw_descriptor(fd);
  const struct umw_socket* socket = umw_socket_of(fd);
  if (socket && !socket->datagram && !socket->connecting)
    return fail(ENOTCONN);
  const int result = UMW_REAL(shutdown)(fd, how);
  if (socket && result == 0)
    umw_socket_written(socket->number);
  else if (umw_gate && result == 0)
    umw_descriptor_written(fd);
  return result;
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

static int broken(const struct umw_socket* socket)
{
  const int error = umw_socket_error(socket->number);
  return fail(error != 0 ? error : EPIPE);
}

static ssize_t send_stream(int fd, struct umw_socket* socket, const struct msghdr* message, int flags)
{
  if (!socket->connecting)
    return fail(ENOTCONN);
  const bool blocking = !socket->nonblocking && !(flags & MSG_DONTWAIT);
  const size_t size = umw_message_size(message);
  const int64_t deadline = deadline_after(socket->send_timeout);
  for (size_t done = 0;;) {
    struct iovec parts[most_parts];
    const struct msghdr rest = {.msg_iov = parts, .msg_iovlen = umw_message_rest(message, done, parts, most_parts)};
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
      return fail(EAGAIN);
    }
    const int ready = umw_await(fd, POLLOUT, deadline);
    if (ready <= 0)
      return done > 0 ? (ssize_t)done : ready < 0 ? -1 : fail(EAGAIN);
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
    return fail(EDESTADDRREQ);
  const size_t size = umw_message_size(message);
  if (size > UMW_LARGEST_DATAGRAM_V4 && size > largest_to(socket, message->msg_name ? &head.address : NULL))
    return fail(EMSGSIZE);
  const int earlier = umw_socket_error(socket->number); /* what became of one before, udp(7) */
  if (earlier != 0)
    return fail(earlier);
  struct iovec parts[most_parts + 1] = {{&head, sizeof head}};
  const size_t count = umw_message_rest(message, 0, parts + 1, most_parts);
  const struct msghdr whole = {.msg_iov = parts, .msg_iovlen = count + 1};
  for (;;) {
    const ssize_t n = UMW_REAL(sendmsg)(fd, &whole, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      umw_socket_written(socket->number);
      const int error = message->msg_name ? umw_socket_error(socket->number) : 0; /* no way there */
      return error == ENETUNREACH || error == EHOSTUNREACH || error == EAFNOSUPPORT ? fail(error) : (ssize_t)size;
    }
    if (errno != EAGAIN || socket->nonblocking || (flags & MSG_DONTWAIT))
      return -1;
    const int ready = umw_await(fd, POLLOUT, deadline_after(socket->send_timeout));
    if (ready <= 0)
      return ready < 0 ? -1 : fail(EAGAIN);
  }
}

ssize_t umw_socket_send(int fd, struct umw_socket* socket, const struct msghdr* message, int flags)
{
  return socket->datagram ? send_datagram(fd, socket, message, flags) : send_stream(fd, socket, message, flags);
}

UMW_PUBLIC ssize_t sendmsg(int fd, const struct msghdr* message, int flags)
{
  fd = umw_descriptor(fd);
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
  to = umw_descriptor(to);
  from = umw_descriptor(from);
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

/* --- receiving ---------------------------------------------------------------------------------------------------- */

static void made_room(const struct umw_socket* socket, int flags)
{
  if (umw_gate->socket_backlog > 0 && !(flags & MSG_PEEK))
    umw_socket_read(socket->number);
}

static ssize_t receive_once(int fd, struct umw_socket* socket, struct msghdr* message, size_t done, int flags)
{
  umw_datagram_head head;
  struct iovec parts[most_parts + 1] = {{&head, sizeof head}};
  const size_t first = socket->datagram ? 1 : 0;
  const size_t count = umw_message_rest(message, done, parts + first, most_parts);
  struct msghdr rest = {.msg_iov = parts, .msg_iovlen = count + first};
  umw_gate->descriptor_seen = umw_gate->descriptor_news;
  const ssize_t n = UMW_REAL(recvmsg)(fd, &rest, (flags & (MSG_PEEK | MSG_TRUNC)) | MSG_DONTWAIT);
  if (n > 0)
    umw_gate->made_progress = 1;
  message->msg_flags = rest.msg_flags & MSG_TRUNC;
  if (socket->datagram && n == 0 &&
      !(flags & MSG_PEEK)) { /* no datagram, which has a head: something has become of one before */
    const int error = umw_socket_error(socket->number);
    return fail(error != 0 ? error : EAGAIN);
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
    return fail(ENOTCONN);
  const bool blocking = !socket->nonblocking && !(flags & MSG_DONTWAIT);
  const size_t size = umw_message_size(message);
  const int64_t deadline = deadline_after(socket->receive_timeout);
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
      return error != 0 ? fail(error) : 0;
    }
    if (errno != EAGAIN)
      return done > 0 ? (ssize_t)done : -1;
    if (socket->datagram) {
      const int error = umw_socket_error(socket->number);
      if (error != 0)
        return fail(error);
    }
    if (!blocking) {
      if (done > 0)
        return (ssize_t)done;
      umw_yield(0);
      return fail(EAGAIN);
    }
    const int ready = umw_await(fd, POLLIN, deadline);
    if (ready <= 0)
      return done > 0 ? (ssize_t)done : ready < 0 ? -1 : fail(EAGAIN);
  }
}

UMW_PUBLIC ssize_t recvmsg(int fd, struct msghdr* message, int flags)
{
  fd = umw_descriptor(fd);
  struct umw_socket* socket = umw_socket_of(fd);
  if (socket)
    return umw_socket_receive(fd, socket, message, flags);
  return umw_gate ? umw_local_receive(fd, message, flags) : UMW_REAL(recvmsg)(fd, message, flags);
}

UMW_PUBLIC ssize_t recvfrom(int fd, void* restrict data, size_t size, int flags, struct sockaddr* restrict from,
                            socklen_t* restrict length)
{
  fd = umw_descriptor(fd);
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
