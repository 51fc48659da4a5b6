// SPDX-License-Identifier: LGPL-2.1-or-later
// outside: what there is beyond the nodes of the run, for one rank of two, which simulation alone can show: a host that is not there, the
// outside world, and names.
#include "peer.h"

#include <ifaddrs.h>
#include <net/if.h>

static double seconds_to(const char* host, int expected)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(80)};
  CHECK(inet_pton(AF_INET, host, &address.sin_addr) == 1);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const double begin = now();
  CHECK(connect(fd, (const struct sockaddr*)&address, sizeof address) == -1 && errno == expected);
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
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const struct sockaddr_in away = {
      .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = inet_addr("192.0.2.1")};
  CHECK(sendto(fd, "x", 1, 0, (const struct sockaddr*)&away, sizeof away) == -1 && errno == ENETUNREACH);
  close(fd);
  CHECK(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) == -1 && errno == EPERM);
  CHECK(socket(AF_INET6, SOCK_STREAM, 0) == -1 && errno == EAFNOSUPPORT);

  struct sockaddr_in peer = address_of("bxi1", 80);
  char text[64];
  CHECK(strcmp(inet_ntop(AF_INET, &peer.sin_addr, text, sizeof text), "10.0.0.2") == 0);
  CHECK(getnameinfo((const struct sockaddr*)&peer, sizeof peer, text, sizeof text, NULL, 0, 0) == 0 &&
        strcmp(text, "bxi1") == 0);
  const struct hostent* own = gethostbyname("bxi0");
  CHECK(own && own->h_length == 4 && memcmp(own->h_addr_list[0], "\12\0\0\1", 4) == 0);
  struct addrinfo* found;
  CHECK(getaddrinfo("www.example.org", "80", NULL, &found) == EAI_NONAME);
  CHECK(gethostbyname("www.example.org") == NULL && h_errno == HOST_NOT_FOUND);
  struct ifaddrs* interfaces;
  CHECK(getifaddrs(&interfaces) == 0);
  int networks = 0;
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
