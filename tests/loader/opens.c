/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Usage: opens PLUGIN OTHER
 * Libraries whose initialisers take their time: how they find the world. As nobody but who opens them waits, ranks take
 * no longer than one. Each part of this file is one of the four. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INITIALISER_US = 20000, INITIALISERS = 3 };

int* library_initialised(void);
int plugin_times(void);

static inline void expect(int right, const char* what)
{
  if (!right) {
    fprintf(stderr, "%s\n", what);
    exit(1);
  }
}

#if defined(LIBRARY) /* that the plug-in needs */
int* library_initialised(void)
{
  static int times;
  return &times;
}

__attribute__((constructor)) static void begin(void)
{
  usleep(INITIALISER_US);
  ++*library_initialised();
}
#elif defined(PLUGIN)
static int times;

int plugin_times(void)
{
  return times;
}

__attribute__((constructor)) static void begin(int argc, char** argv, char** envp)
{
  expect(*library_initialised() == 1, "plug-in: expected that what it needs was initialised first");
  expect(argc == 3 && strstr(argv[0], "opens") && !argv[3], "plug-in: expected the program's arguments");
  expect(envp && envp[0] && getenv("PATH"), "plug-in: expected the program's environment");
  expect(dlsym(RTLD_DEFAULT, "puts") != NULL, "plug-in: expected to find a function of the C library");
  void* self = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD); /* an opening within one */
  expect(self && dlclose(self) == 0, "plug-in: expected to be there");
  usleep(INITIALISER_US);
  ++times;
}
#elif defined(OTHER) /* needs what the plug-in, opened for all, has */
__attribute__((constructor)) static void begin(void)
{
  expect(plugin_times() == 1, "other: expected the plug-in to be initialised once");
  usleep(INITIALISER_US);
}
#else
static double now_us(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

int main(int argc, char** argv)
{
  expect(argc == 3, "Usage: opens PLUGIN OTHER");
  const double begun = now_us();
  expect(!dlopen("/nowhere/library.so", RTLD_NOW), "expected no library");
  const char* error = dlerror();
  expect(error && strstr(error, "/nowhere/library.so"), "expected an error that names the library");
  expect(!dlopen(argv[2], RTLD_NOW), "other: expected to lack a function");
  error = dlerror();
  expect(error && strstr(error, "plugin_times"), "expected an error that names the function");
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  expect(plugin != NULL, "expected the plug-in");
  expect(dlopen(argv[1], RTLD_NOW) == plugin, "expected the plug-in again");
  void* other = dlopen(argv[2], RTLD_NOW);
  expect(other != NULL, "expected the other one");
  const double taken = now_us() - begun;
  expect(taken >= INITIALISERS * INITIALISER_US, "expected initialisers to take their time");
  expect(dlclose(other) == 0 && dlclose(plugin) == 0 && dlclose(plugin) == 0, "expected to close them");
  expect(!dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD), "expected the plug-in to be gone");
  fprintf(stderr, "opened\n");
  return 0;
}
#endif
