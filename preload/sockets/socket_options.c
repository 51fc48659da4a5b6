/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Options of simulated sockets: socket(7), tcp(7), ip(7), ipv6(7). Those that would change packets are remembered only.
 */
#include "preload/shim.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "preload/abi/time_units.h"
#include "preload/descriptors/descriptors.h"
#include "preload/sockets/socket_calls.h"
#include "preload/sockets/socket_pairs.h"

/* Where the value of such an option is; null: there is none. */
static int* remembered_at(struct umw_socket* socket, int level, int name)
{
  if (level == IPPROTO_TCP && !socket->datagram && name > 0 && name < UMW_TCP_OPTIONS)
    return &socket->tcp_options[name];
  if (level == IPPROTO_IPV6 && socket->v6 && name > 0 && name < UMW_IPV6_OPTIONS)
    return &socket->ipv6_options[name];
  return NULL;
}

/* MSS: the largest packet of lo (65536), less the headers of IP and TCP with time stamps, as Linux says it on lo. */
static int segment_of(const struct umw_socket* socket)
{
  return socket->v6 ? 65463 : 65483;
}

static int64_t* timeout_of(struct umw_socket* socket, int name)
{
  return name == SO_RCVTIMEO ? &socket->receive_timeout : name == SO_SNDTIMEO ? &socket->send_timeout : NULL;
}

/* tcp(7). The NIC loses nothing, so nothing is sent again; what is not known is 0. */
static struct tcp_info tcp_info_of(const struct umw_socket* socket)
{
  const unsigned segment = (unsigned)segment_of(socket);
  return (struct tcp_info){.tcpi_state = socket->listening    ? TCP_LISTEN
                                         : socket->at_end     ? TCP_CLOSE_WAIT
                                         : socket->connected  ? TCP_ESTABLISHED
                                         : socket->connecting ? TCP_SYN_SENT
                                                              : TCP_CLOSE,
                           .tcpi_rto = 200000,
                           .tcpi_snd_mss = segment,
                           .tcpi_rcv_mss = segment,
                           .tcpi_advmss = segment,
                           .tcpi_snd_ssthresh = INT32_MAX,
                           .tcpi_snd_cwnd = UMW_STREAM_WINDOW / segment};
}

static const char* const congestion_controls[] = {"cubic", "reno"}; /* by the number that is remembered */

static int set_congestion_control(struct umw_socket* socket, const void* value, socklen_t length)
{
  char name[16] = "";
  memcpy(name, value, length < sizeof name - 1 ? length : sizeof name - 1);
  for (unsigned i = 0; i < sizeof congestion_controls / sizeof *congestion_controls; ++i)
    if (strcmp(name, congestion_controls[i]) == 0) {
      socket->tcp_options[TCP_CONGESTION] = (int)i;
      return 0;
    }
  return umw_fail(ENOENT);
}

static int give(const void* from, socklen_t size, void* value, socklen_t* length)
{
  *length = *length < size ? *length : size;
  memcpy(value, from, *length);
  return 0;
}

UMW_PUBLIC int setsockopt(int fd, int level, int name, const void* value, socklen_t length)
{
  fd = umw_open_descriptor(fd);
  struct umw_socket* socket = umw_socket_of(fd);
  if (!socket && umw_gate && level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO) &&
      length >= sizeof(struct timeval) && value) {
    /* A negative one has passed, but is shown as one that is not there. */
    static const struct timeval least = {0, 1};
    struct timeval given;
    memcpy(&given, value, sizeof given);
    return UMW_REAL(setsockopt)(fd, level, name, given.tv_sec < 0 ? &least : value, length);
  }
  if (!socket)
    return UMW_REAL(setsockopt)(fd, level, name, value, length);
  if (!value)
    return umw_fail(EFAULT);
  if (level == IPPROTO_TCP && name == TCP_CONGESTION && !socket->datagram)
    return length < 1 ? umw_fail(EINVAL) : set_congestion_control(socket, value, length);
  if (length < sizeof(int))
    return umw_fail(EINVAL);
  int number;
  memcpy(&number, value, sizeof number);
  if (level == IPPROTO_IPV6 && socket->v6 && name == IPV6_V6ONLY) {
    const int result = umw_socket_only_v6(socket->number, number != 0);
    if (result == 0)
      socket->only_v6 = number != 0;
    return umw_result(result);
  }
  if (level == IPPROTO_IPV6 && !socket->datagram && (name == IPV6_MULTICAST_HOPS || name == IPV6_MULTICAST_IF))
    return umw_fail(ENOPROTOOPT);
  int* remembered = remembered_at(socket, level, name);
  if (remembered) {
    *remembered = number;
    return 0;
  }
  if (level == IPPROTO_IP)
    return 0;
  if (level != SOL_SOCKET)
    return umw_fail(ENOPROTOOPT);
  int64_t* timeout = timeout_of(socket, name);
  if (timeout) {
    if (length < sizeof(struct timeval))
      return umw_fail(EINVAL);
    struct timeval given;
    memcpy(&given, value, sizeof given);
    if (given.tv_usec < 0 || given.tv_usec >= 1000000)
      return umw_fail(EDOM);
    *timeout =
        given.tv_sec < 0 ? 1 : umw_ps_of_timeval(&given); /* negative: it has passed, sock_set_timeout() of Linux */
    return 0;
  }
  if (name == SO_REUSEADDR || name == SO_REUSEPORT) {
    if (name == SO_REUSEADDR)
      UMW_REAL(setsockopt)(fd, level, name, value, length); /* for getsockopt */
    return umw_result(umw_socket_reuse(socket->number, number != 0));
  }
  if (name == SO_SNDBUF && socket->send_buffer > 0) {
    socket->send_buffer = number;
    return 0;
  }
  if (name == SO_BINDTODEVICE || name == SO_BROADCAST || name == SO_PRIORITY || name == SO_BUSY_POLL)
    return 0;
  return UMW_REAL(setsockopt)(fd, level, name, value, length);
}

UMW_PUBLIC int getsockopt(int fd, int level, int name, void* restrict value, socklen_t* restrict length)
{
  fd = umw_open_descriptor(fd);
  struct umw_socket* socket = umw_socket_of(fd);
  if (!socket)
    return UMW_REAL(getsockopt)(fd, level, name, value, length);
  if (!value || !length)
    return umw_fail(EFAULT);
  int number = 0;
  int64_t* timeout = level == SOL_SOCKET ? timeout_of(socket, name) : NULL;
  if (timeout) {
    const struct timespec set = umw_timespec_of(*timeout == UMW_PS_NEVER ? 0 : *timeout);
    const struct timeval given = {set.tv_sec, set.tv_nsec / 1000};
    return give(&given, sizeof given, value, length);
  }
  if (level == IPPROTO_TCP && name == TCP_INFO && !socket->datagram) {
    const struct tcp_info info = tcp_info_of(socket);
    return give(&info, sizeof info, value, length);
  }
  if (level == IPPROTO_TCP && name == TCP_CONGESTION && !socket->datagram) {
    char text[16] = "";
    strcpy(text, congestion_controls[socket->tcp_options[name]]);
    return give(text, sizeof text, value, length);
  }
  const int* remembered = remembered_at(socket, level, name);
  if (level == IPPROTO_TCP && name == TCP_MAXSEG && !socket->datagram)
    number = segment_of(socket);
  else if (level == IPPROTO_IPV6 && !socket->v6)
    return umw_fail(EOPNOTSUPP);
  else if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY)
    number = socket->only_v6;
  else if (remembered)
    number = *remembered;
  else if (level == SOL_SOCKET && name == SO_ERROR) {
    number = umw_socket_error(socket->number);
    if (number == 0 && socket->connecting && !socket->connected) { /* asked after a connect that did not wait */
      struct pollfd descriptor = {fd, POLLOUT, 0};
      if (UMW_REAL(poll)(&descriptor, 1, 0) > 0) {
        socket->connected = true;
        umw_restore_buffer(fd, socket);
      }
    }
  } else if (level == SOL_SOCKET && name == SO_DOMAIN)
    number = socket->v6 ? AF_INET6 : AF_INET;
  else if (level == SOL_SOCKET && name == SO_PROTOCOL)
    number = socket->datagram ? IPPROTO_UDP : IPPROTO_TCP;
  else if (level == SOL_SOCKET && name == SO_ACCEPTCONN)
    number = socket->listening;
  else if (level == SOL_SOCKET && name == SO_SNDBUF && socket->send_buffer > 0)
    number = 2 * socket->send_buffer;
  else if (level == SOL_SOCKET)
    return UMW_REAL(getsockopt)(fd, level, name, value, length);
  else if (level != IPPROTO_IP)
    return umw_fail(ENOPROTOOPT);
  return give(&number, sizeof number, value, length);
}
