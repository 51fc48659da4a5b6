// SPDX-License-Identifier: LGPL-2.1-or-later
// pair PORT [MEGABYTES ROUNDS [6]]: a stream between two ranks, as iperf3 does it: rank 1 connects to rank 0; round
// trips of one byte, then a stream of so many MiB. Prints to standard error what it measured: latency (half a round
// trip, us) and bandwidth (GB/s).
#include "peer.h"

int main(int argc, char** argv)
{
  const int port = argc > 1 ? atoi(argv[1]) : 5201;
  const size_t size = (size_t)(argc > 2 ? atoi(argv[2]) : 64) << 20;
  const int rounds = argc > 3 ? atoi(argv[3]) : 1000;
  choose_family(argc, argv, 4);
  const size_t part = 128 << 10;
  char* const buffer = malloc(part);
  int fd;
  if (own_rank() == 0) {
    const int listener = listening_socket(port);
    union address from;
    socklen_t length = sizeof from;
    fd = accept(listener, &from.generic, &length);
    CHECK(fd >= 0 && from.generic.sa_family == family);
  } else
    fd = connected_socket(host_of(0), port);
  const int one = 1;
  CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0);
  char byte = 'x';
  const double begin = now();
  for (int i = 0; i < rounds; ++i) {
    if (own_rank() == 1)
      send_all(fd, &byte, 1);
    receive_all(fd, &byte, 1);
    if (own_rank() == 0)
      send_all(fd, &byte, 1);
  }
  const double middle = now();
  unsigned long sum = 0;
  for (size_t done = 0; done < size; done += part)
    if (own_rank() == 1) {
      for (size_t i = 0; i < part; i += 512)
        buffer[i] = (char)((done + i) >> 9);
      send_all(fd, buffer, part);
    } else {
      receive_all(fd, buffer, part);
      for (size_t i = 0; i < part; i += 512)
        sum = sum * 31 + (unsigned char)buffer[i];
    }
  if (own_rank() == 0)
    send_all(fd, &byte, 1);
  else
    receive_all(fd, &byte, 1);
  const double end = now();
  if (own_rank() == 0)
    printf("[0] received %zu bytes, sum %lx\n", size, sum);
  else {
    printf("[1] sent %zu bytes\n", size);
    fprintf(stderr, "latency %.3f us, bandwidth %.3f GB/s\n", (middle - begin) / rounds / 2 * 1e6,
            (double)size / (end - middle) * 1e-9);
  }
  close(fd);
  return 0;
}
