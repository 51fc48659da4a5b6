/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The older functions for names and addresses of hosts, gethostbyname(3).
 */
#include "preload/shim.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "preload/sockets/names.h"
#include "preload/sockets/socket_addresses.h"

struct room {
  char name[NI_MAXHOST];
  union {
    struct in_addr v4;
    struct in6_addr v6;
  } address;
  char* addresses[2];
  char* aliases[1];
};

static _Thread_local struct hostent own_entry;
static _Thread_local struct room own_room;

static struct hostent* fill(struct hostent* entry, struct room* room, const char* name, int family,
                            const umw_address* address)
{
  snprintf(room->name, sizeof room->name, "%s", name);
  if (family == AF_INET6)
    room->address.v6 = umw_sockaddr_v6(address).sin6_addr;
  else
    room->address.v4 = umw_sockaddr_v4(address).sin_addr;
  room->addresses[0] = (char*)&room->address;
  room->addresses[1] = NULL;
  room->aliases[0] = NULL;
  const int length = family == AF_INET6 ? (int)sizeof room->address.v6 : (int)sizeof room->address.v4;
  *entry = (struct hostent){room->name, room->aliases, family, length, room->addresses};
  return entry;
}

/* The answer: null and HOST_NOT_FOUND, too, if it has none of that family. */
static struct hostent* by_name(const char* name, int family, struct hostent* entry, struct room* room, int* error)
{
  struct umw_host host;
  const bool known = umw_look_up(name, family, false, &host) == 0 && (family == AF_INET ? host.has_v4 : host.has_v6);
  const bool mapped = known && host.numeric && family == AF_INET && host.has_v6; /* ::ffff:a.b.c.d is none of IPv4 */
  if (known && !mapped)
    return fill(entry, room, host.name, family, family == AF_INET ? &host.v4 : &host.v6);
  *error = HOST_NOT_FOUND;
  return NULL;
}

static struct hostent* by_address(const void* address, socklen_t length, int family, struct hostent* entry,
                                  struct room* room, int* error)
{
  umw_address internet;
  char name[NI_MAXHOST];
  *error = HOST_NOT_FOUND;
  if (family == AF_INET && length == sizeof(struct in_addr)) {
    struct in_addr v4;
    memcpy(&v4, address, sizeof v4);
    internet = umw_address_of_v4(ntohl(v4.s_addr), 0);
  } else if (family == AF_INET6 && length == sizeof(struct in6_addr)) {
    struct in6_addr v6;
    memcpy(&v6, address, sizeof v6);
    internet = umw_address_of_v6(&v6, 0);
    if (umw_is_v4(&internet))
      return NULL;
  } else
    return NULL;
  return umw_name_of_address(&internet, name, sizeof name) ? fill(entry, room, name, family, &internet) : NULL;
}

/* The caller's buffer; null: it is too small. */
static struct room* room_in(char* buffer, size_t size)
{
  const size_t offset = -(uintptr_t)buffer % _Alignof(struct room);
  return size < offset + sizeof(struct room) ? NULL : (struct room*)(void*)(buffer + offset);
}

UMW_PUBLIC struct hostent* gethostbyname2(const char* name, int family)
{
  if (!umw_gate)
    return UMW_REAL(gethostbyname2)(name, family);
  if (family != AF_INET && family != AF_INET6) {
    h_errno = NETDB_INTERNAL;
    errno = EAFNOSUPPORT;
    return NULL;
  }
  return by_name(name, family, &own_entry, &own_room, &h_errno);
}

UMW_PUBLIC struct hostent* gethostbyname(const char* name)
{
  return umw_gate ? gethostbyname2(name, AF_INET) : UMW_REAL(gethostbyname)(name);
}

UMW_PUBLIC int gethostbyname2_r(const char* restrict name, int family, struct hostent* restrict entry,
                                char* restrict buffer, size_t size, struct hostent** restrict result,
                                int* restrict error)
{
  if (!umw_gate)
    return UMW_REAL(gethostbyname2_r)(name, family, entry, buffer, size, result, error);
  struct room* room = room_in(buffer, size);
  *result = NULL;
  if (!room) {
    *error = NETDB_INTERNAL;
    return ERANGE;
  }
  if (family != AF_INET && family != AF_INET6) {
    *error = NETDB_INTERNAL;
    return EAFNOSUPPORT;
  }
  *result = by_name(name, family, entry, room, error);
  return 0;
}

UMW_PUBLIC int gethostbyname_r(const char* restrict name, struct hostent* restrict entry, char* restrict buffer,
                               size_t size, struct hostent** restrict result, int* restrict error)
{
  return umw_gate ? gethostbyname2_r(name, AF_INET, entry, buffer, size, result, error)
                  : UMW_REAL(gethostbyname_r)(name, entry, buffer, size, result, error);
}

UMW_PUBLIC struct hostent* gethostbyaddr(const void* address, socklen_t length, int family)
{
  return umw_gate ? by_address(address, length, family, &own_entry, &own_room, &h_errno)
                  : UMW_REAL(gethostbyaddr)(address, length, family);
}

UMW_PUBLIC int gethostbyaddr_r(const void* restrict address, socklen_t length, int family,
                               struct hostent* restrict entry, char* restrict buffer, size_t size,
                               struct hostent** restrict result, int* restrict error)
{
  if (!umw_gate)
    return UMW_REAL(gethostbyaddr_r)(address, length, family, entry, buffer, size, result, error);
  struct room* room = room_in(buffer, size);
  *result = NULL;
  if (!room) {
    *error = NETDB_INTERNAL;
    return ERANGE;
  }
  *result = by_address(address, length, family, entry, room, error);
  return 0;
}
