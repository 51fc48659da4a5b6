/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Calls that take a path, made from preload/abi/tables/paths.def; what does not fit into its rows follows below.
 * Descriptors that they open are noted, since a number may have had another meaning before.
 */
#include "preload/shim.h"

#include <dirent.h>
#include <ftw.h>
#include <glob.h>
#include <stdarg.h>
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

_Noreturn void __chk_fail(void);

typedef int (*umw_select)(const struct dirent*);
typedef int (*umw_select64)(const struct dirent64*);
typedef int (*umw_compare)(const struct dirent**, const struct dirent**);
typedef int (*umw_compare64)(const struct dirent64**, const struct dirent64**);
typedef const struct timeval* umw_timevals;
typedef const struct timespec* umw_timespecs;

static FILE* opened_stream(FILE* stream)
{
  if (stream && umw_gate)
    stream->_fileno = umw_descriptor(umw_note_opened(UMW_REAL(fileno)(stream)));
  return stream;
}

/* A FIFO, whose other end may have to be waited for. False: it is none. */
static bool fifo_stream(const char* path, const char* mode, FILE** stream)
{
  if (!umw_gate || !path || !mode)
    return false;
  const int flags = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
  const int fd = umw_open_fifo(AT_FDCWD, path, flags);
  if (fd == -2)
    return false;
  *stream = fd < 0 ? NULL : umw_stream_of(umw_note_opened(fd), mode);
  if (fd >= 0 && !*stream)
    close(fd);
  return true;
}

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
    directory = umw_descriptor(directory);                                                                             \
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
    from_directory = umw_descriptor(from_directory);                                                                   \
    to_directory = umw_descriptor(to_directory);                                                                       \
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
#define UMW_PATH_FOLDER(result, name, version, level, note, ...)                                                       \
  UMW_PUBLIC result name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                                         \
  {                                                                                                                    \
    struct umw_path room;                                                                                              \
    path = umw_path_of(path, &room);                                                                                   \
    if (!umw_may_open(1))                                                                                              \
      return NULL;                                                                                                     \
    return opened_directory(UMW_REAL(name)(UMW_LIST(UMW_NAME, __VA_ARGS__)));                                          \
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

/* --- open --------------------------------------------------------------------------------------------------------- */

/* The mode argument is there only if a file may be created; passing it on always does no harm. */
#define MODE_ARGUMENT(mode)                                                                                            \
  mode_t mode;                                                                                                         \
  {                                                                                                                    \
    va_list list;                                                                                                      \
    va_start(list, flags);                                                                                             \
    mode = va_arg(list, mode_t);                                                                                       \
    va_end(list);                                                                                                      \
  }

static int open_at(int directory, const char* path, int flags, mode_t mode)
{
  struct umw_path room;
  if (!umw_may_open(1))
    return -1;
  directory = umw_descriptor(directory);
  const char* there = umw_path_at(directory, path, &room);
  const int fifo = there ? umw_open_fifo(directory, there, flags) : -2;
  return fifo != -2 ? umw_note_opened(fifo)
                    : UMW_UNINTERRUPTED(umw_note_opened(UMW_REAL(openat)(directory, there, flags, mode)));
}

UMW_PUBLIC int open(const char* path, int flags, ...)
{
  MODE_ARGUMENT(mode)
  return open_at(AT_FDCWD, path, flags, mode);
}

UMW_PUBLIC int open64(const char* path, int flags, ...)
{
  MODE_ARGUMENT(mode)
  return open_at(AT_FDCWD, path, flags, mode);
}

UMW_PUBLIC int openat(int directory, const char* path, int flags, ...)
{
  MODE_ARGUMENT(mode)
  return open_at(directory, path, flags, mode);
}

UMW_PUBLIC int openat64(int directory, const char* path, int flags, ...)
{
  MODE_ARGUMENT(mode)
  return open_at(directory, path, flags, mode);
}

UMW_PUBLIC int creat(const char* path, mode_t mode)
{
  return open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

UMW_PUBLIC int creat64(const char* path, mode_t mode)
{
  return creat(path, mode);
}

/* What -D_FORTIFY_SOURCE makes of calls without a mode. */
static int open_without_mode(int directory, const char* path, int flags)
{
  if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
    __chk_fail();
  return open_at(directory, path, flags, 0);
}

UMW_PUBLIC int __open_2(const char* path, int flags)
{
  return open_without_mode(AT_FDCWD, path, flags);
}

UMW_PUBLIC int __open64_2(const char* path, int flags)
{
  return open_without_mode(AT_FDCWD, path, flags);
}

UMW_PUBLIC int __openat_2(int directory, const char* path, int flags)
{
  return open_without_mode(directory, path, flags);
}

UMW_PUBLIC int __openat64_2(int directory, const char* path, int flags)
{
  return open_without_mode(directory, path, flags);
}

static FILE* open_stream(FILE* (*real)(const char*, const char*), const char* path, const char* mode)
{
  struct umw_path room;
  FILE* stream;
  const char* there = umw_path_of(path, &room);
  if (!umw_may_open(1))
    return NULL;
  return fifo_stream(there, mode, &stream) ? stream : opened_stream(real(there, mode));
}

UMW_PUBLIC FILE* fopen(const char* restrict path, const char* restrict mode)
{
  return open_stream(UMW_REAL(fopen), path, mode);
}

UMW_PUBLIC FILE* fopen64(const char* restrict path, const char* restrict mode)
{
  return open_stream(UMW_REAL(fopen64), path, mode);
}

/* The C library closes what the stream had, opens the other and moves it to the same place. */
static FILE* reopen(FILE* (*real)(const char*, const char*, FILE*), const char* path, const char* mode, FILE* stream)
{
  struct umw_path room;
  if (!umw_gate)
    return real(path, mode, stream);
  path = umw_path_of(path, &room);
  const int before = UMW_REAL(fileno)(stream);
  if (before >= 0) {
    fflush(stream); /* while its locks hold */
    umw_note_closing(before);
  }
  FILE* result = real(path, mode, stream);
  const int error = errno;
  const int now = result ? UMW_REAL(fileno)(result) : -1;
  if (now >= 0 && now == before) {
    umw_note_reopened(now);
  } else {
    umw_note_closed(before);
    if (now >= 0)
      opened_stream(result);
  }
  errno = error;
  return result;
}

UMW_PUBLIC FILE* freopen(const char* restrict path, const char* restrict mode, FILE* restrict stream)
{
  return reopen(UMW_REAL(freopen), path, mode, stream);
}

UMW_PUBLIC FILE* freopen64(const char* restrict path, const char* restrict mode, FILE* restrict stream)
{
  return reopen(UMW_REAL(freopen64), path, mode, stream);
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

/* --- links and names ---------------------------------------------------------------------------------------------- */

UMW_PUBLIC int symlink(const char* target, const char* path)
{
  struct umw_path room;
  return UMW_REAL(symlink)(target, umw_path_of(path, &room));
}

UMW_PUBLIC int symlinkat(const char* target, int directory, const char* path)
{
  struct umw_path room;
  directory = umw_descriptor(directory);
  return UMW_REAL(symlinkat)(target, directory, umw_path_at(directory, path, &room));
}

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
  directory = umw_descriptor(directory);
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

UMW_PUBLIC char* getcwd(char* buffer, size_t size)
{
  char path[PATH_MAX];
  if (!umw_gate)
    return UMW_REAL(getcwd)(buffer, size);
  if (buffer && size == 0) {
    errno = EINVAL;
    return NULL;
  }
  if (!UMW_REAL(getcwd)(path, sizeof path))
    return NULL;
  const size_t length = strlen(umw_path_shown(path)) + 1;
  if (size != 0 && length > size) {
    errno = ERANGE;
    return NULL;
  }
  if (!buffer && !(buffer = malloc(size != 0 ? size : length)))
    return NULL;
  return memcpy(buffer, path, length);
}

UMW_PUBLIC char* __getcwd_chk(char* buffer, size_t size, size_t room)
{
  if (size > room)
    __chk_fail();
  return getcwd(buffer, size);
}

/* $PWD if it names the working directory, which may be through a link. */
UMW_PUBLIC char* get_current_dir_name(void)
{
  if (!umw_gate)
    return UMW_REAL(get_current_dir_name)();
  const char* told = getenv("PWD");
  struct stat here, there;
  if (told && *told == '/' && stat(".", &here) == 0 && stat(told, &there) == 0 && here.st_dev == there.st_dev &&
      here.st_ino == there.st_ino)
    return strdup(told);
  return getcwd(NULL, 0);
}

/* The other processes of the node see it in /proc/PID/cwd (runtime/procfs/process_files.cpp). */
static int moved(int result)
{
  if (result != 0)
    return result;
  char path[PATH_MAX], link[PATH_MAX], draft[PATH_MAX];
  umw_path_directory_changed();
  if (getcwd(path, sizeof path) &&
      snprintf(link, sizeof link, "%s/cwd.%d", umw_gate->session_directory, umw_gate->pid) < PATH_MAX &&
      snprintf(draft, sizeof draft, "%s.new", link) < PATH_MAX && UMW_REAL(symlink)(path, draft) == 0)
    UMW_REAL(rename)(draft, link);
  return 0;
}

UMW_PUBLIC int chdir(const char* path)
{
  struct umw_path room;
  if (!umw_gate)
    return UMW_REAL(chdir)(path);
  if (!path) {
    errno = EFAULT;
    return -1;
  }
  return moved(umw_result(umw_change_directory(umw_path_of(path, &room), -1)));
}

UMW_PUBLIC int fchdir(int fd)
{
  if (!umw_gate)
    return UMW_REAL(fchdir)(fd);
  return moved(umw_result(umw_change_directory(NULL, umw_descriptor(fd))));
}

UMW_PUBLIC int inotify_add_watch(int fd, const char* path, uint32_t mask)
{
  struct umw_path room;
  return UMW_REAL(inotify_add_watch)(umw_descriptor(fd), umw_path_of(path, &room), mask);
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

/* --- walks: the C library's own calls inside must take our ways --------------------------------------------------- */

/* glob(3) takes other functions for reading directories. */
static void* glob_open(const char* path)
{
  return opendir(path);
}

static struct dirent* glob_read(void* directory)
{
  return readdir(directory);
}

static void glob_close(void* directory)
{
  closedir(directory);
}

UMW_PUBLIC int glob(const char* restrict pattern, int flags, int (*on_error)(const char*, int), glob_t* restrict result)
{
  if (!umw_gate || flags & GLOB_ALTDIRFUNC)
    return UMW_REAL(glob)(pattern, flags, on_error, result);
  result->gl_opendir = glob_open;
  result->gl_readdir = glob_read;
  result->gl_closedir = glob_close;
  result->gl_stat = stat;
  result->gl_lstat = lstat;
  const int status = UMW_REAL(glob)(pattern, flags | GLOB_ALTDIRFUNC, on_error, result);
  result->gl_flags &= ~GLOB_ALTDIRFUNC;
  return status;
}

static struct dirent64* glob_read64(void* directory)
{
  return readdir64(directory);
}

UMW_PUBLIC int glob64(const char* restrict pattern, int flags, int (*on_error)(const char*, int),
                      glob64_t* restrict result)
{
  if (!umw_gate || flags & GLOB_ALTDIRFUNC)
    return UMW_REAL(glob64)(pattern, flags, on_error, result);
  result->gl_opendir = glob_open;
  result->gl_readdir = glob_read64;
  result->gl_closedir = glob_close;
  result->gl_stat = stat64;
  result->gl_lstat = lstat64;
  const int status = UMW_REAL(glob64)(pattern, flags | GLOB_ALTDIRFUNC, on_error, result);
  result->gl_flags &= ~GLOB_ALTDIRFUNC;
  return status;
}

/* ftw(3) walks by itself; what it finds is named as the program knows it. */
static _Thread_local union {
  __ftw_func_t plain;
  __nftw_func_t with_place;
} walk_visits;

static int visit(const char* path, const struct stat* status, int type)
{
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%s", path);
  return walk_visits.plain(umw_path_shown(name), status, type);
}

static int visit_with_place(const char* path, const struct stat* status, int type, struct FTW* place)
{
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%s", path);
  const size_t base = strlen(path) - (size_t)place->base;
  umw_path_shown(name);
  struct FTW there = {(int)(strlen(name) - base), place->level};
  return walk_visits.with_place(name, status, type, &there);
}

UMW_PUBLIC int ftw(const char* path, __ftw_func_t function, int descriptors)
{
  struct umw_path room;
  const char* there = umw_path_of(path, &room);
  if (there == path)
    return UMW_REAL(ftw)(path, function, descriptors);
  const __typeof__(walk_visits) outer = walk_visits;
  walk_visits.plain = function;
  const int result = UMW_REAL(ftw)(there, visit, descriptors);
  walk_visits = outer;
  return result;
}

UMW_PUBLIC int nftw(const char* path, __nftw_func_t function, int descriptors, int flags)
{
  struct umw_path room;
  const char* there = umw_path_of(path, &room);
  if (there == path)
    return UMW_REAL(nftw)(path, function, descriptors, flags);
  const __typeof__(walk_visits) outer = walk_visits;
  walk_visits.with_place = function;
  const int result = UMW_REAL(nftw)(there, visit_with_place, descriptors, flags);
  walk_visits = outer;
  return result;
}
