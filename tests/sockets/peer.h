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

// "6" as an argument of the program: over IPv6.
static int family = AF_INET;

static inline void choose_family(int argc, char** argv, int index)
{
  if (argc > index && strcmp(argv[index], "6") == 0)
    family = AF_INET6;
}

union address {
  struct sockaddr generic;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

static inline socklen_t address_length(void)
{
  return family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static inline int same_host(const union address* one, const union address* other)
{
  return family == AF_INET6 ? memcmp(&one->v6.sin6_addr, &other->v6.sin6_addr, sizeof one->v6.sin6_addr) == 0
                            : one->v4.sin_addr.s_addr == other->v4.sin_addr.s_addr;
}

// In host byte order.
static inline int port_of(const union address* address)
{
  return ntohs(family == AF_INET6 ? address->v6.sin6_port : address->v4.sin_port);
}

// Any of the own, at that port.
static inline union address any_address(int port)
{
  union address address = {.v6 = {0}};
  address.generic.sa_family = (sa_family_t)family;
  if (family == AF_INET6)
    address.v6.sin6_port = htons((unsigned short)port);
  else
    address.v4.sin_port = htons((unsigned short)port);
  return address;
}

// Name of the host of a rank: UMWELT_NODES has them all, separated by commas; natively there is one host.
static inline const char* host_of(int rank)
{
  static char name[256];
  const char* list = getenv("UMWELT_NODES");
  if (!list)
    return family == AF_INET6 ? "::1" : "localhost";
  for (; rank > 0 && strchr(list, ','); --rank)
    list = strchr(list, ',') + 1;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(list, ","), list);
  return name;
}

static inline union address address_of(const char* host, int port)
{
  struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM}, *found;
  char service[16];
  snprintf(service, sizeof service, "%d", port);
  const int error = getaddrinfo(host, service, &hints, &found);
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", host, gai_strerror(error));
    exit(1);
  }
  union address address = {.v6 = {0}};
  CHECK(found->ai_addrlen == address_length());
  memcpy(&address, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return address;
}

static inline int listening_socket(int port)
{
  const int fd = socket(family, SOCK_STREAM, 0);
  const int one = 1;
  CHECK(fd >= 0);
  CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
  const union address any = any_address(port);
  CHECK(bind(fd, &any.generic, address_length()) == 0);
  CHECK(listen(fd, 64) == 0);
  return fd;
}

// The server may not be there yet.
static inline int connected_socket(const char* host, int port)
{
  const union address address = address_of(host, port);
  for (int tries = 0; tries < 1000; ++tries) {
    const int fd = socket(family, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    if (connect(fd, &address.generic, address_length()) == 0)
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
