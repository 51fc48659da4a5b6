/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Loops that wait, in code that is unloaded, loaded again or copied by fork(2): code_comes_and_goes PLUGIN
 * OTHER_PLUGIN, which are code_plugin.c compiled in two ways. The simulation changes code in which it has seen somebody
 * wait (runtime/rank_host/slices.h). */
#include <dlfcn.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int flag;

static void on_alarm(int number)
{
  (void)number;
  flag = 1;
}

/* The flag is set in so many milliseconds. */
static void set_later(long ms)
{
  const struct itimerval timer = {.it_value = {.tv_usec = ms * 1000}};
  flag = 0;
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &timer, NULL);
}

static const char* const names[] = {"look", "look_pause", "look_twice"};
enum { LOOPS = sizeof names / sizeof *names };

/* Loads it, waits in each of its loops, has it compute, unloads it. Where it was is in `range`, if that is not null. */
static void use(const char* path, uintptr_t range[2])
{
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    printf("%s\n", dlerror());
    exit(1);
  }
  for (int i = 0; i < LOOPS; ++i) {
    int (*loop)(atomic_int*);
    *(void**)&loop = dlsym(library, names[i]);
    for (int round = 0; round < 3; ++round) {
      set_later(20);
      printf(" %d", loop(&flag));
    }
    if (range)
      range[i > 0] = (uintptr_t)loop;
  }
  uint64_t (*compute)(uint64_t);
  *(void**)&compute = dlsym(library, "compute");
  printf(" %016lx\n", (unsigned long)compute(20000000));
  if (dlclose(library) != 0 || dlopen(path, RTLD_NOW | RTLD_NOLOAD))
    printf("still there\n");
}

/* What is mapped where code was stays as it is. */
static void data_in_its_place(const char* path)
{
  uintptr_t range[2];
  use(path, range);
  const uintptr_t page = range[0] & ~(uintptr_t)4095;
  unsigned char* data = mmap((void*)page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  memset(data, 0x5a, 4096);
  mprotect(data, 4096, PROT_READ);
  for (int round = 0; round < 3; ++round) {
    set_later(20);
    while (!flag)
      ;
  }
  int changed = 0;
  for (int i = 0; i < 4096; ++i)
    changed += data[i] != 0x5a;
  printf("changed: %d\n", changed);
  munmap(data, 4096);
}

/* --- in this program itself --------------------------------------------------------------------------------------- */

__attribute__((noinline)) static long wait_here(atomic_int* word, long most)
{
  long rounds = 0;
  while (*word == 0 && rounds < most) {
    ++rounds;
    __builtin_ia32_pause();
  }
  return rounds;
}

__attribute__((noinline)) static void wait_for_good(atomic_int* word)
{
  while (*word == 0)
    ;
}

static void* set_flag(void* unused)
{
  usleep(20000);
  flag = 1;
  return unused;
}

static int status_of(pid_t child)
{
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

static int child(void)
{
  atomic_int never = 0;
  atomic_int set = 1;
  wait_for_good(&set);
  return wait_here(&never, 1000) == 1000 ? 7 : 8;
}

static void fork_after_waiting(int with_thread)
{
  for (int round = 0; round < 3; ++round) {
    pthread_t thread;
    if (with_thread) {
      flag = 0;
      pthread_create(&thread, NULL, set_flag, NULL);
    } else {
      set_later(20);
      wait_for_good(&flag);
      set_later(20);
    }
    wait_here(&flag, 1L << 60);
    fflush(stdout);
    const pid_t forked = fork();
    if (forked == 0)
      _exit(child());
    int terminal;
    const pid_t on_terminal = forkpty(&terminal, NULL, NULL, NULL);
    if (on_terminal == 0)
      _exit(child());
    set_later(20);
    wait_here(&flag, 1L << 60); /* and so does the parent */
    if (with_thread)
      pthread_join(thread, NULL);
    printf("fork: %x", status_of(forked));
    printf(", forkpty: %x\n", status_of(on_terminal));
    close(terminal);
  }
}

int main(int argc, char** argv)
{
  if (argc != 3)
    return 2;
  for (int round = 0; round < 2; ++round)
    for (int i = 1; i < argc; ++i)
      use(argv[i], NULL);
  for (int i = 1; i < argc; ++i)
    data_in_its_place(argv[i]);
  fork_after_waiting(0);
  fork_after_waiting(1);
  return 0;
}
