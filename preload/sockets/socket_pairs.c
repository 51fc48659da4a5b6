/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pairs behind simulated sockets. While a socket connects the buffer of its pair is full, so that it becomes writable,
 * for poll and epoll too, at the moment at which the connection stands. A pair that could not connect has ended for the
 * program as well; the next attempt takes a new one.
 */
#include "preload/shim.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"
#include "preload/sockets/socket_calls.h"
#include "preload/sockets/socket_pairs.h"

static int own_both(int result, const int ends[2])
{
  if (result == 0) {
    umw_own(ends[0]);
    umw_own(ends[1]);
  }
  return result;
}

void umw_release_pair(int own)
{
  UMW_REAL(close)(own);
  umw_disown(own); /* unless another rank has it already */
}

int umw_make_pair(bool datagram, int flags, int* other)
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

int umw_adopt_pair(int fd, int number, const struct umw_socket* like, int flags)
{
  struct umw_socket* socket = number > 0 ? calloc(1, sizeof *socket) : NULL;
  if (!socket) {
    if (number > 0)
      umw_socket_close(number);
    umw_release_pair(fd);
    return umw_fail(number > 0 ? ENOMEM : -number);
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

uint64_t umw_fill_buffer(int fd, struct umw_socket* socket)
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

int umw_renew_pair(int fd, struct umw_socket* socket)
{
  int other, size;
  socklen_t length = sizeof size;
  const int flags = UMW_REAL(fcntl)(fd, F_GETFD);
  const int own = umw_make_pair(false, SOCK_CLOEXEC, &other);
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
  umw_release_pair(own);
  umw_release_pair(other);
  return result;
}
