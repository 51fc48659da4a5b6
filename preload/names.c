/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Names and addresses of the simulated nodes, in place of the resolver's. There is nobody else: a name that is none of a node is not
 * found. IPv4 only.
 */
#include "preload/shim.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* False: there is no such host. */
static bool look_up(const char* name, bool numeric_only, uint32_t* host)
{
  struct in_addr address;
  if (inet_aton(name, &address)) {
    *host = ntohl(address.s_addr);
    return true;
  }
  if (numeric_only)
    return false;
  if (strcmp(name, "localhost") == 0) {
    *host = INADDR_LOOPBACK;
    return true;
  }
  const int64_t found = umw_host_lookup(name);
  *host = (uint32_t)found;
  return found >= 0;
}

static bool name_of(uint32_t host, char* name, size_t size)
{
  if (host >> 24 == IN_LOOPBACKNET)
    return snprintf(name, size, "localhost") < (int)size;
  return umw_host_name(host, name, size) >= 0;
}

/* --- getaddrinfo ---------------------------------------------------------------------------------------------------------------------- */

struct result {
  struct addrinfo info; /* first: freeaddrinfo gets this */
  struct sockaddr_in address;
};

static int find_port(const char* service, const struct addrinfo* hints, int* port)
{
  *port = 0;
  if (!service)
    return 0;
  char* end;
  const long number = strtol(service, &end, 10);
  if (*service != '\0' && *end == '\0') {
    *port = (int)(number & 0xffff);
    return 0;
  }
  if (hints && hints->ai_flags & AI_NUMERICSERV)
    return EAI_NONAME;
  const struct servent* entry = getservbyname(service, hints && hints->ai_socktype == SOCK_DGRAM ? "udp" : "tcp");
  if (!entry)
    return EAI_SERVICE;
  *port = ntohs((uint16_t)entry->s_port);
  return 0;
}

UMW_PUBLIC int getaddrinfo(const char* restrict name, const char* restrict service,
                           const struct addrinfo* restrict hints, struct addrinfo** restrict results)
{
  if (!umw_gate)
    return UMW_REAL(getaddrinfo)(name, service, hints, results);
  static const struct {
    int type, protocol;
  } kinds[] = {{SOCK_STREAM, IPPROTO_TCP}, {SOCK_DGRAM, IPPROTO_UDP}, {SOCK_RAW, IPPROTO_IP}};
  const int flags = hints ? hints->ai_flags : 0;
  if (!name && !service)
    return EAI_NONAME;
  if (hints && hints->ai_family != AF_UNSPEC && hints->ai_family != AF_INET)
    return hints->ai_family == AF_INET6 ? EAI_NONAME : EAI_FAMILY;
  int port;
  const int no_port = find_port(service, hints, &port);
  if (no_port != 0)
    return no_port;
  uint32_t host = flags & AI_PASSIVE ? INADDR_ANY : INADDR_LOOPBACK;
  if (name && !look_up(name, flags & AI_NUMERICHOST, &host))
    return EAI_NONAME;
  struct addrinfo* first = NULL;
  struct addrinfo** link = &first;
  for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (hints && ((hints->ai_socktype != 0 && hints->ai_socktype != kinds[i].type) ||
                  (hints->ai_protocol != 0 && hints->ai_protocol != kinds[i].protocol)))
      continue;
    struct result* result = calloc(1, sizeof *result);
    if (!result) {
      freeaddrinfo(first);
      return EAI_MEMORY;
    }
    result->address = (struct sockaddr_in){AF_INET, htons((uint16_t)port), {htonl(host)}, {0}};
    result->info = (struct addrinfo){.ai_family = AF_INET,
                                     .ai_socktype = kinds[i].type,
                                     .ai_protocol = kinds[i].protocol,
                                     .ai_addrlen = sizeof result->address,
                                     .ai_addr = (struct sockaddr*)&result->address};
    if (!first && flags & AI_CANONNAME) {
      char canonical[NI_MAXHOST];
      result->info.ai_canonname = strdup(name_of(host, canonical, sizeof canonical) ? canonical : name ? name : "");
    }
    *link = &result->info;
    link = &result->info.ai_next;
  }
  *results = first;
  return first ? 0 : EAI_SOCKTYPE;
}

UMW_PUBLIC void freeaddrinfo(struct addrinfo* list)
{
  if (!umw_gate) {
    UMW_REAL(freeaddrinfo)(list);
    return;
  }
  while (list) {
    struct addrinfo* next = list->ai_next;
    free(list->ai_canonname);
    free(list);
    list = next;
  }
}

UMW_PUBLIC int getnameinfo(const struct sockaddr* restrict address, socklen_t length, char* restrict name,
                           socklen_t name_size, char* restrict service, socklen_t service_size, int flags)
{
  if (!umw_gate)
    return UMW_REAL(getnameinfo)(address, length, name, name_size, service, service_size, flags);
  struct sockaddr_in internet;
  if (length < sizeof internet || address->sa_family != AF_INET)
    return EAI_FAMILY;
  memcpy(&internet, address, sizeof internet);
  char text[NI_MAXHOST];
  if (flags & NI_NUMERICHOST || !name_of(ntohl(internet.sin_addr.s_addr), text, sizeof text)) {
    if (flags & NI_NAMEREQD)
      return EAI_NONAME;
    inet_ntop(AF_INET, &internet.sin_addr, text, sizeof text);
  }
  if (name && name_size > 0 && snprintf(name, name_size, "%s", text) >= (int)name_size)
    return EAI_OVERFLOW;
  if (service && service_size > 0) {
    const struct servent* entry =
        flags & NI_NUMERICSERV ? NULL : getservbyport(internet.sin_port, flags & NI_DGRAM ? "udp" : "tcp");
    const int needed = entry ? snprintf(service, service_size, "%s", entry->s_name)
                             : snprintf(service, service_size, "%d", ntohs(internet.sin_port));
    if (needed >= (int)service_size)
      return EAI_OVERFLOW;
  }
  return 0;
}

/* --- the older functions -------------------------------------------------------------------------------------------------------------- */

struct host_room {
  char name[NI_MAXHOST];
  struct in_addr address;
  char* addresses[2];
  char* aliases[1];
};

static struct hostent* fill(struct hostent* entry, struct host_room* room, const char* name, uint32_t host)
{
  snprintf(room->name, sizeof room->name, "%s", name);
  room->address.s_addr = htonl(host);
  room->addresses[0] = (char*)&room->address;
  room->addresses[1] = NULL;
  room->aliases[0] = NULL;
  *entry = (struct hostent){room->name, room->aliases, AF_INET, sizeof room->address, room->addresses};
  return entry;
}

static _Thread_local struct hostent own_entry;
static _Thread_local struct host_room own_room;

static struct hostent* not_found(void)
{
  h_errno = HOST_NOT_FOUND;
  return NULL;
}

UMW_PUBLIC struct hostent* gethostbyname(const char* name)
{
  if (!umw_gate)
    return UMW_REAL(gethostbyname)(name);
  uint32_t host;
  return look_up(name, false, &host) ? fill(&own_entry, &own_room, name, host) : not_found();
}

UMW_PUBLIC struct hostent* gethostbyname2(const char* name, int family)
{
  if (!umw_gate)
    return UMW_REAL(gethostbyname2)(name, family);
  return family == AF_INET ? gethostbyname(name) : not_found();
}

UMW_PUBLIC int gethostbyname_r(const char* restrict name, struct hostent* restrict entry, char* restrict buffer,
                               size_t size, struct hostent** restrict result, int* restrict error)
{
  if (!umw_gate)
    return UMW_REAL(gethostbyname_r)(name, entry, buffer, size, result, error);
  *result = NULL;
  uint32_t host;
  if (!look_up(name, false, &host)) {
    *error = HOST_NOT_FOUND;
    return 0;
  }
  const size_t offset = -(uintptr_t)buffer % _Alignof(struct host_room);
  if (size < offset + sizeof(struct host_room))
    return ERANGE;
  *result = fill(entry, (struct host_room*)(void*)(buffer + offset), name, host);
  return 0;
}

UMW_PUBLIC struct hostent* gethostbyaddr(const void* address, socklen_t length, int family)
{
  if (!umw_gate)
    return UMW_REAL(gethostbyaddr)(address, length, family);
  struct in_addr internet;
  char name[NI_MAXHOST];
  if (family != AF_INET || length < sizeof internet)
    return not_found();
  memcpy(&internet, address, sizeof internet);
  return name_of(ntohl(internet.s_addr), name, sizeof name) ? fill(&own_entry, &own_room, name, ntohl(internet.s_addr))
                                                            : not_found();
}
