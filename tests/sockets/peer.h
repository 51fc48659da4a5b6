// SPDX-License-Identifier: LGPL-2.1-or-later
// What the socket programs share: their place among the ranks (mpirun and umwelt tell it), the host of a rank, checks.
#pragma once

#define _GNU_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "rank %d: %s:%d: %s failed, errno %d (%s)\n", own_rank(), __FILE__, __LINE__, #condition, errno, \
              strerror(errno));                                                                                        \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

static inline int number_of(const char* variable, int otherwise)
{
  const char* text = getenv(variable);
  return text ? atoi(text) : otherwise;
}

static inline int own_rank(void)
{
  return number_of("OMPI_COMM_WORLD_RANK", 0);
}

static inline int ranks(void)
{
  return number_of("OMPI_COMM_WORLD_SIZE", 1);
}

static inline int simulated(void)
{
  return getenv("UMWELT_NODES") != NULL;
}

// Name of the host of a rank: UMWELT_NODES has them all, separated by commas; natively there is one host.
static inline const char* host_of(int rank)
{
  static char name[256];
  const char* list = getenv("UMWELT_NODES");
  if (!list)
    return "localhost";
  for (; rank > 0 && strchr(list, ','); --rank)
    list = strchr(list, ',') + 1;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(list, ","), list);
  return name;
}

static inline struct sockaddr_in address_of(const char* host, int port)
{
  struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
  char service[16];
  snprintf(service, sizeof service, "%d", port);
  const int error = getaddrinfo(host, service, &hints, &found);
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", host, gai_strerror(error));
    exit(1);
  }
  struct sockaddr_in address;
  memcpy(&address, found->ai_addr, sizeof address);
  freeaddrinfo(found);
  return address;
}

static inline int listening_socket(int port)
{
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const int one = 1;
  CHECK(fd >= 0);
  CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
  const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  CHECK(bind(fd, (const struct sockaddr*)&any, sizeof any) == 0);
  CHECK(listen(fd, 64) == 0);
  return fd;
}

// The server may not be there yet.
static inline int connected_socket(const char* host, int port)
{
  const struct sockaddr_in address = address_of(host, port);
  for (int tries = 0; tries < 1000; ++tries) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    if (connect(fd, (const struct sockaddr*)&address, sizeof address) == 0)
      return fd;
    CHECK(errno == ECONNREFUSED);
    close(fd);
    usleep(1000);
  }
  fprintf(stderr, "%s:%d does not answer\n", host, port);
  exit(1);
}

static inline void send_all(int fd, const void* data, size_t size)
{
  for (const char* next = data; size > 0;) {
    const ssize_t n = send(fd, next, size, 0);
    CHECK(n > 0);
    next += n;
    size -= (size_t)n;
  }
}

static inline void receive_all(int fd, void* data, size_t size)
{
  for (char* next = data; size > 0;) {
    const ssize_t n = recv(fd, next, size, 0);
    CHECK(n > 0);
    next += n;
    size -= (size_t)n;
  }
}

static inline double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
