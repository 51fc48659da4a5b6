/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Time by the time stamp counter, calibrated by the program itself: as long as by the clock. time_stamps PLUGIN */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "time_stamps.h"

static uint64_t here(void)
{
  return __rdtsc();
}

static uint64_t here_with_core(void)
{
  unsigned core;
  return __rdtscp(&core);
}

static uint64_t by_hand(void)
{
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Ticks that go by in a sleep, by what the clock says of it. */
static double rate(uint64_t (*read)(void), useconds_t us)
{
  const double begin = seconds();
  const uint64_t first = read();
  usleep(us);
  const uint64_t last = read();
  return (double)(last - first) / (seconds() - begin);
}

static void check(const char* name, uint64_t (*read)(void))
{
  const double hertz = rate(read, 100000); /* which a busy machine can make longer, but both in the same way */
  const double ratio = rate(read, 20000) / hertz;
  uint64_t last = read();
  int backwards = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = read();
    backwards += now < last;
    last = now;
  }
  const double begin = seconds();
  const uint64_t end = read() + (uint64_t)(hertz * 0.005);
  while (read() < end)
    ;
  const double waited = seconds() - begin;
  printf("%s: ", name);
  if (ratio > 0.97 && ratio < 1.03 && hertz > 1e8 && hertz < 1e10 && backwards == 0 && waited > 0.0048)
    printf("as long as by the clock\n");
  else
    printf("%.0f Hz, ratio %.4f, backwards %d, waited %.4f s for 5 ms\n", hertz, ratio, backwards, waited);
}

/* It is closed and opened again: its code comes back as it is in the file. */
static void check_plugin(const char* path)
{
  for (int time = 0; time < 2; ++time) {
    void* plugin = dlopen(path, RTLD_NOW);
    const double* hertz = plugin ? dlsym(plugin, "plugin_hertz") : NULL;
    if (!hertz) {
      fprintf(stderr, "%s\n", dlerror());
      exit(127); /* nothing to compare with */
    }
    const double ratio = *hertz / rate(here, 20000);
    if (ratio > 0.97 && ratio < 1.03)
      printf("plug-in: as long as by the clock\n");
    else
      printf("plug-in: %.0f Hz, ratio %.4f\n", *hertz, ratio);
    dlclose(plugin);
  }
}

int main(int argc, char** argv)
{
  check("rdtsc", here);
  check("rdtscp", here_with_core);
  check("asm", by_hand);
  check("library", library_time_stamp);
  check_plugin(argc > 1 ? argv[1] : "");
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0)
    _exit(here() < here_with_core() && library_time_stamp() > 0 ? 3 : 4);
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %x\n", status);
  check("after fork", here);
  check_plugin(argc > 1 ? argv[1] : "");
  return 0;
}
