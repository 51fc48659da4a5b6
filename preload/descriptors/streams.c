/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams of descriptors on which a call may wait. The C library reads and writes in its own ways, which would wait in
 * the kernel: these streams get ours (fopencookie(3)), and keep their descriptor.
 */
#include "preload/shim.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"

static ssize_t read_stream(void* cookie, char* buffer, size_t size)
{
  return read((int)(intptr_t)cookie, buffer, size);
}

static ssize_t write_stream(void* cookie, const char* buffer, size_t size)
{
  size_t done = 0;
  while (done < size) {
    const ssize_t result = write((int)(intptr_t)cookie, buffer + done, size - done);
    if (result < 0)
      return done > 0 ? (ssize_t)done : 0; /* 0: an error, fopencookie(3) */
    done += (size_t)result;
  }
  return (ssize_t)done;
}

static int close_stream(void* cookie)
{
  return close((int)(intptr_t)cookie);
}

FILE* umw_stream_of(int fd, const char* mode)
{
  const int access = fcntl(fd, F_GETFL) & O_ACCMODE;
  const bool both = strchr(mode, '+') != NULL;
  const bool reads = both || *mode == 'r', writes = both || *mode == 'w' || *mode == 'a';
  if ((!reads && !writes) || (reads && access == O_WRONLY) || (writes && access == O_RDONLY)) {
    errno = EINVAL;
    return NULL;
  }
  const cookie_io_functions_t functions = {read_stream, write_stream, NULL, close_stream};
  FILE* stream = fopencookie((void*)(intptr_t)fd, mode, functions);
  if (!stream)
    return NULL;
  if (strchr(mode, 'e'))
    fcntl(fd, F_SETFD, FD_CLOEXEC);
  stream->_fileno = umw_descriptor(fd); /* for fileno(3) */
  return stream;
}

UMW_PUBLIC FILE* fdopen(int fd, const char* mode)
{
  const int own = umw_open_descriptor(fd);
  return umw_gate && umw_may_wait(own) ? umw_stream_of(fd, mode) : UMW_REAL(fdopen)(own, mode);
}
