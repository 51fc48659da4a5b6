/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * open and fopen in all their spellings: a path may lead to the node's own version of a file, and opening a FIFO waits
 * for its other end in simulated time. Descriptors are noted, since a number may have had another meaning before.
 */
#include "preload/shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"
#include "preload/paths/paths.h"

_Noreturn void __chk_fail(void);

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
  directory = umw_open_descriptor(directory);
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

static FILE* open_stream(FILE* (*real)(const char*, const char*), const char* path, const char* mode)
{
  struct umw_path room;
  FILE* stream;
  const char* there = umw_path_of(path, &room);
  if (!umw_may_open(1))
    return NULL;
  return fifo_stream(there, mode, &stream) ? stream : UMW_OPENING(opened_stream(real(there, mode)));
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
  FILE* result = UMW_OPENING(real(path, mode, stream));
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
