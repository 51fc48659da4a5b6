/* SPDX-License-Identifier: LGPL-2.1-or-later
 * program ways|budget|burst|child: memory that a run with --fold may forget, but for its first 4 KiB and its last 64
 * bytes. Says natively what it says as a rank. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20, PAGE = 4096, KEPT_FIRST = 4096, KEPT_LAST = 64 };
static int failures;

static void call(void)
{
  const struct timespec short_time = {0, 1000};
  nanosleep(&short_time, NULL);
}

static void fill(double* array, size_t bytes)
{
  for (size_t i = 0; i < bytes / sizeof *array; ++i)
    array[i] = (double)i + 1;
}

/* What is kept is as it was written, all else is or has become 0. */
static void check(const char* what, const double* array, size_t bytes)
{
  size_t lost = 0, wrong = 0;
  for (size_t i = 0; i < bytes / sizeof *array; ++i) {
    const size_t at = i * sizeof *array;
    if (array[i] == (double)i + 1)
      continue;
    lost += at < KEPT_FIRST || at >= bytes - KEPT_LAST;
    wrong += array[i] != 0;
  }
  failures += lost + wrong > 0;
  printf("%s: %s\n", what, lost ? "lost what is to be kept" : wrong ? "wrong" : "ok");
}

static void use(const char* what, void* array, size_t bytes)
{
  if (!array) {
    printf("%s: none\n", what);
    ++failures;
    return;
  }
  fill(array, bytes);
  for (int i = 0; i < 100; ++i) {
    call();
    ((double*)array)[i * 512 + 600] = (double)(i * 512 + 600) + 1;
  }
  check(what, array, bytes);
}

/* Not in the place of its own return, which would make it its caller's call. */
__attribute__((noinline)) void* at_call(size_t bytes)
{
  void* volatile memory = malloc(bytes);
  return memory;
}

static void* second_thread(void* array)
{
  free(array);
  return NULL;
}

static int ways(void)
{
  const size_t bytes = 4 * MIB;
  void* array = at_call(bytes);
  use("malloc", array, bytes);
  printf("usable size: %s\n", malloc_usable_size(array) >= bytes ? "ok" : "too small");
  array = realloc(array, 2 * bytes);
  check("realloc, first page", array, KEPT_FIRST);
  use("realloc", array, 2 * bytes);
  array = realloc(array, 100); /* no longer a piece */
  printf("realloc to less: %s\n", ((double*)array)[11] == 12 ? "ok" : "lost");
  array = realloc(array, bytes);
  printf("realloc to more: %s\n", ((double*)array)[11] == 12 ? "ok" : "lost");
  free(array);
  array = calloc(bytes / 8, 8);
  size_t set = 0;
  for (size_t i = 0; i < bytes / 8; ++i)
    set += ((double*)array)[i] != 0;
  printf("calloc: %zu set\n", set);
  use("calloc", array, bytes);
  free(array);
  array = memalign(64 * PAGE, bytes);
  printf("memalign: %zu\n", (size_t)array % (64 * PAGE));
  use("memalign", array, bytes);
  free(array);
  if (posix_memalign(&array, 64, bytes) == 0)
    use("posix_memalign", array, bytes);
  second_thread(array);
  array = aligned_alloc(PAGE, bytes);
  use("aligned_alloc", array, bytes);
  free(array);
  array = reallocarray(NULL, bytes / 8, 8);
  use("reallocarray", array, bytes);
  free(array);
  array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  use("mmap", array, bytes);
  mprotect(array, PAGE, PROT_READ);
  check("mprotect", array, bytes);
  munmap(array, bytes);
  array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  use("mmap", array, bytes);
  array = mremap(array, bytes, 2 * bytes, MREMAP_MAYMOVE);
  printf("mremap: %s\n", array != MAP_FAILED ? "moved" : "failed");
  if (array != MAP_FAILED) {
    check("mremap, first page", array, KEPT_FIRST);
    use("mremap", array, 2 * bytes);
    munmap(array, 2 * bytes);
  }
  free(malloc(100));
  void* volatile none = malloc((size_t)-1 / 2);
  printf("too large: %s\n", none ? "given" : "refused");
  return failures != 0;
}

static size_t present(const char* memory, size_t bytes)
{
  static unsigned char there[64 * MIB / PAGE];
  size_t count = 0;
  mincore((void*)memory, bytes, there);
  for (size_t i = 0; i < bytes / PAGE; ++i)
    count += there[i] & 1;
  return count * PAGE;
}

/* As a rank: never more than 2 MiB there, with a budget of 1 MiB. */
static int budget(size_t limit)
{
  const size_t bytes = 64 * MIB, step = 64 << 10;
  char* memory = at_call(bytes);
  size_t most = 0;
  for (size_t at = 0; at < bytes; at += step) {
    memset(memory + at, 1, step);
    call();
    if (at / step % 8 == 7) {
      const size_t there = present(memory, bytes);
      most = there > most ? there : most;
    }
  }
  printf("%s\n", most <= limit ? "within the limit" : "beyond the limit");
  free(memory);
  return 0;
}

/* Writes for long without a call. */
static int burst(void)
{
  const size_t bytes = 64 * MIB;
  char* memory = at_call(bytes);
  for (int round = 0; round < 20; ++round)
    for (size_t at = 0; at < bytes; at += PAGE)
      memory[at + 64 * (size_t)round] = 1;
  puts("written");
  return 0;
}

static int child(void)
{
  const size_t bytes = 4 * MIB;
  double* array = at_call(bytes);
  fill(array, bytes);
  fflush(stdout);
  const pid_t process = fork();
  if (process == 0) {
    array = realloc(array, 2 * bytes);
    const int kept = array[1] == 2;
    free(array);
    free(malloc(bytes));
    _exit(kept ? 0 : 1);
  }
  int status = 1;
  waitpid(process, &status, 0);
  check("parent", array, bytes);
  printf("child: %d\n", status);
  free(array);
  return failures != 0;
}

int main(int argc, char** argv)
{
  const char* what = argc > 1 ? argv[1] : "ways";
  if (strcmp(what, "budget") == 0)
    return budget(argc > 2 ? (size_t)atol(argv[2]) : 64 * MIB);
  return strcmp(what, "burst") == 0 ? burst() : strcmp(what, "child") == 0 ? child() : ways();
}
