// SPDX-License-Identifier: LGPL-2.1-or-later
// packets PORT [6]: something of everything that a capture of packets shows. Rank 1 asks for a port where nobody
// listens, sends rank 0 a stream of 200,000 bytes and gets a word back, a datagram to rank 0, and one to nobody.
#include "peer.h"

enum { stream_bytes = 200000 };

static char byte_at(size_t index)
{
  return (char)(index * 7 + index / 251);
}

static void serve(int port)
{
  const int listener = listening_socket(port);
  const int datagrams = socket(family, SOCK_DGRAM, 0);
  const union address any = any_address(port);
  CHECK(datagrams >= 0 && bind(datagrams, &any.generic, address_length()) == 0);
  const int fd = accept(listener, NULL, NULL);
  CHECK(fd >= 0);
  char part[4096];
  size_t all = 0;
  for (ssize_t size; (size = read(fd, part, sizeof part)) > 0; all += (size_t)size)
    for (ssize_t i = 0; i < size; ++i)
      CHECK(part[i] == byte_at(all + (size_t)i));
  CHECK(all == stream_bytes);
  CHECK(write(fd, "thanks", 6) == 6);
  CHECK(read(datagrams, part, sizeof part) == 5);
  close(fd);
}

static void ask(const char* host, int port)
{
  static char bytes[stream_bytes];
  for (size_t i = 0; i < sizeof bytes; ++i)
    bytes[i] = byte_at(i);
  const int fd = connected_socket(host, port);
  const union address nobody = address_of(host, port + 1);
  const int refused = socket(family, SOCK_STREAM, 0);
  CHECK(connect(refused, &nobody.generic, address_length()) < 0 && errno == ECONNREFUSED);
  send_all(fd, bytes, sizeof bytes);
  CHECK(shutdown(fd, SHUT_WR) == 0);
  char word[6];
  receive_all(fd, word, sizeof word);
  CHECK(memcmp(word, "thanks", sizeof word) == 0);
  const int datagrams = socket(family, SOCK_DGRAM, 0);
  CHECK(connect(datagrams, &nobody.generic, address_length()) == 0 && send(datagrams, "nobody", 6, 0) == 6);
  CHECK(read(datagrams, word, sizeof word) < 0 && errno == ECONNREFUSED);
  const union address server = address_of(host, port);
  CHECK(sendto(datagrams, "hello", 5, 0, &server.generic, address_length()) == 5);
  CHECK(read(fd, word, 1) == 0);
  close(fd);
}

int main(int argc, char** argv)
{
  const int port = argc > 1 ? atoi(argv[1]) : 5601;
  choose_family(argc, argv, 2);
  if (own_rank() == 0)
    serve(port);
  else
    ask(host_of(0), port);
  printf("[%d] done\n", own_rank());
  return 0;
}
