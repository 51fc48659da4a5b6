/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/pmi/calls.h"

#define EXPECT(condition)                                                                                              \
  do                                                                                                                   \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "rank %s: %s:%d: expected %s\n", getenv("PMI_RANK"), __FILE__, __LINE__, #condition);            \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  while (0)

/* A call that is to return this code. */
#define CODE(expected, call)                                                                                           \
  do {                                                                                                                 \
    const int code_ = (call);                                                                                          \
    if (code_ != (expected)) {                                                                                         \
      fprintf(stderr, "rank %s: %s:%d: %s returned %d, expected %s\n", getenv("PMI_RANK"), __FILE__, __LINE__, #call,  \
              code_, #expected);                                                                                       \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

#define OK(call) CODE(PMI_SUCCESS, call)

static inline double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline void pass(long milliseconds)
{
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* `length` times the letter, valid until the next call but three. */
static inline const char* many(char letter, size_t length)
{
  static char texts[4][2048];
  static unsigned next;
  char* text = texts[next++ % 4];
  memset(text, letter, length);
  text[length] = '\0';
  return text;
}

/* As the environment says. */
static inline int number_of(const char* variable)
{
  EXPECT(getenv(variable));
  return atoi(getenv(variable));
}
