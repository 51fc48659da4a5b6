// SPDX-License-Identifier: LGPL-2.1-or-later
// outside: what there is beyond the nodes of the run, for one rank of two, which simulation alone can show: a host that
// is not there, the outside world, and names.
#include "peer.h"

#include <ifaddrs.h>
#include <net/if.h>

static double seconds_to(const char* host, int expected)
{
  family = strchr(host, ':') ? AF_INET6 : AF_INET;
  const union address address = address_of(host, 80);
  const int fd = socket(family, SOCK_STREAM, 0);
  const double begin = now();
  CHECK(connect(fd, &address.generic, address_length()) == -1 && errno == expected);
  close(fd);
  return now() - begin;
}

int main(void)
{
  if (own_rank() != 0)
    return 0;
  // refused by the other node's kernel, after a round trip
  const double refused = seconds_to("10.0.0.2", ECONNREFUSED);
  CHECK(refused > 1e-6 && refused < 1e-4);
  // nobody answers for an address of the network
  const double unreachable = seconds_to("10.0.0.200", EHOSTUNREACH);
  CHECK(unreachable > 2.9 && unreachable < 3.1);
  CHECK(seconds_to("192.0.2.1", ENETUNREACH) < 1e-4);
  CHECK(seconds_to("192.0.2.1", ENETUNREACH) < 1e-4); // said once
  const double refused_v6 = seconds_to("fd62:7869::a00:2", ECONNREFUSED);
  CHECK(refused_v6 > refused && refused_v6 < 1e-4);
  const double to_link_local = seconds_to("fe80::a00:2%bxi0", ECONNREFUSED);
  CHECK(to_link_local > refused && to_link_local < 1e-4);
  const double unreachable_v6 = seconds_to("fd62:7869::a00:c8", EHOSTUNREACH);
  CHECK(unreachable_v6 > 2.9 && unreachable_v6 < 3.1);
  CHECK(seconds_to("2001:db8::1", ENETUNREACH) < 1e-4);
  CHECK(seconds_to("ff02::1%bxi0", ENETUNREACH) < 1e-4);
  family = AF_INET;
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const struct sockaddr_in away = {
      .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = inet_addr("192.0.2.1")};
  CHECK(sendto(fd, "x", 1, 0, (const struct sockaddr*)&away, sizeof away) == -1 && errno == ENETUNREACH);
  close(fd);
  CHECK(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) == -1 && errno == EPERM);

  union address peer = address_of("bxi1", 80);
  char text[64];
  CHECK(strcmp(inet_ntop(AF_INET, &peer.v4.sin_addr, text, sizeof text), "10.0.0.2") == 0);
  CHECK(getnameinfo(&peer.generic, sizeof peer.v4, text, sizeof text, NULL, 0, 0) == 0 && strcmp(text, "bxi1") == 0);
  const struct hostent* own = gethostbyname("bxi0");
  CHECK(own && own->h_length == 4 && memcmp(own->h_addr_list[0], "\12\0\0\1", 4) == 0);
  const struct hostent* own_v6 = gethostbyname2("bxi0", AF_INET6);
  CHECK(own_v6 && own_v6->h_length == 16 &&
        strcmp(inet_ntop(AF_INET6, own_v6->h_addr_list[0], text, sizeof text), "fd62:7869::a00:1") == 0);
  struct addrinfo* found;
  CHECK(getaddrinfo("bxi1", "80", NULL, &found) == 0); // of IPv6 first, as /etc/gai.conf has it
  CHECK(found->ai_family == AF_INET6 && found->ai_next->ai_next->ai_next->ai_family == AF_INET);
  CHECK(getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, NULL, 0, NI_NAMEREQD) == 0 &&
        strcmp(text, "bxi1") == 0);
  freeaddrinfo(found);
  FILE* hosts = fopen("/etc/hosts", "r");
  char line[256];
  int lines = 0;
  while (fgets(line, sizeof line, hosts))
    lines += strcmp(line, "fd62:7869::a00:2\tbxi1\n") == 0 || strncmp(line, "::1\tlocalhost ", 14) == 0;
  CHECK(lines == 2);
  fclose(hosts);
  FILE* listed = fopen("/proc/net/if_inet6", "r");
  CHECK(fgets(line, sizeof line, listed) &&
        strcmp(line, "00000000000000000000000000000001 01 80 10 80       lo\n") == 0);
  CHECK(fgets(line, sizeof line, listed) &&
        strcmp(line, "fd62786900000000000000000a000001 02 40 00 80     bxi0\n") == 0);
  fclose(listed);
  CHECK(getaddrinfo("www.example.org", "80", NULL, &found) == EAI_NONAME);
  CHECK(gethostbyname("www.example.org") == NULL && h_errno == HOST_NOT_FOUND);
  struct ifaddrs* interfaces;
  CHECK(getifaddrs(&interfaces) == 0);
  int networks = 0, v6_networks = 0;
  for (const struct ifaddrs* next = interfaces; next; next = next->ifa_next)
    if (next->ifa_addr->sa_family == AF_INET6 && !(next->ifa_flags & IFF_LOOPBACK)) {
      const struct sockaddr_in6* address = (const struct sockaddr_in6*)next->ifa_addr;
      const int link_local = IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr);
      CHECK(address->sin6_scope_id == (link_local ? if_nametoindex("bxi0") : 0));
      CHECK(strcmp(inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof text),
                   link_local ? "fe80::a00:1" : "fd62:7869::a00:1") == 0);
      ++v6_networks;
    }
  CHECK(v6_networks == 2);
  for (const struct ifaddrs* next = interfaces; next; next = next->ifa_next)
    if (next->ifa_addr && next->ifa_addr->sa_family == AF_INET && !(next->ifa_flags & IFF_LOOPBACK)) {
      const struct sockaddr_in* address = (const struct sockaddr_in*)next->ifa_addr;
      CHECK(strcmp(inet_ntop(AF_INET, &address->sin_addr, text, sizeof text), "10.0.0.1") == 0);
      ++networks;
    }
  CHECK(networks == 1);
  freeifaddrs(interfaces);
  printf("as expected\n");
  return 0;
}
