/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Standard descriptors and the paths by which a program finds itself. All ranks of a process share its descriptors, so a
 * rank's 0, 1 and 2 may lead elsewhere: the gate says where. The C library's own streams are redirected once by their
 * descriptor number, direct calls are translated here.
 */
#include "preload/shim.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int translate(int fd)
{
  return umw_gate && fd >= 0 && fd <= 2 ? umw_gate->standard_fds[fd] : fd;
}

void umw_standard_streams(void)
{
  FILE* const streams[3] = {stdin, stdout, stderr};
  for (int i = 0; i < 3; ++i)
    streams[i]->_fileno = umw_gate->standard_fds[i];
  setvbuf(stdout, NULL, _IOLBF, 0); /* under mpirun a rank writes to a pseudo-terminal */
}

UMW_PUBLIC ssize_t read(int fd, void* buffer, size_t size)
{
  const int own = translate(fd);
  ssize_t result;
  do
    result = UMW_REAL(read)(own, buffer, size);
  while (result < 0 && umw_pmi_read_again(own));
  return result;
}

UMW_PUBLIC ssize_t readv(int fd, const struct iovec* parts, int count)
{
  const int own = translate(fd);
  ssize_t result;
  do
    result = UMW_REAL(readv)(own, parts, count);
  while (result < 0 && umw_pmi_read_again(own));
  return result;
}

/* The launcher, or another thread of the rank, may wait for what was written. */
static ssize_t written(int fd, ssize_t result)
{
  if (!umw_gate)
    return result;
  umw_pmi_written(fd);
  ++umw_gate->wakes;
  if (umw_descriptor_waiters > 0)
    umw_thread_wake(0);
  return result;
}

UMW_PUBLIC ssize_t write(int fd, const void* buffer, size_t size)
{
  const int own = translate(fd);
  return written(own, UMW_REAL(write)(own, buffer, size));
}

UMW_PUBLIC ssize_t writev(int fd, const struct iovec* parts, int count)
{
  const int own = translate(fd);
  return written(own, UMW_REAL(writev)(own, parts, count));
}

UMW_PUBLIC int close(int fd)
{
  const int own = translate(fd);
  if (own != fd)
    umw_gate->standard_fds[fd] = -1; /* closed for this rank alone */
  return UMW_REAL(close)(own);
}

UMW_PUBLIC int dup(int fd)
{
  return UMW_REAL(dup)(translate(fd));
}

UMW_PUBLIC int dup2(int from, int to)
{
  const int own = translate(to);
  const int result = UMW_REAL(dup2)(translate(from), own);
  return result == own ? to : result;
}

UMW_PUBLIC int dup3(int from, int to, int flags)
{
  const int own = translate(to);
  const int result = UMW_REAL(dup3)(translate(from), own, flags);
  return result == own ? to : result;
}

/* The number the program knows its stream by. */
static int number_of(int fd)
{
  for (int i = 0; umw_gate && i < 3; ++i)
    if (fd >= 0 && fd == umw_gate->standard_fds[i])
      return i;
  return fd;
}

UMW_PUBLIC int fileno(FILE* stream)
{
  return number_of(UMW_REAL(fileno)(stream));
}

UMW_PUBLIC int fileno_unlocked(FILE* stream)
{
  return number_of(UMW_REAL(fileno_unlocked)(stream));
}

UMW_PUBLIC int vdprintf(int fd, const char* restrict format, va_list arguments)
{
  return UMW_REAL(vdprintf)(translate(fd), format, arguments);
}

UMW_PUBLIC int dprintf(int fd, const char* restrict format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int result = UMW_REAL(vdprintf)(translate(fd), format, arguments);
  va_end(arguments);
  return result;
}

const char* umw_program_path(const char* path)
{
  if (!umw_gate || !path || strncmp(path, "/proc/", 6) != 0)
    return path;
  char own[32];
  snprintf(own, sizeof own, "/proc/%d/exe", umw_gate->pid);
  return strcmp(path, "/proc/self/exe") == 0 || strcmp(path, own) == 0 ? umw_gate->program : path;
}

static ssize_t copy_link(const char* target, char* buffer, size_t size)
{
  const size_t length = strlen(target);
  const size_t part = length < size ? length : size;
  memcpy(buffer, target, part);
  return (ssize_t)part;
}

UMW_PUBLIC ssize_t readlink(const char* restrict path, char* restrict buffer, size_t size)
{
  const char* program = umw_program_path(path);
  return program == path ? UMW_REAL(readlink)(path, buffer, size) : copy_link(program, buffer, size);
}

UMW_PUBLIC ssize_t readlinkat(int folder, const char* restrict path, char* restrict buffer, size_t size)
{
  const char* program = umw_program_path(path);
  return program == path ? UMW_REAL(readlinkat)(folder, path, buffer, size) : copy_link(program, buffer, size);
}

UMW_PUBLIC char* realpath(const char* restrict path, char* restrict resolved)
{
  return UMW_REAL(realpath)(umw_program_path(path), resolved);
}

UMW_PUBLIC char* canonicalize_file_name(const char* path)
{
  return UMW_REAL(canonicalize_file_name)(umw_program_path(path));
}

/* The mode argument is there only if a file may be created; passing it on always does no harm. */
#define MODE_ARGUMENT(mode)                                                                                            \
  mode_t mode;                                                                                                         \
  {                                                                                                                    \
    va_list list;                                                                                                      \
    va_start(list, flags);                                                                                             \
    mode = va_arg(list, mode_t);                                                                                       \
    va_end(list);                                                                                                      \
  }

UMW_PUBLIC int open(const char* path, int flags, ...)
{
  MODE_ARGUMENT(mode)
  return UMW_REAL(open)(umw_program_path(path), flags, mode);
}

UMW_PUBLIC int open64(const char* path, int flags, ...)
{
  MODE_ARGUMENT(mode)
  return UMW_REAL(open64)(umw_program_path(path), flags, mode);
}

UMW_PUBLIC int openat(int folder, const char* path, int flags, ...)
{
  MODE_ARGUMENT(mode)
  return UMW_REAL(openat)(folder, umw_program_path(path), flags, mode);
}

UMW_PUBLIC int openat64(int folder, const char* path, int flags, ...)
{
  MODE_ARGUMENT(mode)
  return UMW_REAL(openat64)(folder, umw_program_path(path), flags, mode);
}

UMW_PUBLIC FILE* fopen(const char* restrict path, const char* restrict mode)
{
  return UMW_REAL(fopen)(umw_program_path(path), mode);
}

UMW_PUBLIC FILE* fopen64(const char* restrict path, const char* restrict mode)
{
  return UMW_REAL(fopen64)(umw_program_path(path), mode);
}
