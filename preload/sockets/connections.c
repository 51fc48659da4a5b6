/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * connect, accept and shutdown of simulated sockets: what the program is told about a connection while the runtime
 * makes it, which may be at a later call, and of an earlier attempt.
 */
#include "preload/shim.h"

#include <poll.h>
#include <sys/socket.h>

#include "preload/descriptors/descriptors.h"
#include "preload/sockets/local_sockets.h"
#include "preload/sockets/socket_addresses.h"
#include "preload/sockets/socket_calls.h"
#include "preload/sockets/socket_pairs.h"

static int wait_for_connection(int fd, struct umw_socket* socket)
{
  const int ready = umw_await(fd, POLLOUT, umw_deadline_after(socket->send_timeout));
  if (ready <= 0)
    return ready < 0 ? -1 : umw_fail(EINPROGRESS);
  const int error = umw_socket_error(socket->number);
  if (error != 0) {
    socket->connecting = false;
    umw_restore_buffer(fd, socket);
    return umw_fail(error);
  }
  socket->connected = true;
  umw_restore_buffer(fd, socket);
  return 0;
}

UMW_PUBLIC int connect(int fd, const struct sockaddr* address, socklen_t length)
{
  fd = umw_open_descriptor(fd);
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
  int result = umw_socket_connect(socket->number, &peer, first ? umw_fill_buffer(fd, socket) : 0);
  if (!socket->datagram && socket->connecting && result != -EALREADY && result != -EISCONN) {
    socket->connecting = false; /* it has failed meanwhile; the program may have taken the error before */
    umw_restore_buffer(fd, socket);
    return umw_result(result == -ESTALE ? -ECONNABORTED : result);
  }
  if (result == -ESTALE) {
    first = true;
    result = umw_renew_pair(fd, socket);
    if (result == 0)
      result = umw_socket_connect(socket->number, &peer, umw_fill_buffer(fd, socket));
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
  return socket->nonblocking ? umw_fail(EINPROGRESS) : wait_for_connection(fd, socket);
}

UMW_PUBLIC int accept4(int fd, struct sockaddr* restrict address, socklen_t* restrict length, int flags)
{
  fd = umw_open_descriptor(fd);
  const struct umw_socket* socket = umw_socket_of(fd);
  if (!umw_may_open(1))
    return -1;
  if (!socket)
    return umw_gate ? umw_local_accept(fd, address, length, flags) : UMW_REAL(accept4)(fd, address, length, flags);
  if (!socket->listening)
    return umw_fail(EINVAL);
  for (;;) {
    char one;
    umw_gate->descriptor_seen = umw_gate->descriptor_news;
    if (UMW_REAL(recv)(fd, &one, 1, MSG_DONTWAIT | MSG_PEEK) != 1) {
      if (socket->nonblocking) {
        umw_yield(0); /* it looks again and again */
        return umw_fail(EAGAIN);
      }
      const int ready = umw_await(fd, POLLIN, umw_deadline_after(socket->receive_timeout));
      if (ready <= 0)
        return ready < 0 ? -1 : umw_fail(EAGAIN);
      continue;
    }
    int other;
    const int own = umw_make_pair(false, flags, &other);
    if (own < 0)
      return -1;
    UMW_REAL(recv)(fd, &one, 1, MSG_DONTWAIT);
    const int number = umw_socket_accept(socket->number, other);
    umw_release_pair(other);
    if (number == -EAGAIN) {
      umw_release_pair(own);
      continue;
    }
    const int adopted = umw_adopt_pair(own, number, socket, flags);
    if (adopted < 0)
      return -1;
    struct umw_socket* accepted = umw_socket_of(umw_descriptor(adopted));
    accepted->connecting = accepted->connected = true;
    umw_give_name(accepted, 1, address, length);
    return adopted;
  }
}

UMW_PUBLIC int accept(int fd, struct sockaddr* restrict address, socklen_t* restrict length)
{
  return umw_gate ? accept4(fd, address, length, 0) : UMW_REAL(accept)(fd, address, length);
}

UMW_PUBLIC int shutdown(int fd, int how)
{
  fd = umw_open_descriptor(fd);
  const struct umw_socket* socket = umw_socket_of(fd);
  if (socket && !socket->datagram && !socket->connecting)
    return umw_fail(ENOTCONN);
  const int result = UMW_REAL(shutdown)(fd, how);
  if (socket && result == 0)
    umw_socket_written(socket->number);
  else if (umw_gate && result == 0)
    umw_descriptor_written(fd);
  return result;
}
