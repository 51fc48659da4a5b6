/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Memory wanted above the program's data lies there, for every rank of a process (Sandia OpenSHMEM's heap), and where
 * it is wanted if nothing is in the way; fixed places are as natively. Exit code 1: it does not lie above. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

extern char _end;

static const size_t size = 64 << 20;
static const uintptr_t gigabyte = (uintptr_t)1 << 30;

static char* map(uintptr_t hint, int flags)
{
  return mmap((void*)hint, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

int main(void)
{
  const uintptr_t wanted = ((uintptr_t)&_end + 2 * gigabyte) & ~(gigabyte - 1);
  char* first = map(wanted, 0);
  char* second = map(wanted, 0);
  printf("above the data: %d %d\n", (uintptr_t)first > (uintptr_t)&_end, second != MAP_FAILED);
  memset(first, 1, size);
  memset(second, 2, size);
  printf("apart: %d %d\n", first[size - 1], second[0]);
  printf("in place: %d\n", map((uintptr_t)first, MAP_FIXED) == first && first[0] == 0);
  printf("taken: %d\n", map((uintptr_t)first, MAP_FIXED_NOREPLACE) == MAP_FAILED);
  printf("given back: %d %d\n", munmap(first, size), munmap(second, size));
  char* again = map((uintptr_t)first, 0);
  printf("again: %d\n", again == first);
  printf("without a wish: %d\n", map(0, 0) != MAP_FAILED);
  return (uintptr_t)first < (uintptr_t)&_end;
}
