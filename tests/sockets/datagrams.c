// SPDX-License-Identifier: LGPL-2.1-or-later
// datagrams PORT: UDP between two ranks. Rank 0 serves at PORT.
#include "peer.h"

#include <fcntl.h>
#include <poll.h>

int main(int argc, char** argv)
{
  const int port = argc > 1 ? atoi(argv[1]) : 5401;
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  CHECK(fd >= 0);
  struct sockaddr_in from;
  socklen_t length = sizeof from;
  static char data[70000], more[70000];
  const struct timeval patience = {10, 0};
  CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
  if (own_rank() == 0) {
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    CHECK(bind(fd, (const struct sockaddr*)&any, sizeof any) == 0);
    const int listener = listening_socket(port); // says that it is there
    close(accept(listener, NULL, NULL));
    close(listener);
    for (int i = 0; i < 5; ++i) { // what came goes back, from whoever it came
      const ssize_t n = recvfrom(fd, data, sizeof data, 0, (struct sockaddr*)&from, &length);
      CHECK(n >= 0 && from.sin_family == AF_INET);
      CHECK(sendto(fd, data, (size_t)n, 0, (const struct sockaddr*)&from, length) == n);
    }
    CHECK(connect(fd, (const struct sockaddr*)&from, length) == 0);
    CHECK(send(fd, "bye", 3, 0) == 3);
    printf("[0] five datagrams came back\n");
  } else {
    const struct sockaddr_in to = address_of(host_of(0), port);
    static const size_t sizes[] = {1, 0, 100, 1473, 65507};
    close(connected_socket(host_of(0), port));
    for (unsigned i = 0; i < 5; ++i) {
      for (size_t k = 0; k < sizes[i]; ++k)
        data[k] = (char)(k * 3 + i);
      CHECK(sendto(fd, data, sizes[i], 0, (const struct sockaddr*)&to, sizeof to) == (ssize_t)sizes[i]);
      const ssize_t n = recvfrom(fd, more, sizeof more, 0, (struct sockaddr*)&from, &length);
      CHECK(n == (ssize_t)sizes[i] && memcmp(data, more, sizes[i]) == 0);
      CHECK(from.sin_port == htons((unsigned short)port) && from.sin_addr.s_addr == to.sin_addr.s_addr);
    }
    CHECK(recv(fd, more, 2, MSG_TRUNC) == 3 && memcmp(more, "by", 2) == 0);
    CHECK(sendto(fd, data, 65508, 0, (const struct sockaddr*)&to, sizeof to) == -1 && errno == EMSGSIZE);
    const int lonely = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(send(lonely, "x", 1, 0) == -1 && errno == EDESTADDRREQ);
    const struct sockaddr_in nobody = address_of(host_of(0), port + 1);
    CHECK(connect(lonely, (const struct sockaddr*)&nobody, sizeof nobody) == 0);
    CHECK(send(lonely, "x", 1, 0) == 1);
    CHECK(recv(lonely, more, 1, 0) == -1 && errno == ECONNREFUSED);
    close(lonely);
    printf("[1] datagrams as expected\n");
  }
  close(fd);
  return 0;
}
