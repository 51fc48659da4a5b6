/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * /proc/PID/task: the threads of the rank, not those of the process that carries it and others. A folder of the session, brought up
 * to date whenever the program names it; the kernel does not know simulated threads, so their entries are empty.
 */
#include "preload/shim.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_THREADS 4096

static bool contains(const int* tids, int count, int tid)
{
  for (int i = 0; i < count; ++i)
    if (tids[i] == tid)
      return true;
  return false;
}

static bool entry_path(char* path, const char* folder, int tid)
{
  return snprintf(path, PATH_MAX, "%s/%d", folder, tid) < PATH_MAX;
}

static void remove_ended(const char* folder, const int* tids, int count)
{
  char path[PATH_MAX];
  DIR* entries = UMW_REAL(opendir)(folder);
  if (!entries)
    return;
  for (struct dirent* entry = readdir(entries); entry; entry = readdir(entries)) {
    const int tid = atoi(entry->d_name);
    if (tid > 0 && !contains(tids, count, tid) && entry_path(path, folder, tid))
      rmdir(path);
  }
  closedir(entries);
}

bool umw_task_folder(char* folder, size_t size)
{
  if ((size_t)snprintf(folder, size, "%s/task.%d", umw_gate->session_folder, umw_gate->pid) >= size)
    return false;
  const int saved = errno;
  static int tids[MOST_THREADS]; /* too large for the stack of some threads */
  const int count = umw_live_threads(tids, MOST_THREADS);
  mkdir(folder, 0700);
  remove_ended(folder, tids, count);
  char path[PATH_MAX];
  for (int i = 0; i < count; ++i)
    if (entry_path(path, folder, tids[i]))
      mkdir(path, 0500);
  errno = saved;
  return true;
}
