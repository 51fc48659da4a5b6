// SPDX-License-Identifier: LGPL-2.1-or-later
// families PORT: what a host of IPv4 and IPv6 answers about itself, as errno and text; the same natively. PORT is not
// used: the system gives ports.
#include "peer.h"

#include <net/if.h>
#include <stddef.h>
#include <sys/ioctl.h>

static const char* outcome(int result)
{
  return result == 0 ? "0" : strerrorname_np(errno);
}

static union address numeric(const char* host, int port)
{
  family = strchr(host, ':') ? AF_INET6 : AF_INET;
  return address_of(host, port);
}

static const char* text_of(const union address* address)
{
  static char text[4][INET6_ADDRSTRLEN];
  static unsigned next;
  char* result = text[next++ % 4];
  const void* const host =
      address->generic.sa_family == AF_INET6 ? (const void*)&address->v6.sin6_addr : &address->v4.sin_addr;
  inet_ntop(address->generic.sa_family, host, result, INET6_ADDRSTRLEN);
  return result;
}

static int socket_of(const char* host, int type, int only_v6)
{
  const int fd = socket(strchr(host, ':') ? AF_INET6 : AF_INET, type, 0);
  CHECK(fd >= 0);
  if (only_v6)
    CHECK(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6) == 0);
  return fd;
}

// --- addresses a program gives ---------------------------------------------------------------------------------------

static void lengths(void)
{
  static const char* const hosts[] = {"::1", "127.0.0.1"};
  static const int types[] = {SOCK_STREAM, SOCK_DGRAM};
  static const socklen_t sizes[] = {0, 1, 2, 12, 16, 23, 24, 27, 28, 128};
  for (int of = 0; of < 2; ++of)
    for (int given = 0; given < 2; ++given)
      for (int type = 0; type < 2; ++type)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
          union {
            union address address;
            char room[128];
          } to;
          memset(&to, 0, sizeof to);
          to.address = numeric(hosts[given], 1);
          const int fd = socket_of(hosts[of], types[type], 0), other = socket_of(hosts[of], types[type], 0);
          // UDP: a length of a family alone, or 0, is one more way to say AF_UNSPEC
          const char* const connected =
              type == 1 && sizes[i] < 16 ? "-" : outcome(connect(fd, &to.address.generic, sizes[i]));
          printf("[0] socket of %s, address %s, type %d, %u bytes: connect %s", hosts[of], hosts[given], type, sizes[i],
                 connected);
          if (given == 1)
            to.address.v4.sin_port = 0;
          else
            to.address.v6.sin6_port = 0;
          printf(", bind %s\n", outcome(bind(other, &to.address.generic, sizes[i])));
          close(fd);
          close(other);
        }
}

static void of_no_family(void)
{
  static const char* const hosts[] = {"0.0.0.0", "127.0.0.1", "::", "::1"};
  for (int i = 0; i < 4; ++i) {
    const int fd = socket_of(hosts[i], SOCK_STREAM, 0);
    union address address = numeric(hosts[i], 0);
    address.generic.sa_family = AF_UNSPEC;
    printf("[0] AF_UNSPEC, %s: bind %s\n", hosts[i], outcome(bind(fd, &address.generic, address_length())));
    close(fd);
  }
}

struct bound {
  const char* host;
  int only_v6;
};

// What bind says for `second` on the port that the system gave `first`; ways: as it is, with SO_REUSEADDR, that and
// listening.
static const char* second_bind(const struct bound* first, const struct bound* second, int way)
{
  const int one = socket_of(first->host, SOCK_STREAM, first->only_v6);
  const int other = socket_of(second->host, SOCK_STREAM, second->only_v6);
  const int reuse = way > 0;
  CHECK(setsockopt(one, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) == 0);
  CHECK(setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) == 0);
  union address address = numeric(first->host, 0);
  CHECK(bind(one, &address.generic, address_length()) == 0);
  if (way == 2)
    CHECK(listen(one, 1) == 0);
  socklen_t length = sizeof address;
  CHECK(getsockname(one, &address.generic, &length) == 0 && length == address_length());
  address = numeric(second->host, port_of(&address));
  const char* const said = outcome(bind(other, &address.generic, address_length()));
  close(one);
  close(other);
  return said;
}

static void bound_twice(void)
{
  static const struct bound cases[] = {{"::", 0},      {"::", 1},        {"::1", 0},       {"::ffff:0.0.0.0", 0},
                                       {"0.0.0.0", 0}, {"127.0.0.1", 0}, {"127.0.0.2", 0}, {"::ffff:127.0.0.1", 0}};
  enum { count = sizeof cases / sizeof *cases };
  for (int way = 0; way < 3; ++way)
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < count; ++k) {
        // Natively, somebody else's connection may have the port on another of the addresses: what two ports say
        // counts.
        const char* before = NULL;
        const char* said = second_bind(&cases[i], &cases[k], way);
        do {
          before = said;
          said = second_bind(&cases[i], &cases[k], way);
        } while (strcmp(before, said) != 0);
        printf("[0] %s only %d, then %s only %d, way %d: %s\n", cases[i].host, cases[i].only_v6, cases[k].host,
               cases[k].only_v6, way, said);
      }
}

static void bound_and_connected(void)
{
  static const struct {
    const char *own, *peer;
    int only_v6;
  } cases[] = {{"::1", "::ffff:127.0.0.1", 0},
               {"::ffff:127.0.0.1", "::1", 0},
               {"::", "::ffff:127.0.0.1", 0},
               {"::", "::ffff:127.0.0.1", 1},
               {"::", "::", 0},
               {"::", "::ffff:0.0.0.0", 0},
               {"::", "::1", 0},
               {"::", "::1", 1},
               {"0.0.0.0", "0.0.0.0", 0},
               {"0.0.0.0", "127.0.0.1", 0}};
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const int fd = socket_of(cases[i].own, SOCK_DGRAM, cases[i].only_v6);
    union address own = numeric(cases[i].own, 0);
    CHECK(bind(fd, &own.generic, address_length()) == 0);
    const union address peer = numeric(cases[i].peer, 9);
    printf("[0] bound to %s only %d, to %s: %s", cases[i].own, cases[i].only_v6, cases[i].peer,
           outcome(connect(fd, &peer.generic, address_length())));
    union address found;
    socklen_t length = sizeof own;
    CHECK(getsockname(fd, &own.generic, &length) == 0);
    length = sizeof found;
    if (getpeername(fd, &found.generic, &length) == 0)
      printf(", %s to %s of %u bytes", text_of(&own), text_of(&found), length);
    printf("\n");
    const struct sockaddr none = {.sa_family = AF_UNSPEC};
    length = sizeof own;
    CHECK(connect(fd, &none, sizeof none) == 0 && getsockname(fd, &own.generic, &length) == 0);
    length = sizeof found;
    printf("[0] ... and to nobody: %s, port %s, peer %s\n", text_of(&own), port_of(&own) == 0 ? "none" : "some",
           outcome(getpeername(fd, &found.generic, &length)));
    close(fd);
  }
  int fd = socket_of("::", SOCK_STREAM, 1);
  const union address peer = numeric("::ffff:127.0.0.1", 9), own = numeric("::ffff:127.0.0.1", 0);
  printf("[0] IPV6_V6ONLY: bind %s", outcome(bind(fd, &own.generic, address_length())));
  printf(", connect %s\n", outcome(connect(fd, &peer.generic, address_length())));
  close(fd);
  fd = socket_of("::", SOCK_STREAM, 0);
  const union address any = numeric("::", 0);
  const int on = 1;
  CHECK(bind(fd, &any.generic, address_length()) == 0);
  printf("[0] IPV6_V6ONLY once it is bound: %s\n", outcome(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on)));
  close(fd);
}

static void scopes(void)
{
  // of nobody, but nobody is asked
  static const unsigned indexes[] = {0, 1, 77777};
  static const int types[] = {SOCK_STREAM, SOCK_DGRAM};
  for (unsigned i = 0; i < sizeof indexes / sizeof *indexes; ++i)
    for (int type = 0; type < 2; ++type) {
      const int fd = socket_of("::", types[type], 0), other = socket_of("::", types[type], 0);
      union address address = numeric("fe80::dead:beef", 0);
      address.v6.sin6_scope_id = indexes[i];
      printf("[0] scope %u, type %d: bind %s", indexes[i], type, outcome(bind(fd, &address.generic, address_length())));
      address.v6.sin6_port = htons(9);
      printf(", connect %s\n", outcome(connect(other, &address.generic, address_length())));
      close(fd);
      close(other);
    }
}

// A client of IPv4 at a listener of both, of IPv6 at one of IPv6 alone beside one of IPv4, and one that nobody there
// listens to.
static void both(void)
{
  union address address = numeric("::", 0), found;
  const int listener = socket_of("::", SOCK_STREAM, 0), client = socket_of("127.0.0.1", SOCK_STREAM, 0);
  CHECK(bind(listener, &address.generic, address_length()) == 0 && listen(listener, 2) == 0);
  socklen_t length = sizeof address;
  CHECK(getsockname(listener, &address.generic, &length) == 0);
  const int port = port_of(&address);
  address = numeric("127.0.0.1", port);
  CHECK(connect(client, &address.generic, address_length()) == 0);
  length = sizeof found;
  const int server = accept(listener, &found.generic, &length);
  CHECK(server >= 0);
  printf("[0] accepted from %s, %u bytes", text_of(&found), length);
  length = sizeof found;
  CHECK(getsockname(server, &found.generic, &length) == 0);
  printf(", itself %s", text_of(&found));
  length = 10; // cut, and told how long it is
  memset(&found, 0x55, sizeof found);
  CHECK(getpeername(server, &found.generic, &length) == 0);
  int domain = 0, only = -1;
  socklen_t size = sizeof domain;
  CHECK(getsockopt(server, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0);
  CHECK(getsockopt(server, IPPROTO_IPV6, IPV6_V6ONLY, &only, &size) == 0);
  printf(", cut: %u of family %s, then %x, domain %s only %d\n", length,
         found.generic.sa_family == AF_INET6 ? "6" : "4", ((unsigned char*)&found)[10], domain == AF_INET6 ? "6" : "4",
         only);
  close(server);
  close(client);
  close(listener);

  const int of_v6 = socket_of("::", SOCK_STREAM, 1), of_v4 = socket_of("0.0.0.0", SOCK_STREAM, 0);
  address = numeric("::", 0);
  CHECK(bind(of_v6, &address.generic, address_length()) == 0 && listen(of_v6, 1) == 0);
  length = sizeof address;
  CHECK(getsockname(of_v6, &address.generic, &length) == 0);
  const int same = port_of(&address);
  address = numeric("127.0.0.1", same);
  int other = socket_of("127.0.0.1", SOCK_STREAM, 0);
  printf("[0] nobody listens at IPv4: %s\n", outcome(connect(other, &address.generic, address_length())));
  close(other);
  address = numeric("0.0.0.0", same);
  CHECK(bind(of_v4, &address.generic, address_length()) == 0 && listen(of_v4, 1) == 0);
  for (int v6 = 0; v6 < 2; ++v6) {
    address = numeric(v6 ? "::1" : "127.0.0.1", same);
    other = socket_of(v6 ? "::1" : "127.0.0.1", SOCK_STREAM, 0);
    CHECK(connect(other, &address.generic, address_length()) == 0);
    length = sizeof found;
    const int accepted = accept(v6 ? of_v6 : of_v4, &found.generic, &length);
    printf("[0] its own listener has %s\n", accepted >= 0 ? text_of(&found) : "nothing");
    close(accepted);
    close(other);
  }
  close(of_v6);
  close(of_v4);

  const int receiver = socket_of("::", SOCK_DGRAM, 0), sender = socket_of("127.0.0.1", SOCK_DGRAM, 0);
  address = numeric("::", 0);
  CHECK(bind(receiver, &address.generic, address_length()) == 0);
  length = sizeof address;
  CHECK(getsockname(receiver, &address.generic, &length) == 0);
  address = numeric("127.0.0.1", port_of(&address));
  CHECK(sendto(sender, "to", 2, 0, &address.generic, sizeof address.v4) == 2);
  char data[8];
  length = sizeof found;
  CHECK(recvfrom(receiver, data, sizeof data, 0, &found.generic, &length) == 2);
  printf("[0] datagram from %s", text_of(&found));
  CHECK(sendto(receiver, "fro", 3, 0, &found.generic, length) == 3);
  length = sizeof found;
  CHECK(recvfrom(sender, data, sizeof data, 0, &found.generic, &length) == 3);
  printf(", answer from %s of %u bytes\n", text_of(&found), length);
  length = sizeof address;
  CHECK(getsockname(sender, &address.generic, &length) == 0);
  address = numeric("127.0.0.1", port_of(&address));
  printf("[0] of IPv6 to an address of IPv4: %s\n",
         outcome(sendto(receiver, "x", 1, 0, &address.generic, sizeof address.v4) == 1 ? 0 : -1));
  close(receiver);
  close(sender);
}

static void options(void)
{
  const int of_v6 = socket_of("::", SOCK_STREAM, 0), of_v4 = socket_of("0.0.0.0", SOCK_STREAM, 0);
  static const int names[] = {IPV6_V6ONLY, IPV6_UNICAST_HOPS, IPV6_TCLASS, IPV6_MULTICAST_HOPS};
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
    int value = -7;
    socklen_t length = sizeof value;
    printf("[0] option %d: %s", names[i], outcome(getsockopt(of_v6, IPPROTO_IPV6, names[i], &value, &length)));
    printf(" %d, of IPv4 %s", value, outcome(getsockopt(of_v4, IPPROTO_IPV6, names[i], &value, &length)));
    value = 4;
    printf(", set %s", outcome(setsockopt(of_v6, IPPROTO_IPV6, names[i], &value, sizeof value)));
    printf(", of IPv4 %s", outcome(setsockopt(of_v4, IPPROTO_IPV6, names[i], &value, sizeof value)));
    value = -7;
    getsockopt(of_v6, IPPROTO_IPV6, names[i], &value, &length);
    printf(", then %d\n", value);
  }
  static const unsigned long requests[] = {SIOCGIFADDR, SIOCGIFNETMASK, SIOCGIFFLAGS, SIOCGIFMTU, SIOCGIFINDEX};
  for (unsigned i = 0; i < sizeof requests / sizeof *requests; ++i) {
    struct ifreq request = {.ifr_name = "lo"};
    printf("[0] ioctl %lx: of IPv6 %s", requests[i], outcome(ioctl(of_v6, requests[i], &request)));
    printf(", of IPv4 %s\n", outcome(ioctl(of_v4, requests[i], &request)));
  }
  close(of_v6);
  close(of_v4);
}

// --- names -----------------------------------------------------------------------------------------------------------

static void names(void)
{
  static const char* const hosts[] = {NULL,           "127.0.0.1",    "::1",          "::ffff:127.0.0.1", "fe80::1%lo",
                                      "fe80::1",      "fe80::1%2",    "fe80::1%nope", "fd00::2%lo",       "1.2",
                                      "no.such.host", "127.0.0.1%lo", "::1%",         "1::2::3"};
  static const int families[] = {AF_UNSPEC, AF_INET, AF_INET6, AF_UNIX};
  static const int flags[] = {
      0, AI_V4MAPPED, AI_V4MAPPED | AI_ALL, AI_ALL, AI_PASSIVE, AI_ADDRCONFIG, AI_CANONNAME, AI_NUMERICHOST, 0x10000};
  for (unsigned i = 0; i < sizeof hosts / sizeof *hosts; ++i)
    for (unsigned f = 0; f < sizeof families / sizeof *families; ++f)
      for (unsigned k = 0; k < sizeof flags / sizeof *flags; ++k) {
        if (i == 10 && !(flags[k] & AI_NUMERICHOST)) // natively a name server is asked
          continue;
        const struct addrinfo hints = {.ai_family = families[f], .ai_flags = flags[k], .ai_socktype = SOCK_STREAM};
        struct addrinfo* found = NULL;
        const int error = getaddrinfo(hosts[i], "80", &hints, &found);
        printf("[0] %s family %d flags %x: %d", hosts[i] ? hosts[i] : "-", families[f], (unsigned)flags[k], error);
        for (const struct addrinfo* next = found; next; next = next->ai_next) {
          union address address;
          memcpy(&address, next->ai_addr, next->ai_addrlen);
          printf(" %s of %u bytes", text_of(&address), next->ai_addrlen);
          if (next->ai_family == AF_INET6)
            printf(" scope %u", address.v6.sin6_scope_id);
          printf(" name %s", next->ai_canonname ? next->ai_canonname : "-");
        }
        printf("\n");
        if (found)
          freeaddrinfo(found);
      }
}

static void services(void)
{
  static const char* const services[] = {"http", "domain", "no-such-service", "70000", "-1", "", "  80", "*", "80x"};
  static const int kinds[][2] = {
      {0, 0},           {SOCK_STREAM, 0},  {SOCK_DGRAM, 0}, {SOCK_RAW, 0}, {SOCK_STREAM, IPPROTO_UDP},
      {0, IPPROTO_UDP}, {0, IPPROTO_ICMP}, {99, 0}};
  static const int flags[] = {0, AI_NUMERICSERV};
  for (unsigned i = 0; i < sizeof services / sizeof *services; ++i)
    for (unsigned f = 0; f < sizeof kinds / sizeof *kinds; ++f)
      for (unsigned k = 0; k < sizeof flags / sizeof *flags; ++k) {
        const struct addrinfo hints = {
            .ai_family = AF_INET, .ai_flags = flags[k], .ai_socktype = kinds[f][0], .ai_protocol = kinds[f][1]};
        struct addrinfo* found = NULL;
        const int error = getaddrinfo("127.0.0.1", services[i], &hints, &found);
        printf("[0] service '%s' kind %d %d flags %x: %d", services[i], kinds[f][0], kinds[f][1], (unsigned)flags[k],
               error);
        for (const struct addrinfo* next = found; next; next = next->ai_next)
          printf(" %d/%d/%d", next->ai_socktype, next->ai_protocol,
                 ntohs(((const struct sockaddr_in*)next->ai_addr)->sin_port));
        printf("\n");
        if (found)
          freeaddrinfo(found);
      }
}

static void back_to_names(void)
{
  static const char* const hosts[] = {"127.0.0.1", "::1", "::ffff:127.0.0.1", "fe80::1", "2001:db8::1"};
  static const unsigned indexes[] = {0, 1, 77777};
  for (unsigned i = 0; i < sizeof hosts / sizeof *hosts; ++i)
    for (unsigned k = 0; k < sizeof indexes / sizeof *indexes; ++k)
      for (socklen_t less = 0; less < 8; less += 4) {
        union address address = numeric(hosts[i], 80);
        if (family == AF_INET6)
          address.v6.sin6_scope_id = indexes[k];
        char host[NI_MAXHOST] = "", service[NI_MAXSERV] = "";
        const int error = getnameinfo(&address.generic, address_length() - less, host, sizeof host, service,
                                      sizeof service, NI_NUMERICHOST);
        printf("[0] %s scope %u: %d %s %s\n", hosts[i], indexes[k], error, host, service);
      }
  static const struct {
    const char* host;
    int family;
  } older[] = {{"127.0.0.1", AF_INET},         {"::1", AF_INET},
               {"127.0.0.1", AF_INET6},        {"::1", AF_INET6},
               {"::ffff:127.0.0.1", AF_INET6}, {"::ffff:127.0.0.1", AF_INET}};
  for (unsigned i = 0; i < sizeof older / sizeof *older; ++i) {
    const struct hostent* entry = gethostbyname2(older[i].host, older[i].family);
    char text[INET6_ADDRSTRLEN];
    printf("[0] gethostbyname2 %s %d: %s\n", older[i].host, older[i].family,
           entry ? inet_ntop(entry->h_addrtype, entry->h_addr_list[0], text, sizeof text) : "none");
    struct hostent room, *found;
    char buffer[4096];
    int error = 0;
    const int result = gethostbyname2_r(older[i].host, older[i].family, &room, buffer, sizeof buffer, &found, &error);
    printf("[0] gethostbyname2_r: %d %s %d\n", result, found ? found->h_name : "none", found ? found->h_length : 0);
  }
}

int main(void)
{
  if (own_rank() != 0)
    return 0;
  lengths();
  of_no_family();
  bound_twice();
  bound_and_connected();
  scopes();
  both();
  options();
  names();
  services();
  back_to_names();
  return 0;
}
