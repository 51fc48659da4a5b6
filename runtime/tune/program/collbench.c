/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * collbench: how long one collective of MPI takes, for `umwelt tune collectives` (../README.md). An ordinary MPI
 * program, built once for each MPI library; which algorithm the library takes is decided outside of it.
 *
 *     collbench FUNCTION REPETITIONS SIZE...
 *     collbench --algorithms                 what Open MPI can choose from, and where the library is; no MPI_Init
 *
 * All ranks begin a call at the same time: they agree on a moment that lies ahead of all of them, and sleep until it
 * comes. That needs clocks that all show the same time, which those of the simulated machine do, and has an advantage
 * over a barrier: the ranks begin together whatever algorithm a barrier has. A call has taken what passes until the
 * last rank has returned. Nothing here uses a collective but the one that is measured, since the algorithm that was
 * chosen for that could be one that fails.
 */
#define _GNU_SOURCE /* dladdr() */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls.h"

enum { TAG = 1, SECOND = 1000000000, MICROSECOND = 1000, MILLISECOND = 1000000 };

static int rank;
static int ranks;

static int64_t now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static void sleep_until(int64_t moment)
{
  const struct timespec time = {moment / SECOND, moment % SECOND};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
    ;
}

/* The largest of what all ranks have. In each step a rank knows twice as many of them. */
static int64_t largest(int64_t value)
{
  for (int distance = 1; distance < ranks; distance *= 2) {
    int64_t other;
    MPI_Sendrecv(&value, 1, MPI_INT64_T, (rank + distance) % ranks, TAG, &other, 1, MPI_INT64_T,
                 (rank - distance + ranks) % ranks, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (other > value)
      value = other;
  }
  return value;
}

/* Whole microseconds, so that what a clock of whole nanoseconds cuts off is the same in all runs. */
static int64_t agree_on_begin(void)
{
  static int64_t takes = MILLISECOND; /* such an agreement, at most */
  const int64_t before = now();
  const int64_t begin = (largest(before + 4 * takes) / MICROSECOND + 1) * MICROSECOND;
  if (now() - before > takes)
    takes = now() - before;
  return begin;
}

static int compare(const void* a, const void* b)
{
  const int64_t x = *(const int64_t*)a;
  const int64_t y = *(const int64_t*)b;
  return (x > y) - (x < y);
}

/* Nanoseconds; negative: a rank came too late. `error`: what the call returned, here or on another rank. */
static int64_t measure(const struct call* call, int* error)
{
  const int64_t begin = agree_on_begin();
  const bool late = now() >= begin;
  sleep_until(begin);
  const int code = call->function->perform(call);
  const int64_t end = now();
  const int64_t worst = largest(code);
  *error = code != MPI_SUCCESS ? code : (int)worst; /* what a code means can differ from rank to rank */
  const int64_t last = largest(end);
  return largest(late) ? -1 : last - begin;
}

static void say_failed(size_t size, int code)
{
  static char known[MPI_MAX_ERROR_STRING];
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  /* MPICH: a stack of which the last line has the cause, behind a place in its source. It has that only once. */
  const char* line = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
  if (strstr(line, "(unknown)()") && known[0])
    line = known;
  const char* dots = strstr(line, "..: ");
  const char* place = strstr(line, "): ");
  const char* cause = dots ? dots + 4 : place ? place + 3 : line;
  memmove(known, cause, strlen(cause) + 1);
  printf("failed %zu %s\n", size, known);
}

/* The first call connects ranks and is looked at: did it do what it should? The others are measured. */
static void measure_size(const struct call* call, size_t size, int repetitions, int64_t* times)
{
  int error = MPI_SUCCESS;
  fill(call);
  measure(call, &error);
  const int64_t wrong = largest(error == MPI_SUCCESS && !is_right(call));
  bool late = false;
  for (int i = 0; i < repetitions && error == MPI_SUCCESS; ++i) {
    times[i] = measure(call, &error);
    late |= times[i] < 0;
  }
  if (rank != 0)
    return;
  qsort(times, (size_t)repetitions, sizeof times[0], compare);
  if (error != MPI_SUCCESS)
    say_failed(size, error);
  else if (wrong)
    printf("wrong %zu\n", size);
  else if (late)
    printf("late %zu\n", size);
  else
    printf("time %zu %lld\n", size, (long long)times[repetitions / 2]);
  fflush(stdout);
}

/* "library PATH", "version TEXT", and a row for each algorithm that the library tells of: "algorithm FUNCTION NUMBER
 * NAME". MPICH does not. */
static int list_algorithms(void)
{
  static const char begin[] = "coll_tuned_";
  static const char end[] = "_algorithm";
  int provided;
  int variables = 0;
  Dl_info library;
  if (dladdr((void*)(uintptr_t)MPI_Init, &library))
    printf("library %s\n", library.dli_fname);
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  if (MPI_Get_library_version(version, &(int){0}) == MPI_SUCCESS)
    printf("version %.*s\n", (int)strcspn(version, ",\n"), version);
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS || MPI_T_cvar_get_num(&variables) != MPI_SUCCESS)
    return 1;
  for (int i = 0; i < variables; ++i) {
    char name[256];
    int length = sizeof name;
    int ignored;
    MPI_Datatype type;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(i, name, &length, &ignored, &type, &names, NULL, &(int){0}, &ignored, &ignored) !=
            MPI_SUCCESS ||
        names == MPI_T_ENUM_NULL || strncmp(name, begin, sizeof begin - 1) != 0)
      continue;
    const char* function = name + sizeof begin - 1;
    const size_t rest = strlen(function);
    if (rest < sizeof end || strcmp(function + rest - (sizeof end - 1), end) != 0)
      continue;
    int items = 0;
    char text[256];
    length = sizeof text;
    MPI_T_enum_get_info(names, &items, text, &length);
    for (int item = 0; item < items; ++item) {
      int number;
      length = sizeof text;
      if (MPI_T_enum_get_item(names, item, &number, text, &length) == MPI_SUCCESS)
        printf("algorithm %.*s %d %s\n", (int)(rest - (sizeof end - 1)), function, number, text);
    }
  }
  return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char** argv)
{
  if (argc == 2 && strcmp(argv[1], "--algorithms") == 0)
    return list_algorithms();
  const struct function* function = argc > 3 ? find_function(argv[1]) : NULL;
  const int repetitions = function ? atoi(argv[2]) : 0;
  if (repetitions < 1) {
    fprintf(stderr, "usage: collbench FUNCTION REPETITIONS SIZE... | collbench --algorithms\n");
    return 1;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int64_t* times = calloc((size_t)repetitions, sizeof times[0]);
  for (int i = 0; i < 3; ++i)
    agree_on_begin(); /* the first take longest */
  for (int i = 3; i < argc; ++i) {
    const size_t size = strtoull(argv[i], NULL, 10);
    struct call call;
    if (!times || !make_call(&call, function, size, rank, ranks)) {
      fprintf(stderr, "collbench: %s of %zu bytes: no memory for its buffers\n", function->name, size);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    measure_size(&call, size, repetitions, times);
    free_call(&call);
  }
  free(times);
  MPI_Finalize();
  return 0;
}
