// SPDX-License-Identifier: LGPL-2.1-or-later
// memfd_peers: a memory file of rank 0 that rank 1 gets as a descriptor (SCM_RIGHTS) and by its path below /proc. Both
// are on one node.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int rank;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "rank %d: %s:%d: %s failed, errno %d (%s)\n", rank, __FILE__, __LINE__, #condition, errno,       \
              strerror(errno));                                                                                        \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

enum { size = 4096 };

static char* map(int fd)
{
  char* const memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(memory != MAP_FAILED);
  return memory;
}

struct told {
  int pid, fd;
};

// The message about `fd`, with room for the descriptor itself.
struct parcel {
  struct told told;
  struct iovec part;
  char room[CMSG_SPACE(sizeof(int))];
  struct msghdr message;
};

static void prepare(struct parcel* parcel)
{
  memset(parcel, 0, sizeof *parcel);
  parcel->part = (struct iovec){&parcel->told, sizeof parcel->told};
  parcel->message = (struct msghdr){
      .msg_iov = &parcel->part, .msg_iovlen = 1, .msg_control = parcel->room, .msg_controllen = sizeof parcel->room};
}

static void give(int peer)
{
  const int fd = memfd_create("shared", 0);
  CHECK(fd >= 0 && ftruncate(fd, size) == 0);
  char* const memory = map(fd);
  strcpy(memory, "hello");
  struct parcel parcel;
  prepare(&parcel);
  parcel.told = (struct told){getpid(), fd};
  struct cmsghdr* const head = CMSG_FIRSTHDR(&parcel.message);
  *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  CHECK(sendmsg(peer, &parcel.message, 0) == sizeof parcel.told);
  char byte;
  CHECK(read(peer, &byte, 1) == 1);
  printf("[0] the other has written: %s\n", memory);
}

static void take(int peer)
{
  struct parcel parcel;
  prepare(&parcel);
  CHECK(recvmsg(peer, &parcel.message, 0) == sizeof parcel.told);
  const struct cmsghdr* const head = CMSG_FIRSTHDR(&parcel.message);
  CHECK(head && head->cmsg_type == SCM_RIGHTS);
  int fd;
  memcpy(&fd, CMSG_DATA(head), sizeof fd);
  printf("[1] by its descriptor: %s\n", map(fd));
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", parcel.told.pid, parcel.told.fd);
  const int again = open(path, O_RDWR);
  CHECK(again >= 0);
  char* const memory = map(again);
  printf("[1] by its path: %s\n", memory);
  strcpy(memory, "changed");
  CHECK(write(peer, "x", 1) == 1);
}

int main(void)
{
  rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int name = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "umwelt-memfd-%d", getppid());
  const socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)name);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(fd >= 0);
  if (rank == 0) {
    CHECK(bind(fd, (const struct sockaddr*)&address, length) == 0 && listen(fd, 1) == 0);
    const int peer = accept(fd, NULL, NULL);
    CHECK(peer >= 0);
    give(peer);
  } else {
    while (connect(fd, (const struct sockaddr*)&address, length) != 0) {
      CHECK(errno == ECONNREFUSED); // it does not listen yet
      usleep(1000);
    }
    take(fd);
  }
  return 0;
}
