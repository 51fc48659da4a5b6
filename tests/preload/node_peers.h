/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Processes of one node: ranks of a job under Umwelt (umwelt run -N N), natively children of a parent that waits for
 * them. Each prints lines that begin with its number, and checks for itself. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int peer; /* its number */
static int emulated;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "[%d] FAILED %s:%d: %s (errno %d)\n", peer, __FILE__, __LINE__, #condition, errno);              \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

__attribute__((format(printf, 1, 2))) static inline void say(const char* format, ...)
{
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  printf("[%d] %s\n", peer, text);
  fflush(stdout);
}

static inline double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Name of an object that another run on this machine does not use, if that could be seen. */
static inline const char* name_of(const char* what)
{
  static char names[8][64];
  static int next;
  char* name = names[next++ % 8];
  const char* run = getenv("NODE_PEERS_RUN");
  snprintf(name, sizeof names[0], "/umwelt-%s-%s", what, run ? run : "x");
  return name;
}

/* Returns in each of `count` processes. */
static inline void become_peers(int count)
{
  const char* rank = getenv("PMI_RANK");
  if (rank) {
    emulated = 1;
    peer = atoi(rank);
    return;
  }
  char run[16];
  snprintf(run, sizeof run, "%d", (int)getpid());
  setenv("NODE_PEERS_RUN", run, 1);
  for (int i = 0; i < count; ++i)
    if (fork() == 0) {
      peer = i;
      return;
    }
  int bad = 0, status;
  while (wait(&status) > 0)
    bad += status != 0;
  exit(bad != 0);
}

/* `size` bytes in memory that all have in common; peer 0 makes it. */
static inline void* common_memory(const char* what, size_t size)
{
  int fd = -1;
  if (peer == 0) {
    fd = shm_open(name_of(what), O_CREAT | O_EXCL | O_RDWR, 0600);
    CHECK(fd >= 0);
    CHECK(ftruncate(fd, (off_t)size) == 0);
  } else {
    off_t there = 0;
    while (fd < 0 || (size_t)(there = lseek(fd, 0, SEEK_END)) < size) {
      if (fd < 0)
        fd = shm_open(name_of(what), O_RDWR, 0);
      usleep(1000);
    }
  }
  void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(memory != MAP_FAILED);
  close(fd);
  return memory;
}

/* All are here; `word` lies in common memory and is zero at first. */
static inline void meet(volatile int* word, int count)
{
  const int goal = (__atomic_load_n(word, __ATOMIC_ACQUIRE) / count + 1) * count;
  __atomic_add_fetch(word, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < goal)
    usleep(100);
}
