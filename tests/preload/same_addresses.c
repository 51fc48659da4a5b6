// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints one line: where things lie in this rank, and whether addresses are said to be random.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>

static int variable;

int main(void)
{
  int local;
  char* const hint = (char*)(((uintptr_t)&variable + (2UL << 30)) & ~((1UL << 30) - 1));
  void* const heap = mmap(hint, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const small = malloc(100);
  void* const large = malloc(10 << 20);
  printf("%s: main %p, variable %p, small %p, large %p, heap %p (%s), library %p, stack %p\n",
         (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0 ? "same" : "random", (void*)main, (void*)&variable, small,
         large, heap, heap > (void*)&variable ? "above" : "below", (void*)printf, (void*)&local);
  free(small);
  free(large);
  return heap == MAP_FAILED;
}
