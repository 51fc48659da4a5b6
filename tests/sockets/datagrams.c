// SPDX-License-Identifier: LGPL-2.1-or-later
// datagrams PORT [6]: UDP between two ranks. Rank 0 serves at PORT.
#include "peer.h"

#include <fcntl.h>
#include <poll.h>

int main(int argc, char** argv)
{
  const int port = argc > 1 ? atoi(argv[1]) : 5401;
  choose_family(argc, argv, 2);
  const size_t largest = family == AF_INET6 ? 65527 : 65507; // udp(7); RFC 8200, 4.5
  const int fd = socket(family, SOCK_DGRAM, 0);
  CHECK(fd >= 0);
  union address from;
  socklen_t length = sizeof from;
  static char data[70000], more[70000];
  const struct timeval timeout = {10, 0};
  CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0);
  if (own_rank() == 0) {
    const union address any = any_address(port);
    CHECK(bind(fd, &any.generic, address_length()) == 0);
    const int listener = listening_socket(port); // says that it is there
    close(accept(listener, NULL, NULL));
    close(listener);
    for (int i = 0; i < 5; ++i) { // what came goes back, from whoever it came
      const ssize_t n = recvfrom(fd, data, sizeof data, 0, &from.generic, &length);
      CHECK(n >= 0 && from.generic.sa_family == family && length == address_length());
      CHECK(sendto(fd, data, (size_t)n, 0, &from.generic, length) == n);
    }
    CHECK(connect(fd, &from.generic, length) == 0);
    CHECK(send(fd, "bye", 3, 0) == 3);
    printf("[0] five datagrams came back\n");
  } else {
    const union address to = address_of(host_of(0), port);
    const size_t sizes[] = {1, 0, 100, 1473, largest};
    close(connected_socket(host_of(0), port));
    for (unsigned i = 0; i < 5; ++i) {
      for (size_t k = 0; k < sizes[i]; ++k)
        data[k] = (char)(k * 3 + i);
      CHECK(sendto(fd, data, sizes[i], 0, &to.generic, address_length()) == (ssize_t)sizes[i]);
      const ssize_t n = recvfrom(fd, more, sizeof more, 0, &from.generic, &length);
      CHECK(n == (ssize_t)sizes[i] && memcmp(data, more, sizes[i]) == 0);
      CHECK(port_of(&from) == port && same_host(&from, &to));
    }
    CHECK(recv(fd, more, 2, MSG_TRUNC) == 3 && memcmp(more, "by", 2) == 0);
    CHECK(sendto(fd, data, largest + 1, 0, &to.generic, address_length()) == -1 && errno == EMSGSIZE);
    const int lonely = socket(family, SOCK_DGRAM, 0);
    CHECK(send(lonely, "x", 1, 0) == -1 && errno == EDESTADDRREQ);
    const union address nobody = address_of(host_of(0), port + 1);
    CHECK(connect(lonely, &nobody.generic, address_length()) == 0);
    CHECK(send(lonely, "x", 1, 0) == 1);
    CHECK(recv(lonely, more, 1, 0) == -1 && errno == ECONNREFUSED);
    close(lonely);
    printf("[1] datagrams as expected\n");
  }
  close(fd);
  return 0;
}
