/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What belongs to a rank alone: initialised and zeroed globals, statics in functions, __thread variables, the heap, the
 * environment, the locale, stdio. Each rank writes its own values, then all others, then each finds its own again. */
#include <errno.h>
#include <locale.h>
#include <time.h>

#include "check.h"

int initialised = 4711;
int zeroed[100000];
static double hidden = 0.5;
static const char* text = "before";
__thread int thread_initialised = 99;
__thread char thread_large[3000];
static __thread long thread_hidden __attribute__((aligned(64)));

static int count(void)
{
  static int calls = 10;
  return ++calls;
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  CHECK_EQ(initialised, 4711);
  CHECK_EQ(zeroed[99999], 0);
  CHECK_EQ(thread_initialised, 99);
  CHECK_EQ(thread_large[2999], 0);
  CHECK_EQ(thread_hidden, 0);
  CHECK_EQ((unsigned long)&thread_hidden % 64, 0);

  char mine[32];
  snprintf(mine, sizeof mine, "rank %d", world_rank);
  initialised = world_rank;
  hidden = world_rank + 0.25;
  text = mine;
  for (int i = 0; i < 100000; i += 1000) {
    zeroed[i] = world_rank;
  }
  thread_initialised = world_rank + 1000;
  memset(thread_large, 'a' + world_rank, sizeof thread_large);
  thread_hidden = world_rank + 2000L;
  setenv("UMWELT_TEST_VARIABLE", mine, 1);
  unsetenv("HOME");
  srand(world_rank + 1);
  const int expected_random = rand();
  srand(world_rank + 1);
  for (int i = 0; i < world_rank; ++i) {
    count();
  }
  char* heap = malloc(1 << 20);
  memset(heap, world_rank, 1 << 20);

  for (int turn = 0; turn < world_size; ++turn) { /* everybody's writes are interleaved with everybody's checks */
    MPI_Barrier(MPI_COMM_WORLD);
    errno = 1000 + world_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(initialised, world_rank + turn);
    ++initialised;
  }
  CHECK(hidden == world_rank + 0.25);
  CHECK(strcmp(text, mine) == 0);
  CHECK_EQ(zeroed[99000], world_rank);
  CHECK_EQ(thread_initialised, world_rank + 1000);
  CHECK_EQ(thread_large[2999], 'a' + world_rank);
  CHECK_EQ(thread_hidden, world_rank + 2000);
  CHECK(strcmp(getenv("UMWELT_TEST_VARIABLE"), mine) == 0);
  CHECK(getenv("HOME") == NULL);
  CHECK_EQ(rand(), expected_random);
  CHECK_EQ(count(), 11 + world_rank);
  CHECK_EQ(heap[(1 << 20) - 1], world_rank);
  free(heap);

  /* strtok and the like keep state inside libc */
  char list[] = "one two three";
  CHECK(strcmp(strtok(list, " "), "one") == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(strcmp(strtok(NULL, " "), "two") == 0);
  if (world_rank == 0) {
    setlocale(LC_ALL, "C");
  }
  errno = 0;
  CHECK(fopen("/nonexistent/file", "r") == NULL);
  CHECK_EQ(errno, ENOENT);
  return finish();
}
