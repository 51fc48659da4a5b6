/* SPDX-License-Identifier: LGPL-2.1-or-later
 * /proc shows a process its own threads, while they live, and they can be asked for their cores (as hwloc does). */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 3
static pthread_barrier_t met;
static int tids[THREADS + 1];

static void* live(void* place)
{
  *(int*)place = (int)syscall(SYS_gettid);
  pthread_barrier_wait(&met);
  pthread_barrier_wait(&met);
  return NULL;
}

static int known(int tid)
{
  for (int i = 0; i <= THREADS; ++i)
    if (tids[i] == tid)
      return 1;
  return 0;
}

static void show(const char* when, const char* directory)
{
  int threads = 0, mine = 0, with_cores = 0, with_name = 0;
  DIR* entries = opendir(directory);
  if (!entries) {
    printf("%s: errno %d\n", when, errno);
    return;
  }
  for (struct dirent* entry = readdir(entries); entry; entry = readdir(entries)) {
    const int tid = atoi(entry->d_name);
    if (tid == 0)
      continue;
    ++threads;
    mine += known(tid);
    cpu_set_t cores;
    with_cores += sched_getaffinity(tid, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 0;
    char path[512];
    snprintf(path, sizeof path, "%s/%d/comm", directory, tid);
    FILE* name = fopen(path, "r");
    with_name += name && fgetc(name) != EOF;
    if (name)
      fclose(name);
  }
  closedir(entries);
  struct dirent** list;
  const int scanned = scandir(directory, &list, NULL, NULL);
  for (int i = 0; i < scanned; ++i)
    free(list[i]);
  free(list);
  printf("%s: %d threads, %d known, %d with cores, %d with a name; %d entries\n", when, threads, mine, with_cores,
         with_name, scanned);
}

int main(void)
{
  char by_pid[64];
  snprintf(by_pid, sizeof by_pid, "/proc/%d/task", (int)getpid());
  tids[THREADS] = getpid();
  show("alone", "/proc/self/task");
  pthread_barrier_init(&met, NULL, THREADS + 1);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, live, &tids[i]);
  pthread_barrier_wait(&met);
  show("together", "/proc/self/task");
  show("by pid", by_pid);
  show("with a slash", "/proc/self/task/");
  pthread_barrier_wait(&met);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  return 0;
}
