/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/shim.h"

#include <string.h>

#include "preload/sockets/socket_addresses.h"

enum { shortest_v6 = 24 }; /* sockaddr_in6 of RFC 2133, without a scope */

static const uint64_t mapped = 0xffff;

umw_address umw_address_of_v4(uint32_t host, uint16_t port)
{
  return (umw_address){.low = mapped << 32 | host, .port = port};
}

umw_address umw_address_of_v6(const struct in6_addr* host, uint16_t port)
{
  umw_address address = {.port = port};
  for (int i = 0; i < 8; ++i) {
    address.high = address.high << 8 | host->s6_addr[i];
    address.low = address.low << 8 | host->s6_addr[8 + i];
  }
  return address;
}

bool umw_is_v4(const umw_address* address)
{
  return address->high == 0 && address->low >> 32 == mapped;
}

static bool is_link_local(const umw_address* address) /* fe80::/10 */
{
  return address->high >> 54 == UMW_LINK_LOCAL >> 54;
}

struct sockaddr_in umw_sockaddr_v4(const umw_address* address)
{
  return (struct sockaddr_in){AF_INET, htons(address->port), {htonl((uint32_t)address->low)}, {0}};
}

struct sockaddr_in6 umw_sockaddr_v6(const umw_address* address)
{
  struct sockaddr_in6 internet = {.sin6_family = AF_INET6,
                                  .sin6_port = htons(address->port),
                                  .sin6_scope_id = is_link_local(address) ? UMW_NETWORK_INDEX : 0};
  for (int i = 0; i < 8; ++i) {
    internet.sin6_addr.s6_addr[i] = (uint8_t)(address->high >> (56 - 8 * i));
    internet.sin6_addr.s6_addr[8 + i] = (uint8_t)(address->low >> (56 - 8 * i));
  }
  return internet;
}

umw_address umw_unique_local_of(uint32_t host)
{
  return (umw_address){.high = UMW_UNIQUE_LOCAL, .low = host};
}

umw_address umw_link_local_of(uint32_t host)
{
  return (umw_address){.high = UMW_LINK_LOCAL, .low = host};
}

uint32_t umw_v4_of_node(const umw_address* address)
{
  const bool of_network =
      umw_is_v4(address) ||
      ((address->high == UMW_UNIQUE_LOCAL || address->high == UMW_LINK_LOCAL) && address->low >> 32 == 0);
  return of_network ? (uint32_t)address->low : 0;
}

/* Of a link-local address the program has to say on which interface, ipv6(7). 0, or an errno as Linux has it. */
static int wrong_scope(enum umw_address_for purpose, uint32_t scope)
{
  if (scope == UMW_NETWORK_INDEX)
    return 0;
  switch (purpose) {
  case umw_for_bind:
    return scope == 0 ? EINVAL : scope == UMW_LOOPBACK_INDEX ? EADDRNOTAVAIL : ENODEV;
  case umw_for_connect:
    return scope == 0 ? EINVAL : ENETUNREACH;
  default: /* there is one way out */
    return scope == 0 ? 0 : ENETUNREACH;
  }
}

static bool fail(int error)
{
  errno = error;
  return false;
}

static bool read_v4(enum umw_address_for purpose, const struct sockaddr* address, socklen_t length, umw_address* result)
{
  if (length < sizeof(struct sockaddr_in))
    return fail(EINVAL);
  struct sockaddr_in internet;
  memcpy(&internet, address, sizeof internet);
  const bool nobody = internet.sin_family == AF_UNSPEC && internet.sin_addr.s_addr == INADDR_ANY;
  if (internet.sin_family != AF_INET && !(nobody && purpose == umw_for_bind)) /* as Linux has it (inet_bind) */
    return fail(EAFNOSUPPORT);
  *result = umw_address_of_v4(ntohl(internet.sin_addr.s_addr), ntohs(internet.sin_port));
  return true;
}

bool umw_read_address(const struct umw_socket* socket, enum umw_address_for purpose, const struct sockaddr* address,
                      socklen_t length, umw_address* result)
{
  if (!address || length < sizeof address->sa_family)
    return fail(EINVAL);
  if (!socket->v6)
    return read_v4(purpose, address, length, result);
  if (socket->datagram && purpose != umw_for_bind && address->sa_family == AF_INET) {
    if (socket->only_v6)
      return fail(purpose == umw_for_connect ? EAFNOSUPPORT : ENETUNREACH);
    return read_v4(purpose, address, length, result);
  }
  if (length < shortest_v6)
    return fail(EINVAL);
  struct sockaddr_in6 internet = {0};
  memcpy(&internet, address, length < sizeof internet ? length : sizeof internet);
  if (internet.sin6_family != AF_INET6)
    return fail(EAFNOSUPPORT);
  *result = umw_address_of_v6(&internet.sin6_addr, ntohs(internet.sin6_port));
  const int wrong =
      is_link_local(result) ? wrong_scope(purpose, length < sizeof internet ? 0 : internet.sin6_scope_id) : 0;
  return wrong == 0 || fail(wrong);
}

void umw_give_address(const struct umw_socket* socket, const umw_address* given, struct sockaddr* address,
                      socklen_t* length)
{
  if (!address || !length)
    return;
  if (socket->v6) {
    const struct sockaddr_in6 internet = umw_sockaddr_v6(given);
    memcpy(address, &internet, *length < sizeof internet ? *length : sizeof internet);
    *length = sizeof internet;
  } else {
    const struct sockaddr_in internet = umw_sockaddr_v4(given);
    memcpy(address, &internet, *length < sizeof internet ? *length : sizeof internet);
    *length = sizeof internet;
  }
}

int umw_give_name(const struct umw_socket* socket, int peer, struct sockaddr* address, socklen_t* length)
{
  umw_address found = {0};
  const int result = umw_result(umw_socket_name(socket->number, peer, &found));
  if (result == 0)
    umw_give_address(socket, &found, address, length);
  return result;
}
