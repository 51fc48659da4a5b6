/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Calls that take a path, made from preload/abi/tables/paths.def, and those that need little more than a row. Those
 * that open are in open.c, those that tell a path in path_names.c and working_directory.c, those that walk trees in
 * tree_walks.c. Descriptors that they make are noted, since a number may have had another meaning before.
 */
#include "preload/shim.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "preload/descriptors/descriptors.h"
#include "preload/memory/shm_room.h"
#include "preload/paths/paths.h"

/* The two of either kind are the same on x86-64. */
#define SHM_STATUS(path, status)                                                                                       \
  _Generic((status), struct statfs *                                                                                   \
           : umw_shm_status, struct statfs64 *                                                                         \
           : umw_shm_status, default                                                                                   \
           : umw_shm_status_v)(path, -1, (void*)(status))

/* A table's row cannot write `const struct timeval times[2]`. */
#pragma GCC diagnostic ignored "-Warray-parameter"

typedef int (*umw_select)(const struct dirent*);
typedef int (*umw_select64)(const struct dirent64*);
typedef int (*umw_compare)(const struct dirent**, const struct dirent**);
typedef int (*umw_compare64)(const struct dirent64**, const struct dirent64**);
typedef const struct timeval* umw_timevals;
typedef const struct timespec* umw_timespecs;

static DIR* opened_directory(DIR* directory)
{
  if (directory && umw_gate)
    umw_note_kept(UMW_REAL(dirfd)(directory));
  return directory;
}

/* What follows the directory of a pattern is what mkstemp has filled in. */
static void take_over(char* pattern, const char* made)
{
  const size_t length = strlen(pattern);
  memcpy(pattern, made + strlen(made) - length, length);
}

#define UMW_PATH(result, name, version, level, note, ...)                                                              \
  UMW_PUBLIC result name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                                         \
  {                                                                                                                    \
    struct umw_path room;                                                                                              \
    path = umw_path_of(path, &room);                                                                                   \
    return UMW_REAL(name)(UMW_LIST(UMW_NAME, __VA_ARGS__));                                                            \
  }
#define UMW_PATH_AT(result, name, version, level, note, ...)                                                           \
  UMW_PUBLIC result name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                                         \
  {                                                                                                                    \
    struct umw_path room;                                                                                              \
    directory = umw_open_descriptor(directory);                                                                        \
    path = umw_path_at(directory, path, &room);                                                                        \
    return UMW_REAL(name)(UMW_LIST(UMW_NAME, __VA_ARGS__));                                                            \
  }
#define UMW_PATH_PAIR(result, name, version, level, note, ...)                                                         \
  UMW_PUBLIC result name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                                         \
  {                                                                                                                    \
    struct umw_path rooms[2];                                                                                          \
    from = umw_path_of(from, &rooms[0]);                                                                               \
    to = umw_path_of(to, &rooms[1]);                                                                                   \
    return UMW_REAL(name)(UMW_LIST(UMW_NAME, __VA_ARGS__));                                                            \
  }
#define UMW_PATH_PAIR_AT(result, name, version, level, note, ...)                                                      \
  UMW_PUBLIC result name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                                         \
  {                                                                                                                    \
    struct umw_path rooms[2];                                                                                          \
    from_directory = umw_open_descriptor(from_directory);                                                              \
    to_directory = umw_open_descriptor(to_directory);                                                                  \
    from = umw_path_at(from_directory, from, &rooms[0]);                                                               \
    to = umw_path_at(to_directory, to, &rooms[1]);                                                                     \
    return UMW_REAL(name)(UMW_LIST(UMW_NAME, __VA_ARGS__));                                                            \
  }
#define UMW_PATH_NEW(result, name, version, level, note, ...)                                                          \
  UMW_PUBLIC result name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                                         \
  {                                                                                                                    \
    struct umw_path room;                                                                                              \
    char* const pattern = path;                                                                                        \
    path = (char*)umw_path_of(pattern, &room);                                                                         \
    const result fd =                                                                                                  \
        umw_may_open(1) ? UMW_UNINTERRUPTED(umw_note_opened(UMW_REAL(name)(UMW_LIST(UMW_NAME, __VA_ARGS__)))) : -1;    \
    if (fd >= 0 && path != pattern)                                                                                    \
      take_over(strrchr(pattern, '/') ? strrchr(pattern, '/') : pattern, path);                                        \
    return fd;                                                                                                         \
  }
#define UMW_PATH_DIRECTORY(result, name, version, level, note, ...)                                                    \
  UMW_PUBLIC result name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                                         \
  {                                                                                                                    \
    struct umw_path room;                                                                                              \
    path = umw_path_of(path, &room);                                                                                   \
    if (!umw_may_open(1))                                                                                              \
      return NULL;                                                                                                     \
    return UMW_OPENING(opened_directory(UMW_REAL(name)(UMW_LIST(UMW_NAME, __VA_ARGS__))));                             \
  }
#define UMW_PATH_FS(result, name, version, level, note, ...)                                                           \
  UMW_PUBLIC result name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                                         \
  {                                                                                                                    \
    struct umw_path room;                                                                                              \
    path = umw_path_of_file_system(path, &room);                                                                       \
    const result answer = UMW_REAL(name)(UMW_LIST(UMW_NAME, __VA_ARGS__));                                             \
    if (answer == 0)                                                                                                   \
      SHM_STATUS(path, status);                                                                                        \
    return answer;                                                                                                     \
  }
#define UMW_PATH_OTHER(name, version, level, note)
#include "preload/abi/tables/paths.def"

/* --- written by hand ---------------------------------------------------------------------------------------------- */

UMW_PUBLIC int symlink(const char* target, const char* path)
{
  struct umw_path room;
  return UMW_REAL(symlink)(target, umw_path_of(path, &room));
}

UMW_PUBLIC int symlinkat(const char* target, int directory, const char* path)
{
  struct umw_path room;
  directory = umw_open_descriptor(directory);
  return UMW_REAL(symlinkat)(target, directory, umw_path_at(directory, path, &room));
}

UMW_PUBLIC int inotify_add_watch(int fd, const char* path, uint32_t mask)
{
  struct umw_path room;
  return UMW_REAL(inotify_add_watch)(umw_open_descriptor(fd), umw_path_of(path, &room), mask);
}

UMW_PUBLIC char* mkdtemp(char* pattern)
{
  struct umw_path room;
  char* path = (char*)umw_path_of(pattern, &room);
  if (!UMW_REAL(mkdtemp)(path))
    return NULL;
  if (path != pattern)
    take_over(strrchr(pattern, '/') ? strrchr(pattern, '/') : pattern, path);
  return pattern;
}

/* --- stat of programs built before glibc 2.33 --------------------------------------------------------------------- */

/* Of x86-64, the only version of the structure (glibc's sysdeps/unix/sysv/linux/x86/bits/stat.h). */
enum { stat_version = 1 };

static bool is_known(int version)
{
  if (version == stat_version || version == 0)
    return true;
  errno = EINVAL;
  return false;
}

#define OLD_STAT(name, now, type)                                                                                      \
  UMW_PUBLIC int name(int version, const char* path, type* status)                                                     \
  {                                                                                                                    \
    return is_known(version) ? now(path, status) : -1;                                                                 \
  }
OLD_STAT(__xstat, stat, struct stat)
OLD_STAT(__xstat64, stat64, struct stat64)
OLD_STAT(__lxstat, lstat, struct stat)
OLD_STAT(__lxstat64, lstat64, struct stat64)

UMW_PUBLIC int __fxstatat(int version, int directory, const char* path, struct stat* status, int flags)
{
  return is_known(version) ? fstatat(directory, path, status, flags) : -1;
}

UMW_PUBLIC int __fxstatat64(int version, int directory, const char* path, struct stat64* status, int flags)
{
  return is_known(version) ? fstatat64(directory, path, status, flags) : -1;
}
