/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Names and addresses of the simulated nodes, in place of the resolver's. There is nobody else: a name that is none of
 * a node is not found. Every node has an address of IPv4 and one of IPv6; results and their order are those of glibc on
 * such a host.
 */
#include "preload/sockets/names.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "preload/sockets/socket_addresses.h"

/* --- names and addresses ------------------------------------------------------------------------------------------ */

static bool has_scope(const struct in6_addr* address)
{
  return IN6_IS_ADDR_LINKLOCAL(address) || IN6_IS_ADDR_MC_LINKLOCAL(address);
}

/* The text behind '%', which names an interface where the address has a scope. */
static bool read_scope(const char* text, const struct in6_addr* address, uint32_t* scope)
{
  *scope = has_scope(address) ? if_nametoindex(text) : 0;
  if (*scope != 0)
    return true;
  char* end;
  const unsigned long number = strtoul(text, &end, 10);
  *scope = (uint32_t)number;
  return *text >= '0' && *text <= '9' && *end == '\0' && number == *scope;
}

/* 0: it is no address of IPv6. */
static int look_up_v6(const char* name, int family, struct umw_host* host)
{
  char text[INET6_ADDRSTRLEN];
  const size_t length = strcspn(name, "%");
  struct in6_addr address;
  if (length >= sizeof text)
    return 0;
  memcpy(text, name, length);
  text[length] = '\0';
  if (inet_pton(AF_INET6, text, &address) != 1)
    return 0;
  *host = (struct umw_host){.name = name, .numeric = true, .has_v6 = true, .v6 = umw_address_of_v6(&address, 0)};
  host->has_v4 = umw_is_v4(&host->v6);
  host->v4 = host->v6;
  if (family == AF_INET && !host->has_v4)
    return EAI_ADDRFAMILY;
  return name[length] == '%' && !read_scope(name + length + 1, &address, &host->scope) ? EAI_NONAME : 1;
}

int umw_look_up(const char* name, int family, bool numeric_only, struct umw_host* host)
{
  struct in_addr address;
  if (inet_aton(name, &address)) {
    *host = (struct umw_host){
        .name = name, .numeric = true, .has_v4 = true, .v4 = umw_address_of_v4(ntohl(address.s_addr), 0)};
    return 0;
  }
  const int v6 = look_up_v6(name, family, host);
  if (v6 != 0)
    return v6 == 1 ? 0 : v6;
  if (numeric_only)
    return EAI_NONAME;
  const bool v6_only = strcasecmp(name, "ip6-localhost") == 0 || strcasecmp(name, "ip6-loopback") == 0;
  if (v6_only || strcasecmp(name, "localhost") == 0) {
    *host = (struct umw_host){.name = "localhost",
                              .has_v4 = !v6_only,
                              .has_v6 = true,
                              .v4 = umw_address_of_v4(INADDR_LOOPBACK, 0),
                              .v6 = {.low = 1}};
    return 0;
  }
  const int64_t found = umw_host_lookup(name);
  if (found < 0)
    return EAI_NONAME;
  *host = (struct umw_host){.name = name,
                            .has_v4 = true,
                            .has_v6 = true,
                            .v4 = umw_address_of_v4((uint32_t)found, 0),
                            .v6 = umw_unique_local_of((uint32_t)found)};
  return 0;
}

bool umw_name_of_address(const umw_address* address, char* name, size_t size)
{
  const bool v4 = umw_is_v4(address);
  if (v4 ? (uint32_t)address->low >> 24 == IN_LOOPBACKNET : address->high == 0 && address->low == 1)
    return snprintf(name, size, "localhost") < (int)size;
  const uint32_t node = v4 || address->high == UMW_UNIQUE_LOCAL ? umw_v4_of_node(address) : 0;
  return node != 0 && umw_host_name(node, name, size) >= 0;
}

/* --- getaddrinfo -------------------------------------------------------------------------------------------------- */

struct result {
  struct addrinfo info; /* first: freeaddrinfo gets this */
  union {
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } address;
};

struct kind {
  int type, protocol;
  bool any_protocol; /* and no service */
  const char* name;
};
static const struct kind all_kinds[] = {
    {SOCK_STREAM, IPPROTO_TCP, false, "tcp"}, {SOCK_DGRAM, IPPROTO_UDP, false, "udp"}, {SOCK_RAW, 0, true, NULL}};
enum { most_kinds = sizeof all_kinds / sizeof *all_kinds };

struct wanted_kind {
  int type, protocol, port;
};

/* The kinds of sockets that the results are to be for, with the port of the service. Their number, or an error, which
 * is negative. */
static int find_kinds(const char* service, const struct addrinfo* hints, struct wanted_kind* kinds)
{
  const bool every = hints->ai_socktype == 0 && hints->ai_protocol == 0;
  char* end = NULL;
  const long number = service ? strtol(service, &end, 10) : 0;
  const bool named = service && (*end != '\0' || number < 0);
  if (service && *end != '\0' && hints->ai_flags & AI_NUMERICSERV)
    return EAI_NONAME;
  int found = 0, fitting = 0;
  for (int i = 0; i < most_kinds; ++i) {
    const struct kind* kind = &all_kinds[i];
    if ((hints->ai_socktype != 0 && hints->ai_socktype != kind->type) ||
        (hints->ai_protocol != 0 && hints->ai_protocol != kind->protocol && !kind->any_protocol))
      continue;
    ++fitting;
    int port = (int)(number & 0xffff);
    if (service && kind->any_protocol && (named || !every))
      continue;
    if (named) {
      const struct servent* entry = getservbyname(service, kind->name);
      if (!entry)
        continue;
      port = ntohs((uint16_t)entry->s_port);
    }
    kinds[found++] = (struct wanted_kind){kind->type, kind->any_protocol ? hints->ai_protocol : kind->protocol, port};
    if (!every)
      break;
  }
  if (found > 0)
    return found;
  return fitting == 0 && hints->ai_socktype != 0 ? EAI_SOCKTYPE : EAI_SERVICE;
}

struct wanted_address {
  umw_address address;
  int family;
};

/* What the results are to be for, in the order in which a program should try them (RFC 6724). Their number, or an
 * error. */
static int find_addresses(const char* name, const struct addrinfo* hints, struct umw_host* host,
                          struct wanted_address addresses[2])
{
  const int family = hints->ai_family;
  bool v4_first = false;
  if (name) {
    const int error = umw_look_up(name, family, (hints->ai_flags & AI_NUMERICHOST) != 0, host);
    if (error != 0)
      return error;
  } else {
    v4_first = hints->ai_flags & AI_PASSIVE;
    *host = (struct umw_host){.has_v4 = true, .has_v6 = true};
    host->v4 = umw_address_of_v4(v4_first ? INADDR_ANY : INADDR_LOOPBACK, 0);
    host->v6.low = v4_first ? 0 : 1;
  }
  int count = 0;
  const bool as_v6 =
      family == AF_INET6 && hints->ai_flags & AI_V4MAPPED && (!host->has_v6 || (name && hints->ai_flags & AI_ALL));
  const bool v6 = host->has_v6 && family != AF_INET;
  const bool numeric_twice = host->numeric && host->has_v6; /* ::ffff:a.b.c.d */
  const bool v4 = host->has_v4 && (family == AF_INET || (!numeric_twice && (family == AF_UNSPEC || as_v6)));
  if (v4 && v4_first)
    addresses[count++] = (struct wanted_address){host->v4, AF_INET};
  if (v6)
    addresses[count++] = (struct wanted_address){host->v6, AF_INET6};
  if (v4 && !v4_first)
    addresses[count++] = (struct wanted_address){host->v4, as_v6 ? AF_INET6 : AF_INET};
  return count > 0 ? count : host->numeric ? EAI_ADDRFAMILY : EAI_NONAME;
}

static struct result* make_result(const struct wanted_address* wanted, const struct wanted_kind* kind, uint32_t scope)
{
  struct result* result = calloc(1, sizeof *result);
  if (!result)
    return NULL;
  umw_address address = wanted->address;
  address.port = (uint16_t)kind->port;
  const bool v6 = wanted->family == AF_INET6;
  if (v6) {
    result->address.v6 = umw_sockaddr_v6(&address);
    result->address.v6.sin6_scope_id = scope;
  } else
    result->address.v4 = umw_sockaddr_v4(&address);
  result->info = (struct addrinfo){.ai_family = wanted->family,
                                   .ai_socktype = kind->type,
                                   .ai_protocol = kind->protocol,
                                   .ai_addrlen = v6 ? sizeof result->address.v6 : sizeof result->address.v4,
                                   .ai_addr = (struct sockaddr*)&result->address};
  return result;
}

UMW_PUBLIC int getaddrinfo(const char* restrict name, const char* restrict service,
                           const struct addrinfo* restrict hints, struct addrinfo** restrict results)
{
  if (!umw_gate)
    return UMW_REAL(getaddrinfo)(name, service, hints, results);
  static const struct addrinfo no_hints = {.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG};
  enum {
    idn = AI_IDN | AI_CANONIDN | 0x0300, /* and two that glibc has taken back */
    known = AI_PASSIVE | AI_CANONNAME | AI_NUMERICHOST | AI_ADDRCONFIG | AI_V4MAPPED | AI_NUMERICSERV | AI_ALL | idn
  };
  name = name && strcmp(name, "*") == 0 ? NULL : name;
  service = service && (strcmp(service, "*") == 0 || *service == '\0') ? NULL : service;
  hints = hints ? hints : &no_hints;
  if (!name && !service)
    return EAI_NONAME;
  if (hints->ai_flags & ~known || (hints->ai_flags & AI_CANONNAME && !name))
    return EAI_BADFLAGS;
  if (hints->ai_family != AF_UNSPEC && hints->ai_family != AF_INET && hints->ai_family != AF_INET6)
    return EAI_FAMILY;
  struct wanted_kind kinds[most_kinds];
  const int kind_count = find_kinds(service, hints, kinds);
  if (kind_count < 0)
    return kind_count;
  struct wanted_address addresses[2];
  struct umw_host host;
  const int address_count = find_addresses(name, hints, &host, addresses);
  if (address_count < 0)
    return address_count;
  struct addrinfo* first = NULL;
  struct addrinfo** link = &first;
  for (int i = 0; i < address_count * kind_count; ++i) {
    struct result* result = make_result(&addresses[i / kind_count], &kinds[i % kind_count], host.scope);
    if (result && !first && hints->ai_flags & AI_CANONNAME)
      result->info.ai_canonname = strdup(host.name);
    if (!result || (!first && hints->ai_flags & AI_CANONNAME && !result->info.ai_canonname)) {
      free(result);
      freeaddrinfo(first);
      return EAI_MEMORY;
    }
    *link = &result->info;
    link = &result->info.ai_next;
  }
  *results = first;
  return 0;
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

/* --- getnameinfo -------------------------------------------------------------------------------------------------- */

static void numeric_name(int family, const umw_address* address, uint32_t scope, char* text, size_t size)
{
  if (family == AF_INET) {
    const struct sockaddr_in internet = umw_sockaddr_v4(address);
    inet_ntop(AF_INET, &internet.sin_addr, text, (socklen_t)size);
    return;
  }
  const struct sockaddr_in6 internet = umw_sockaddr_v6(address);
  inet_ntop(AF_INET6, &internet.sin6_addr, text, (socklen_t)size);
  if (scope == 0)
    return;
  const size_t length = strlen(text);
  char interface[IF_NAMESIZE];
  if (has_scope(&internet.sin6_addr) && if_indextoname(scope, interface))
    snprintf(text + length, size - length, "%%%s", interface);
  else
    snprintf(text + length, size - length, "%%%u", scope);
}

UMW_PUBLIC int getnameinfo(const struct sockaddr* restrict address, socklen_t length, char* restrict name,
                           socklen_t name_size, char* restrict service, socklen_t service_size, int flags)
{
  if (!umw_gate)
    return UMW_REAL(getnameinfo)(address, length, name, name_size, service, service_size, flags);
  umw_address internet;
  uint32_t scope = 0;
  if (length >= sizeof(struct sockaddr_in) && address->sa_family == AF_INET) {
    struct sockaddr_in v4;
    memcpy(&v4, address, sizeof v4);
    internet = umw_address_of_v4(ntohl(v4.sin_addr.s_addr), ntohs(v4.sin_port));
  } else if (length >= sizeof(struct sockaddr_in6) && address->sa_family == AF_INET6) {
    struct sockaddr_in6 v6;
    memcpy(&v6, address, sizeof v6);
    internet = umw_address_of_v6(&v6.sin6_addr, ntohs(v6.sin6_port));
    scope = v6.sin6_scope_id;
  } else
    return EAI_FAMILY;
  char text[NI_MAXHOST];
  const bool mapped = address->sa_family == AF_INET6 && umw_is_v4(&internet); /* /etc/hosts has none of these */
  if (flags & NI_NUMERICHOST || mapped || !umw_name_of_address(&internet, text, sizeof text)) {
    if (flags & NI_NAMEREQD)
      return EAI_NONAME;
    numeric_name(address->sa_family, &internet, scope, text, sizeof text);
  }
  if (name && name_size > 0 && snprintf(name, name_size, "%s", text) >= (int)name_size)
    return EAI_OVERFLOW;
  if (service && service_size > 0) {
    const struct servent* entry =
        flags & NI_NUMERICSERV ? NULL : getservbyport(htons(internet.port), flags & NI_DGRAM ? "udp" : "tcp");
    const int needed = entry ? snprintf(service, service_size, "%s", entry->s_name)
                             : snprintf(service, service_size, "%d", internet.port);
    if (needed >= (int)service_size)
      return EAI_OVERFLOW;
  }
  return 0;
}
