/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * readlink and realpath: paths that the program is told. It gets the names it knows, not those of the node's files on
 * this machine.
 */
#include "preload/shim.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"
#include "preload/paths/paths.h"

_Noreturn void __chk_fail(void);

static ssize_t copy_text(const char* text, char* buffer, size_t size)
{
  const size_t length = strlen(text);
  const size_t part = length < size ? length : size;
  memcpy(buffer, text, part);
  return (ssize_t)part;
}

/* The text of a link whose path has been translated, or of a descriptor in /proc: it may be a name of ours. */
static ssize_t read_link(int directory, const char* path, char* buffer, size_t size)
{
  struct umw_path room;
  directory = umw_open_descriptor(directory);
  const char* there = umw_path_at(directory, path, &room);
  if (there == path)
    return UMW_REAL(readlinkat)(directory, path, buffer, size);
  if (strcmp(there, umw_gate->program) == 0)
    return copy_text(there, buffer, size);
  char text[PATH_MAX];
  const ssize_t length = UMW_REAL(readlinkat)(directory, there, text, sizeof text - 1);
  if (length < 0)
    return length;
  text[length] = '\0';
  static const char process[] = "../files/proc/"; /* where /proc/self leads (paths.c) */
  if (strncmp(text, process, sizeof process - 1) == 0)
    return copy_text(text + sizeof process - 1, buffer, size);
  return copy_text(umw_path_shown(text), buffer, size);
}

UMW_PUBLIC ssize_t readlink(const char* restrict path, char* restrict buffer, size_t size)
{
  return read_link(AT_FDCWD, path, buffer, size);
}

UMW_PUBLIC ssize_t readlinkat(int directory, const char* restrict path, char* restrict buffer, size_t size)
{
  return read_link(directory, path, buffer, size);
}

UMW_PUBLIC ssize_t __readlink_chk(const char* restrict path, char* restrict buffer, size_t size, size_t room)
{
  if (size > room)
    __chk_fail();
  return read_link(AT_FDCWD, path, buffer, size);
}

UMW_PUBLIC ssize_t __readlinkat_chk(int directory, const char* restrict path, char* restrict buffer, size_t size,
                                    size_t room)
{
  if (size > room)
    __chk_fail();
  return read_link(directory, path, buffer, size);
}

UMW_PUBLIC char* realpath(const char* restrict path, char* restrict resolved)
{
  struct umw_path room;
  char* result = UMW_REAL(realpath)(umw_path_of(path, &room), resolved);
  return result ? umw_path_shown(result) : NULL;
}

UMW_PUBLIC char* __realpath_chk(const char* restrict path, char* restrict resolved, size_t size)
{
  if (size < PATH_MAX)
    __chk_fail();
  return realpath(path, resolved);
}

UMW_PUBLIC char* canonicalize_file_name(const char* path)
{
  return realpath(path, NULL);
}
