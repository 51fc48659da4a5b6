/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Large anonymous memory is the process's own and begins with zeros, however it came about. Same output natively and
 * simulated. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t part = 1 << 20;

static char* map(size_t size)
{
  return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int is(const char* memory, size_t size, char value)
{
  for (size_t i = 0; i < size; ++i)
    if (memory[i] != value)
      return 0;
  return 1;
}

static void forks(void)
{
  int go[2];
  char byte = 0;
  char* memory = map(4 * part);
  memset(memory, 1, 2 * part);
  if (pipe(go) != 0)
    return;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const int waited = read(go[0], &byte, 1) == 1; /* the parent has written meanwhile */
    const int as_before = is(memory, 2 * part, 1) && is(memory + 2 * part, 2 * part, 0);
    memset(memory, 3, 4 * part);
    _exit(waited && as_before ? 7 : 8);
  }
  memset(memory, 2, 3 * part);
  int status = 0;
  const int told = write(go[1], &byte, 1) == 1;
  const int ended = waitpid(child, &status, 0) == child;
  printf("child: %d %d %d\n", told, ended, WEXITSTATUS(status));
  printf("parent: %d %d\n", is(memory, 3 * part, 2), is(memory + 3 * part, part, 0));
  munmap(memory, 4 * part);
}

int main(void)
{
  char* memory = map(4 * part);
  printf("zeros: %d\n", is(memory, 4 * part, 0));
  memset(memory, 1, 4 * part);
  printf("thrown away: %d", madvise(memory + part, part, MADV_DONTNEED));
  printf(" %d %d %d\n", is(memory, part, 1), is(memory + part, part, 0), is(memory + 2 * part, 2 * part, 1));

  memset(memory, 2, part);
  printf("smaller: %d\n", mremap(memory, 4 * part, 3 * part, 0) == memory);
  char* larger = mremap(memory, 3 * part, 6 * part, MREMAP_MAYMOVE);
  printf("larger: %d %d %d %d\n", is(larger, part, 2), is(larger + part, part, 0), is(larger + 2 * part, part, 1),
         is(larger + 3 * part, 3 * part, 0));

  printf("protected: %d", mprotect(larger, part, PROT_READ));
  printf(" %d", is(larger, part, 2));
  printf(" %d", mprotect(larger, part, PROT_READ | PROT_WRITE));
  larger[0] = 3;
  printf(" %d\n", larger[0]);

  printf("a hole: %d", munmap(larger + part, part));
  printf(" %d\n", mprotect(larger + part, part, PROT_READ) == -1 && errno == ENOMEM);
  char* fixed = mmap(larger + part, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  printf("filled: %d %d", fixed == larger + part, is(fixed, part, 0));
  printf(" %d\n", munmap(larger, 6 * part));
  printf("nonsense: %d", munmap(larger + 1, part) == -1 && errno == EINVAL);
  printf(" %d\n", mremap(larger + 1, part, part, 0) == MAP_FAILED && errno == EINVAL);
  for (int i = 0; i < 40; ++i) { /* more than can be shared, and again where others have been */
    char* again = map(2 * part);
    if (!is(again, 2 * part, 0))
      printf("%d: not zero\n", i);
    memset(again, 1, 2 * part);
    if (i % 2)
      munmap(again, 2 * part);
  }
  forks();
  forks();
  return 0;
}
