/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Calls that take a descriptor, made from preload/abi/tables/descriptors.def; what does not fit into its rows follows
 * below.
 */
#include "preload/shim.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"

_Noreturn void __chk_fail(void);

/* A table's row cannot write `const struct timeval times[2]`. */
#pragma GCC diagnostic ignored "-Warray-parameter"
typedef const struct timeval* umw_timevals;
typedef const struct timespec* umw_timespecs;

#define UMW_FD(result, name, version, level, note, ...)                                                                \
  UMW_PUBLIC result name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                                         \
  {                                                                                                                    \
    fd = umw_open_descriptor(fd);                                                                                      \
    return UMW_REAL(name)(UMW_LIST(UMW_NAME, __VA_ARGS__));                                                            \
  }
#define UMW_FD_PAIR(result, name, version, level, note, ...)                                                           \
  UMW_PUBLIC result name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                                         \
  {                                                                                                                    \
    fd = umw_open_descriptor(fd);                                                                                      \
    other = umw_open_descriptor(other);                                                                                \
    return UMW_REAL(name)(UMW_LIST(UMW_NAME, __VA_ARGS__));                                                            \
  }
#define UMW_FD_NEW(name, version, level, note, ...)                                                                    \
  UMW_PUBLIC int name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                                                            \
  {                                                                                                                    \
    if (!umw_may_open(1))                                                                                              \
      return -1;                                                                                                       \
    return UMW_UNINTERRUPTED(umw_note_opened(UMW_REAL(name)(UMW_LIST(UMW_NAME, __VA_ARGS__))));                        \
  }
#define UMW_FD_OTHER(name, version, level, note)
#include "preload/abi/tables/descriptors.def"

/* Of x86-64, the only version of the structure (glibc's sysdeps/unix/sysv/linux/x86/bits/stat.h). */
static bool is_known(int version)
{
  if (version == 0 || version == 1)
    return true;
  errno = EINVAL;
  return false;
}

UMW_PUBLIC int __fxstat(int version, int fd, struct stat* status)
{
  return is_known(version) ? fstat(fd, status) : -1;
}

UMW_PUBLIC int __fxstat64(int version, int fd, struct stat64* status)
{
  return is_known(version) ? fstat64(fd, status) : -1;
}

UMW_PUBLIC ssize_t __pread_chk(int fd, void* buffer, size_t size, off_t offset, size_t room)
{
  if (size > room)
    __chk_fail();
  return pread(fd, buffer, size, offset);
}

UMW_PUBLIC ssize_t __pread64_chk(int fd, void* buffer, size_t size, off64_t offset, size_t room)
{
  return __pread_chk(fd, buffer, size, offset, room);
}

UMW_PUBLIC DIR* fdopendir(int fd)
{
  return UMW_REAL(fdopendir)(umw_open_descriptor(fd));
}

UMW_PUBLIC int eventfd_read(int fd, eventfd_t* value)
{
  return read(fd, value, sizeof *value) == sizeof *value ? 0 : -1;
}

UMW_PUBLIC int eventfd_write(int fd, eventfd_t value)
{
  return write(fd, &value, sizeof value) == sizeof value ? 0 : -1;
}

static FILE* made(FILE* stream)
{
  if (stream && umw_gate)
    stream->_fileno = umw_descriptor(umw_note_opened(UMW_REAL(fileno)(stream)));
  return stream;
}

UMW_PUBLIC FILE* tmpfile(void)
{
  return umw_may_open(1) ? UMW_OPENING(made(UMW_REAL(tmpfile)())) : NULL;
}

UMW_PUBLIC FILE* tmpfile64(void)
{
  return umw_may_open(1) ? UMW_OPENING(made(UMW_REAL(tmpfile64)())) : NULL;
}
