/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Children of posix_spawn(3) and what is made of it: plain processes outside the simulation, that have the rank's
 * descriptors by the numbers by which the program knows them (descriptor_numbers.h). Table:
 * preload/abi/tables/process.def. */
#include "preload/shim.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"
#include "preload/process/spawn.h"

typedef int spawn_call(pid_t* restrict, const char* restrict, const posix_spawn_file_actions_t*,
                       const posix_spawnattr_t* restrict, char* const[restrict], char* const[restrict]);

/* Room for so many, so that nobody who is no_preempt waits for another thread that has the heap. */
static int make_room(posix_spawn_file_actions_t* actions, int count)
{
  int error = 0;
  for (int i = 0; i < count && error == 0; ++i)
    error = posix_spawn_file_actions_addclose(actions, 0);
  actions->__used = 0;
  return error;
}

static void keep_to_this_thread(bool keep)
{
  if (umw_gate)
    umw_gate->no_preempt = keep;
}

static int spawn(spawn_call* call, pid_t* pid, const char* path, const posix_spawn_file_actions_t* wanted,
                 const posix_spawnattr_t* attributes, char* const argv[], char* const envp[])
{
  if (!umw_gate)
    return call(pid, path, wanted, attributes, argv, envp);
  const int before = errno;
  pid_t child = -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int error = make_room(&actions, umw_count_for_spawned(wanted));
  keep_to_this_thread(true);
  if (error == 0)
    error = umw_numbers_of_spawned(&actions, wanted);
  if (error == 0)
    error = call(&child, path, &actions, attributes, argv, envp);
  keep_to_this_thread(false);
  free(actions.__actions); /* not what they point to */
  errno = before;
  if (error != 0)
    return error;
  umw_note_child(child);
  if (pid)
    *pid = child;
  return 0;
}

UMW_PUBLIC int posix_spawn(pid_t* restrict pid, const char* restrict path, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* restrict attributes, char* const argv[restrict],
                           char* const envp[restrict])
{
  return spawn(UMW_REAL(posix_spawn), pid, path, actions, attributes, argv, envp);
}

UMW_PUBLIC int posix_spawnp(pid_t* restrict pid, const char* restrict file, const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* restrict attributes, char* const argv[restrict],
                            char* const envp[restrict])
{
  return spawn(UMW_REAL(posix_spawnp), pid, file, actions, attributes, argv, envp);
}

static int spawn_shell(pid_t* child, const char* command, const posix_spawn_file_actions_t* actions)
{
  char* const argv[] = {"sh", "-c", (char*)command, NULL};
  return posix_spawn(child, "/bin/sh", actions, NULL, argv, environ);
}

static pid_t wait_for(pid_t child, int* status)
{
  pid_t found;
  do
    found = waitpid(child, status, 0);
  while (found < 0 && errno == EINTR);
  return found;
}

/* As the C library's, but that the child has the rank's descriptors. */
UMW_PUBLIC int system(const char* command)
{
  if (!umw_gate || !command)
    return UMW_REAL(system)(command);
  pid_t child;
  const int error = spawn_shell(&child, command, NULL);
  if (error == ENOMEM || error == EAGAIN) {
    errno = error;
    return -1;
  }
  int status = 127 << 8;
  return error == 0 && wait_for(child, &status) < 0 ? -1 : status;
}

/* --- popen(3): likewise ------------------------------------------------------------------------------------------- */

struct child_stream {
  FILE* stream;
  pid_t child;
  struct child_stream* next;
};

static struct child_stream* child_streams;

static void add(struct child_stream* entry)
{
  keep_to_this_thread(true);
  entry->next = child_streams;
  child_streams = entry;
  keep_to_this_thread(false);
}

/* The child of `stream`, which is forgotten; -1: it is none of popen. */
static pid_t take(FILE* stream)
{
  keep_to_this_thread(true);
  struct child_stream** link = &child_streams;
  while (*link && (*link)->stream != stream)
    link = &(*link)->next;
  struct child_stream* entry = *link;
  if (entry)
    *link = entry->next;
  keep_to_this_thread(false);
  const pid_t child = entry ? entry->child : -1;
  free(entry);
  return child;
}

bool umw_is_child_stream(const FILE* stream)
{
  const struct child_stream* each = child_streams;
  while (each && each->stream != stream)
    each = each->next;
  return each != NULL;
}

static int count_child_streams(void)
{
  keep_to_this_thread(true);
  int count = 0;
  for (const struct child_stream* each = child_streams; each; each = each->next)
    ++count;
  keep_to_this_thread(false);
  return count;
}

/* The child gets `end` there, and none of the streams of children before it, popen(3). */
static int spawn_at(pid_t* child, const char* command, int end, int number)
{
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int error = make_room(&actions, count_child_streams() + 8);
  keep_to_this_thread(true);
  if (error == 0)
    error = posix_spawn_file_actions_adddup2(&actions, end, number);
  for (const struct child_stream* each = child_streams; each && error == 0; each = each->next) {
    const int other = umw_number(UMW_REAL(fileno)(each->stream));
    if (other != number)
      error = posix_spawn_file_actions_addclose(&actions, other);
  }
  keep_to_this_thread(false);
  if (error == 0)
    error = spawn_shell(child, command, &actions);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

UMW_PUBLIC FILE* popen(const char* command, const char* mode)
{
  if (!umw_gate)
    return UMW_REAL(popen)(command, mode);
  bool reads = false, writes = false, closes = false, known = true;
  for (const char* letter = mode; *letter; ++letter) {
    reads |= *letter == 'r';
    writes |= *letter == 'w';
    closes |= *letter == 'e';
    known &= *letter == 'r' || *letter == 'w' || *letter == 'e';
  }
  if (!known || reads == writes) {
    errno = EINVAL;
    return NULL;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return NULL;
  const int own = ends[writes], other = ends[reads];
  struct child_stream* entry = malloc(sizeof *entry);
  FILE* stream =
      entry ? UMW_REAL(fdopen)(umw_descriptor(own), reads ? "r" : "w") : NULL; /* waits for the child alone */
  int error = stream ? spawn_at(&entry->child, command, other, reads ? 1 : 0) : errno;
  close(other);
  if (stream && error == 0) {
    entry->stream = stream;
    add(entry);
    if (!closes)
      fcntl(own, F_SETFD, 0);
    return stream;
  }
  if (stream)
    fclose(stream);
  else
    close(own);
  free(entry);
  errno = error;
  return NULL;
}

UMW_PUBLIC int pclose(FILE* stream)
{
  const pid_t child = take(stream);
  if (child < 0)
    return UMW_REAL(pclose)(stream);
  int status;
  fclose(stream);
  return wait_for(child, &status) < 0 ? -1 : status;
}
