/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Named shared memory and named semaphores: what succeeds and what does not. Same output natively and simulated. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* said(int result)
{
  return result < 0 ? strerrorname_np(errno) : "ok";
}

static int opened(sem_t* semaphore)
{
  return semaphore == SEM_FAILED ? -1 : 0;
}

static void names(void)
{
  static const char* const wrong[] = {"", "/", "//", "a/b", "/a/b"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    printf("'%s':", wrong[i]);
    printf(" %s", said(shm_open(wrong[i], O_CREAT | O_RDWR, 0600)));
    printf(" %s", said(shm_unlink(wrong[i])));
    printf(" %s", said(opened(sem_open(wrong[i], O_CREAT, 0600, 1))));
    printf(" %s\n", said(sem_unlink(wrong[i])));
  }
  printf("a directory: %s", said(shm_open("/.", O_CREAT | O_RDWR, 0600)));
  printf(" %s\n", said(shm_unlink("/..")));
  for (int length = 250; length < 258; ++length) {
    char name[300];
    memset(name, 'x', sizeof name);
    const int digits = snprintf(name, sizeof name, "/%d", (int)getpid());
    name[digits] = 'x';
    name[length] = '\0';
    printf("%d characters:", length);
    printf(" %s", said(shm_open(name, O_CREAT | O_RDWR, 0600)));
    printf(" %s", said(shm_unlink(name)));
    printf(" %s", said(opened(sem_open(name, O_CREAT, 0600, 1))));
    printf(" %s\n", said(sem_unlink(name)));
  }
}

static void memory(const char* name)
{
  printf("before there is one: %s", said(shm_open(name, O_RDWR, 0)));
  printf(" %s\n", said(shm_unlink(name)));
  umask(022);
  const int fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0666);
  struct stat status;
  fstat(fd, &status);
  printf("mode %o, size %ld, flags %x, closed by exec: %d\n", status.st_mode, (long)status.st_size,
         (unsigned)fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
  printf("exclusively: %s\n", said(shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0666)));
  printf("larger: %s\n", said(ftruncate(fd, 8192)));
  char* first = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int reader = shm_open(name, O_RDONLY, 0);
  const char* second = mmap(NULL, 8192, PROT_READ, MAP_SHARED, reader, 0);
  strcpy(first + 4096, "seen through both");
  printf("%s\n", second + 4096);
  printf("not to be written: %s\n", said((int)write(reader, "x", 1)));
  const int again = shm_open(name, O_RDWR | O_TRUNC, 0);
  fstat(again, &status);
  printf("emptied: %s, size %ld\n", said(again), (long)status.st_size);
  printf("removed: %s", said(shm_unlink(name)));
  printf(", again: %s", said(shm_unlink(name)));
  printf(", opened: %s\n", said(shm_open(name, O_RDWR, 0)));
  printf("still there for who has it: %s\n", said(ftruncate(fd, 8192)));
  strcpy(first, "indeed");
  printf("%s\n", second);
}

static void semaphores(const char* name)
{
  printf("not there: %s", said(opened(sem_open(name, 0))));
  printf(" %s\n", said(sem_unlink(name)));
  printf("too large: %s\n", said(opened(sem_open(name, O_CREAT, 0600, (unsigned)INT_MAX + 1))));
  sem_t* first = sem_open(name, O_CREAT, 0600, 3);
  printf("opened exclusively: %s\n", said(opened(sem_open(name, O_CREAT | O_EXCL, 0600, 1))));
  sem_t* second = sem_open(name, O_CREAT, 0600, 1);
  int value = -1;
  sem_getvalue(second, &value);
  printf("the same: %d, with %d\n", first == second, value);
  printf("taken: %s\n", said(sem_wait(first)));
  printf("removed: %s", said(sem_unlink(name)));
  printf(", again: %s\n", said(sem_unlink(name)));
  sem_t* other = sem_open(name, O_CREAT | O_EXCL, 0600, 7);
  sem_getvalue(other, &value);
  printf("another: %d, with %d", first != other, value);
  sem_getvalue(first, &value);
  printf(", the first with %d\n", value);
  printf("closed: %s", said(sem_close(first)));
  printf(" %s", said(sem_close(second)));
  printf(" %s", said(sem_close(other)));
  printf(" %s\n", said(sem_close(other)));
  sem_unlink(name);
  sem_t unnamed;
  sem_init(&unnamed, 0, 0);
  printf("without a name: %s\n", said(sem_close(&unnamed)));
}

/* LLVM's OpenMP library looks there for an address. */
static void own_maps(void)
{
  char path[64];
  char line[4096];
  int found = 0;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)getpid());
  FILE* file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    unsigned long begin = 0;
    unsigned long end = 0;
    sscanf(line, "%lx-%lx", &begin, &end);
    found += begin <= (unsigned long)&own_maps && (unsigned long)&own_maps < end;
  }
  printf("mapped %d times\n", found);
}

int main(void)
{
  char name[32];
  snprintf(name, sizeof name, "/umwelt-%d", (int)getpid());
  names();
  memory(name);
  semaphores(name);
  own_maps();
  return 0;
}
