/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * TCP and UDP over the simulated network. A simulated socket is one end of a pair of AF_UNIX sockets whose other end
 * the runtime has (runtime/sockets/stack.h); so what can be done with a descriptor alone (poll, epoll, dup, FIONREAD)
 * needs nothing here. What is written goes into the pair, and the runtime is told (sending.c); what is read comes out
 * of it (receiving.c). Sockets of other families are the kernel's; only their waits are simulated.
 *
 * Here: how sockets are made and named.
 */
#include "preload/shim.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "preload/descriptors/descriptors.h"
#include "preload/sockets/local_sockets.h"
#include "preload/sockets/socket_addresses.h"
#include "preload/sockets/socket_calls.h"
#include "preload/sockets/socket_pairs.h"

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
    return umw_fail(EPERM);
  if ((kind == SOCK_STREAM && protocol != 0 && protocol != IPPROTO_TCP) ||
      (kind == SOCK_DGRAM && protocol != 0 && protocol != IPPROTO_UDP))
    return umw_fail(EPROTONOSUPPORT);
  if (kind != SOCK_STREAM && kind != SOCK_DGRAM)
    return umw_fail(ESOCKTNOSUPPORT);
  int other;
  const int fd = umw_make_pair(kind == SOCK_DGRAM, type, &other);
  if (fd < 0)
    return -1;
  const struct umw_socket wanted = {.datagram = kind == SOCK_DGRAM, .v6 = domain == AF_INET6};
  const int number = umw_socket_create(wanted.datagram, wanted.v6, other);
  umw_release_pair(other);
  return umw_adopt_pair(fd, number, &wanted, type);
}

UMW_PUBLIC int socketpair(int domain, int type, int protocol, int ends[2])
{
  if (!umw_may_open(2))
    return -1;
  return UMW_UNINTERRUPTED(umw_note_both(UMW_REAL(socketpair)(domain, type, protocol, ends), ends));
}

UMW_PUBLIC int bind(int fd, const struct sockaddr* address, socklen_t length)
{
  fd = umw_open_descriptor(fd);
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
  fd = umw_open_descriptor(fd);
  struct umw_socket* socket = umw_socket_of(fd);
  if (!socket)
    return UMW_REAL(listen)(fd, backlog);
  const int result = umw_result(umw_socket_listen(socket->number, backlog));
  socket->listening = result == 0;
  return result;
}

UMW_PUBLIC int getsockname(int fd, struct sockaddr* restrict address, socklen_t* restrict length)
{
  fd = umw_open_descriptor(fd);
  const struct umw_socket* socket = umw_socket_of(fd);
  return socket     ? umw_give_name(socket, 0, address, length)
         : umw_gate ? umw_local_name(fd, address, length)
                    : UMW_REAL(getsockname)(fd, address, length);
}

UMW_PUBLIC int getpeername(int fd, struct sockaddr* restrict address, socklen_t* restrict length)
{
  fd = umw_open_descriptor(fd);
  const struct umw_socket* socket = umw_socket_of(fd);
  return socket     ? umw_give_name(socket, 1, address, length)
         : umw_gate ? umw_local_peer(fd, address, length)
                    : UMW_REAL(getpeername)(fd, address, length);
}
