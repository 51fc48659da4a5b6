/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Allocations of every kind, with what may happen to them. Natively nothing is lost; with run.sh's rule only what it
 * does not keep. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pattern.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      printf("line %d: expected %s\n", __LINE__, #condition);                                                          \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)

static volatile size_t huge = SIZE_MAX - 10; /* not known to the compiler */

static void ways(void)
{
  void* memory = malloc(SIZE);
  EXPECT(malloc_usable_size(memory) >= SIZE);
  use("malloc", memory, SIZE);
  free(memory);

  memory = calloc(SIZE, 1);
  for (size_t i = 0; i < SIZE; ++i)
    EXPECT(((char*)memory)[i] == 0);
  use("calloc", memory, SIZE);
  free(memory);
  memory = calloc(3, SIZE / 3); /* in the place of the last */
  for (size_t i = 0; i < SIZE / 3 * 3; ++i)
    EXPECT(((char*)memory)[i] == 0);
  use("calloc again", memory, SIZE / 3 * 3);
  free(memory);

  EXPECT(posix_memalign(&memory, 4 << 20, SIZE) == 0);
  EXPECT((uintptr_t)memory % (4 << 20) == 0);
  use("posix_memalign", memory, SIZE);
  free(memory);
  memory = aligned_alloc(64, SIZE / 64 * 64);
  EXPECT((uintptr_t)memory % 64 == 0);
  use("aligned_alloc", memory, SIZE / 64 * 64);
  free(memory);
  memory = memalign(1 << 16, SIZE);
  EXPECT((uintptr_t)memory % (1 << 16) == 0);
  use("memalign", memory, SIZE);
  free(memory);
  memory = valloc(SIZE);
  EXPECT((uintptr_t)memory % 4096 == 0);
  use("valloc", memory, SIZE);
  free(memory);
  memory = pvalloc(SIZE);
  use("pvalloc", memory, (SIZE + 4095) / 4096 * 4096);
  free(memory);

  memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  use("mmap", memory, SIZE);
  EXPECT(munmap(memory, SIZE) == 0);
}

static void impossible(void)
{
  errno = 0;
  EXPECT(malloc(huge) == NULL && errno == ENOMEM);
  EXPECT(calloc(huge, 2) == NULL && errno == ENOMEM);
  EXPECT(calloc(huge, 1) == NULL);
  EXPECT(pvalloc(huge) == NULL);
  EXPECT(aligned_alloc(4096, huge) == NULL);
  void* const before = &failures;
  void* result = before;
  EXPECT(posix_memalign(&result, 64, huge) == ENOMEM && result == before);
  EXPECT(posix_memalign(&result, 24, SIZE) == EINVAL);
  EXPECT(posix_memalign(&result, 0, SIZE) == EINVAL);
  EXPECT(malloc(huge / 2) == NULL);
  EXPECT(mmap(NULL, huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
  char* volatile memory = malloc(SIZE);
  fill(memory, SIZE);
  char* volatile moved = realloc(memory, huge);
  EXPECT(moved == NULL && errno == ENOMEM);
  moved = reallocarray(memory, huge, 2);
  EXPECT(moved == NULL && errno == ENOMEM);
  check("realloc that fails", memory, SIZE, SIZE);
  errno = 7;
  free(memory);
  free(NULL);
  EXPECT(errno == 7);
}

static void reallocations(void)
{
  char* memory = realloc(NULL, SIZE);
  use("from nothing", memory, SIZE);
  const size_t larger = 2 * (size_t)SIZE;
  fill(memory, SIZE);
  memory = realloc(memory, larger);
  for (size_t i = 0; i < 100; ++i) /* kept in both */
    EXPECT((unsigned char)memory[i] == pattern(i));
  use("grown", memory, larger);
  memory = realloc(memory, SIZE);
  for (size_t i = 0; i < 100; ++i)
    EXPECT((unsigned char)memory[i] == pattern(i));
  use("shrunk", memory, SIZE);
  memory = realloc(memory, 5000); /* too small for any rule */
  for (size_t i = 0; i < 5000; ++i)
    EXPECT((unsigned char)memory[i] == pattern(i) || (i >= 100 && memory[i] == 0));
  fill(memory, 5000);
  make_calls();
  for (size_t i = 0; i < 5000; ++i)
    EXPECT((unsigned char)memory[i] == pattern(i));
  memory = realloc(memory, SIZE);
  for (size_t i = 0; i < 100; ++i)
    EXPECT((unsigned char)memory[i] == pattern(i));
  use("folded again", memory, SIZE);
  memory = reallocarray(memory, 2, SIZE);
  use("reallocarray", memory, larger);
  char* volatile gone = realloc(memory, 0);
  EXPECT(gone == NULL);

  /* What becomes ordinary memory is not what the heap held before. */
  char* dirt[64];
  for (int i = 0; i < 64; ++i)
    memset(dirt[i] = malloc(100000), 0xff, 100000);
  for (int i = 0; i < 64; ++i)
    free(dirt[i]);
  memory = malloc(SIZE);
  memset(memory, 0, SIZE);
  memory = realloc(memory, 100000);
  for (size_t i = 0; i < 100000; ++i)
    EXPECT(memory[i] == 0);
  free(memory);
}

static void* map(size_t size)
{
  return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void expect_all(const char* what, const void* memory, size_t begin, size_t end)
{
  const unsigned char* bytes = memory;
  size_t wrong = 0;
  for (size_t i = begin; i < end; ++i)
    wrong += bytes[i] != pattern(i);
  printf("%s: %zu bytes wrong\n", what, wrong);
  failures += wrong != 0;
}

/* Mappings, of which parts become ordinary memory. */
static void mappings(void)
{
  char* memory = map(SIZE);
  use("advised", memory, SIZE);
  EXPECT(madvise(memory, SIZE, MADV_SEQUENTIAL) == 0);
  use("advised", memory, SIZE);
  EXPECT(madvise(memory, SIZE, MADV_DONTNEED) == 0);
  for (size_t i = 0; i < SIZE; ++i)
    EXPECT(memory[i] == 0);
  use("given back", memory, SIZE);

  EXPECT(mprotect(memory, 4096, PROT_READ) == 0);
  EXPECT(mprotect(memory, 4096, PROT_READ | PROT_WRITE) == 0);
  fill(memory, SIZE);
  make_calls();
  expect_all("protected in part", memory, 0, SIZE);
  EXPECT(munmap(memory, SIZE) == 0);

  memory = map(SIZE);
  use("before a hole", memory, SIZE);
  EXPECT(munmap(memory + (1 << 20), 4096) == 0);
  fill(memory, 1 << 20);
  make_calls();
  expect_all("before a hole", memory, 0, 1 << 20);
  EXPECT(munmap(memory, SIZE) == 0);

  memory = map(SIZE);
  use("to be moved", memory, SIZE);
  memory = mremap(memory, SIZE, 4 * (size_t)SIZE, MREMAP_MAYMOVE);
  EXPECT(memory != MAP_FAILED);
  if (memory != MAP_FAILED) {
    for (size_t i = 0; i < 100; ++i) /* kept in both */
      EXPECT((unsigned char)memory[i] == pattern(i));
    use("moved", memory, 4 * (size_t)SIZE);
    memory = mremap(memory, 4 * (size_t)SIZE, SIZE, 0);
    fill(memory, SIZE);
    make_calls();
    expect_all("shrunk by mremap", memory, 0, SIZE);
    EXPECT(munmap(memory, SIZE) == 0);
  }

  /* One mapped over another */
  memory = map(SIZE);
  use("underneath", memory, SIZE);
  char* above = mmap(memory, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  EXPECT(above == memory);
  fill(memory, SIZE);
  make_calls();
  expect_all("above", memory, 0, SIZE);
  EXPECT(munmap(memory, SIZE) == 0);
}

static unsigned count_maps(void)
{
  FILE* maps = fopen("/proc/self/maps", "r");
  unsigned lines = 0;
  for (int c; (c = getc(maps)) != EOF;)
    lines += c == '\n';
  fclose(maps);
  return lines;
}

/* However often they are forgotten. */
static void number_of_mappings(void)
{
  char* memory[8];
  for (int i = 0; i < 8; ++i)
    fill(memory[i] = malloc(SIZE), SIZE);
  make_calls();
  const unsigned before = count_maps();
  for (int round = 0; round < 200; ++round)
    for (int i = 0; i < 8; ++i) {
      memset(memory[i] + SIZE / 5, round, CHUNK);
      memset(memory[i] + SIZE / 5 * 4, round, CHUNK);
      memset(memory[i], round, 100); /* kept */
      memset(memory[i] + SIZE - 64, round, 64);
      usleep(1);
    }
  const unsigned after = count_maps();
  fprintf(stderr, "mappings: %u before, %u after\n", before, after);
  EXPECT(after <= before + 40);
  for (int i = 0; i < 8; ++i)
    free(memory[i]);
}

static void in_children(void)
{
  char* memory[2] = {malloc(SIZE), malloc(SIZE)};
  char* mapped = map(SIZE);
  fill(memory[0], SIZE);
  fill(memory[1], SIZE);
  fill(mapped, SIZE);
  fflush(stdout);
  fflush(stderr);
  const pid_t child = fork();
  if (child == 0) {
    for (size_t i = 0; i < SIZE; ++i)
      failures +=
          is_kept(i, SIZE) && ((unsigned char)memory[0][i] != pattern(i) || (unsigned char)mapped[i] != pattern(i));
    free(memory[0]);
    memory[1] = realloc(memory[1], 2 * (size_t)SIZE);
    failures += (unsigned char)memory[1][50] != pattern(50);
    free(memory[1]);
    free(malloc(SIZE));
    munmap(mapped, SIZE);
    _exit(failures ? 1 : 0);
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  make_calls();
  check("of the parent", memory[0], SIZE, SIZE);
  check("mapping of the parent", mapped, SIZE, SIZE);
  use("of the parent, again", memory[1], SIZE);
  free(memory[0]);
  free(memory[1]);
  munmap(mapped, SIZE);
}

/* Each writes, and another one frees. */
enum { THREADS = 4, ROUNDS = 30 };
static char* _Atomic handed[THREADS];
static unsigned long _Atomic bad;

static void* thread(void* argument)
{
  const size_t number = (size_t)argument;
  for (int round = 0; round < ROUNDS; ++round) {
    const size_t size = SIZE + number * 4096 + (size_t)round;
    char* memory = malloc(size);
    memset(memory, (int)number + 1, 100);
    memset(memory + size / 2, (int)number + 1, CHUNK);
    char* other = malloc(300 + number); /* of the heap, between pieces */
    memset(other, 3, 300);
    usleep(5);
    for (int i = 0; i < 100; ++i)
      if (memory[i] != (char)(number + 1))
        ++bad;
    free(other);
    free(__atomic_exchange_n((char**)&handed[(number + 1) % THREADS], memory, __ATOMIC_SEQ_CST));
  }
  return NULL;
}

static void threads(void)
{
  pthread_t all[THREADS];
  for (size_t i = 0; i < THREADS; ++i)
    pthread_create(&all[i], NULL, thread, (void*)i);
  for (size_t i = 0; i < THREADS; ++i)
    pthread_join(all[i], NULL);
  for (size_t i = 0; i < THREADS; ++i)
    free(handed[i]);
  printf("threads: %lu bytes wrong\n", (unsigned long)bad);
  failures += bad;
}

static void many(void)
{
  enum { MANY = 5000 }; /* more than there are places */
  static char* memory[MANY];
  for (int i = 0; i < MANY; ++i) {
    memory[i] = malloc((1 << 20) + 5);
    memory[i][0] = memory[i][99] = (char)i;
  }
  make_calls();
  for (int i = 0; i < MANY; ++i) {
    EXPECT(memory[i][0] == (char)i && memory[i][99] == (char)i);
    free(memory[i * 7 % MANY]);
    memory[i * 7 % MANY] = malloc((1 << 20) + 9);
    memory[i * 7 % MANY][0] = memory[i * 7 % MANY][99] = (char)(i * 7 % MANY);
  }
  for (int i = 0; i < MANY; ++i)
    free(memory[i]);
}

/* Of which the rules in run.sh mean one. */
__attribute__((noinline)) static void* by_one(size_t size)
{
  void* volatile memory = malloc(size);
  return memory;
}
__attribute__((noinline)) static void* by_another(size_t size)
{
  void* volatile memory = malloc(size);
  return memory;
}

static void functions(void)
{
  void* memory = by_one(SIZE);
  use("by_one", memory, SIZE);
  free(memory);
  memory = by_another(SIZE);
  use("by_another", memory, SIZE);
  free(memory);
  memory = by_one(2 * (size_t)SIZE);
  use("by_one, larger", memory, 2 * (size_t)SIZE);
  free(memory);
}

static size_t present(const char* memory, size_t size)
{
  unsigned char* pages = malloc(size / 4096);
  mincore((void*)memory, size, pages);
  size_t count = 0;
  for (size_t i = 0; i < size / 4096; ++i)
    count += pages[i] & 1;
  free(pages);
  return count * 4096;
}

static void freed(void)
{
  char* memory = malloc(SIZE);
  fill(memory, SIZE);
  char* volatile where = memory;
  free(memory);
  unsigned char pages[SIZE / 4096] = {0};
  size_t there = 0;
  if (mincore((void*)((uintptr_t)where & ~(uintptr_t)4095), SIZE / 4096 * 4096, pages) == 0)
    for (size_t i = 0; i < sizeof pages; ++i)
      there += pages[i] & 1;
  EXPECT(there == 0);
}

enum { BIG = 256 << 20 };

/* Looked at every few milliseconds. */
static void burst(void)
{
  char* memory = map(BIG);
  for (int round = 0; round < 4; ++round)
    for (size_t at = 0; at < BIG; at += 4096)
      memory[at] = (char)(round + 1);
  memory[50] = 1;
  EXPECT(memory[50] == 1 && (memory[BIG / 2] == 4 || memory[BIG / 2] == 0));
}

/* Written by and by: never more than the budget, and what is written between two looks. */
static void steps(void)
{
  char* memory = map(BIG);
  size_t most = 0;
  for (size_t at = 0; at < BIG; at += CHUNK) {
    memset(memory + at, 1, CHUNK);
    usleep(1);
    if (at / CHUNK % 8 == 7) {
      const size_t now = present(memory, BIG);
      most = now > most ? now : most;
    }
  }
  fprintf(stderr, "most present %zu\n", most);
}

int main(int argc, char** argv)
{
  const char* what = argc > 1 ? argv[1] : "";
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"ways", ways},
               {"impossible", impossible},
               {"reallocations", reallocations},
               {"mappings", mappings},
               {"maps", number_of_mappings},
               {"children", in_children},
               {"threads", threads},
               {"many", many},
               {"functions", functions},
               {"freed", freed},
               {"burst", burst},
               {"steps", steps}};
  if (strcmp(what, "exec") == 0) {
    void* memory = malloc(SIZE);
    use("before exec", memory, SIZE);
    use("mapped before exec", map(SIZE), SIZE);
    fflush(stdout);
    execl("/proc/self/exe", argv[0], "functions", NULL);
    return 2;
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(what, cases[i].name) == 0) {
      cases[i].run();
      printf("%s: %lu failures\n", what, failures);
      return failures ? 1 : 0;
    }
  return 2;
}
