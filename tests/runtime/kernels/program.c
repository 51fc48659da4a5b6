/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A program with kernels of all kinds (run.sh): exported, static, of a library, of one that is opened later, by dlsym,
 * called by each other, in a thread, left by longjmp, in a child process. Says what they return and what they take. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "library.h"

#define NEVER_INLINE __attribute__((noinline, noclone))

static volatile int sink;
static jmp_buf out;

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

NEVER_INLINE static int static_kernel(int n)
{
  sink += n;
  return 3 * n + sink - n;
}

NEVER_INLINE int inner_kernel(int n)
{
  sink = sink + 1;
  return n + 1 + sink * 0;
}

NEVER_INLINE int outer_kernel(int n)
{
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum += inner_kernel(i);
  return sum;
}

NEVER_INLINE double many_arguments(double a, int b, double c, long d, int e, int f, int g, int h, int i, double j)
{
  sink = sink + b;
  return a + c + j + (double)(b + d + e + f + g + h + i);
}

/* As Fortran calls it. */
NEVER_INLINE void fortran_kernel_(const char* what, const int* n, const double* factor, double* result)
{
  *result = *what == 'T' ? *factor * *n : 0;
  sink = sink + 1;
}

NEVER_INLINE void jumping_kernel(int n)
{
  sink = sink + n;
  longjmp(out, n);
}

/* Another static function of this name is in twice.c. */
NEVER_INLINE static int twice(int n)
{
  sink = sink + n;
  return 2 * n;
}

NEVER_INLINE void short_kernel(void)
{
  __asm__ volatile(""); /* one instruction */
}

static void* in_a_thread(void* argument)
{
  return (void*)(long)outer_kernel((int)(long)argument);
}

static double begun;

static void begin(void)
{
  begun = now();
}

static void said(const char* what, double value)
{
  const double taken = now() - begun;
  printf("%-16s %8.1f", what, value);
  if (getenv("SHOW_TIMES"))
    printf(" %8.0f us", floor(taken + 0.5));
  printf("\n");
}

int main(int count, char** words)
{
  begin();
  said("static", static_kernel(5));
  short_kernel();
  if (twice(2) + twice_elsewhere(2) != 9)
    return 1;
  begin();
  said("library", library_kernel(4));
  begin();
  double (*const by_name)(int) = (double (*)(int))dlsym(RTLD_DEFAULT, "library_kernel");
  said("dlsym", by_name(6));
  begin();
  said("outer", outer_kernel(3));
  begin();
  said("inner", inner_kernel(3));
  begin();
  said("many", many_arguments(0.5, 1, 0.25, 2, 3, 4, 5, 6, 7, 0.125));
  double result = -1;
  const int n = 7;
  const double factor = 1.5;
  begin();
  fortran_kernel_("T", &n, &factor, &result);
  said("fortran", result);
  if (setjmp(out) == 0)
    jumping_kernel(2);
  begin();
  said("after a jump", outer_kernel(3));
  pthread_t thread;
  void* of_thread = NULL;
  begin();
  pthread_create(&thread, NULL, in_a_thread, (void*)4L);
  pthread_join(thread, &of_thread);
  said("thread", (double)(long)of_thread);
  void* const plugin = count > 1 ? dlopen(words[1], RTLD_NOW) : NULL;
  if (plugin == NULL)
    return 1;
  int (*const of_plugin)(int) = (int (*)(int))dlsym(plugin, "plugin_kernel");
  begin();
  said("plugin", of_plugin(8));
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0)
    _exit(static_kernel(5) == 15 + sink - 5 && outer_kernel(3) == 6 && of_plugin(8) == 80 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  printf("child %d\n", status);
  return 0;
}
