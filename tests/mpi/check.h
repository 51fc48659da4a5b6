/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the programs of this directory share. Each has one subject, checks its own results and prints the same text in
 * every run: lines that begin with "[rank] ", so that two runs can be compared rank by rank, and last the number of
 * checks. So no check may stand in a loop whose length depends on timing. Included by one translation unit per program.
 */
#pragma once

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int world_rank; /* of MPI_COMM_WORLD, valid after begin() */
static int world_size;
static long checks_passed;
static long checks_failed;

/* Prints one line as one piece: other writers to the same stream cannot get into it. */
__attribute__((format(printf, 2, 3))) static inline void say_to(FILE* stream, const char* format, ...)
{
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stream, "[%d] %s\n", world_rank, text);
}
#define say(...) say_to(stdout, __VA_ARGS__)

/* Counts; the first failures are printed, not thousands of the same kind. */
static inline int check_that(int holds, const char* file, int line, const char* what)
{
  if (holds) {
    ++checks_passed;
  } else if (++checks_failed <= 10) {
    say("FAILED %s:%d: %s", file, line, what);
  }
  return holds;
}
#define CHECK(condition) check_that((condition) ? 1 : 0, __FILE__, __LINE__, #condition)

static inline int check_equal(long long got, long long expected, const char* file, int line, const char* what)
{
  const int holds = check_that(got == expected, file, line, what);
  if (!holds && checks_failed <= 10) {
    say("       expected %lld, got %lld", expected, got);
  }
  return holds;
}
#define CHECK_EQ(got, expected)                                                                                        \
  check_equal((long long)(got), (long long)(expected), __FILE__, __LINE__, #got " == " #expected)

static inline void begin(int* argc, char*** argv)
{
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

/* Says how it went; to be returned from main after MPI_Finalize. */
static inline int verdict(void)
{
  say("%ld checks passed, %ld failed", checks_passed, checks_failed);
  fflush(stdout);
  return checks_failed != 0;
}

static inline int finish(void)
{
  MPI_Finalize();
  return verdict();
}

/* A byte that depends on who sent it, which message it is and where it stands in it. */
static inline unsigned char pattern(int source, int message, size_t position)
{
  const unsigned long long x = (position + 1) * 2654435761ULL + (unsigned)source * 40503ULL + (unsigned)message * 97ULL;
  return (unsigned char)(x ^ (x >> 15));
}

static inline void fill(unsigned char* buffer, size_t size, int source, int message)
{
  for (size_t i = 0; i < size; ++i) {
    buffer[i] = pattern(source, message, i);
  }
}

static inline int is_filled(const unsigned char* buffer, size_t size, int source, int message)
{
  for (size_t i = 0; i < size; ++i) {
    if (buffer[i] != pattern(source, message, i)) {
      return 0;
    }
  }
  return 1;
}
