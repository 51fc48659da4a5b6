/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory that the program maps itself. A piece of it that is unmapped or protected, even in part, becomes memory like
 * any other. */
#include "preload/fold/pieces.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

static void* map(void* hint, size_t size, int protection, int flags, int fd, off_t offset, const void* caller)
{
  if (flags & MAP_FIXED)
    umw_fold_release(hint, size);
  void* got = UMW_REAL(mmap)(hint, size, protection, flags, fd, offset);
  if (got == MAP_FAILED || protection != (PROT_READ | PROT_WRITE) ||
      (flags & ~MAP_NORESERVE) != (MAP_PRIVATE | MAP_ANONYMOUS))
    return got;
  umw_fold_mapped(got, size, caller);
  if (umw_fold_touches_mapped(got, size)) {
    /* Not out of memory that a worker process shares with the runtime, and as what the runtime maps anew will be: it
     * remains one mapping, then. */
    if (UMW_REAL(mmap)(got, size, protection, flags | MAP_FIXED | MAP_NORESERVE, fd, offset) == MAP_FAILED) {
      const int why = errno;
      umw_fold_release(got, size);
      UMW_REAL(munmap)(got, size);
      errno = why;
      return MAP_FAILED;
    }
    UMW_REAL(madvise)(got, size, MADV_NOHUGEPAGE);
  }
  return got;
}

UMW_PUBLIC void* mmap(void* hint, size_t size, int protection, int flags, int fd, off_t offset)
{
  return map(hint, size, protection, flags, fd, offset, __builtin_return_address(0));
}

UMW_PUBLIC void* mmap64(void* hint, size_t size, int protection, int flags, int fd, off_t offset)
{
  return map(hint, size, protection, flags, fd, offset, __builtin_return_address(0));
}

UMW_PUBLIC int munmap(void* address, size_t size)
{
  umw_fold_release(address, size);
  return UMW_REAL(munmap)(address, size);
}

UMW_PUBLIC int mprotect(void* address, size_t size, int protection)
{
  umw_fold_release(address, size);
  return UMW_REAL(mprotect)(address, size, protection);
}

UMW_PUBLIC int madvise(void* address, size_t size, int advice)
{
  switch (advice) {
  case MADV_NORMAL:
  case MADV_RANDOM:
  case MADV_SEQUENTIAL:
  case MADV_WILLNEED:
  case MADV_HUGEPAGE:
  case MADV_NOHUGEPAGE:
    if (umw_fold_touches_mapped(address, size))
      return 0; /* which pages it has is decided by the runtime */
    break;
  case MADV_DONTNEED:
  case MADV_FREE:
    break;
  default:
    umw_fold_release(address, size);
  }
  return UMW_REAL(madvise)(address, size, advice);
}

UMW_PUBLIC void* mremap(void* address, size_t size, size_t new_size, int flags, ...)
{
  va_list rest;
  va_start(rest, flags);
  void* place = flags & MREMAP_FIXED ? va_arg(rest, void*) : NULL;
  va_end(rest);
  if (place)
    umw_fold_release(place, new_size);
  const size_t piece = umw_fold_mapped_size(address);
  if (piece && size == piece && flags & MREMAP_MAYMOVE && !(flags & MREMAP_DONTUNMAP) && (place || new_size > size)) {
    /* The kernel moves what is one mapping. */
    void* moved = map(place, new_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0),
                      -1, 0, __builtin_return_address(0));
    if (moved != MAP_FAILED) {
      umw_fold_copy(moved, address, size < new_size ? size : new_size);
      munmap(address, size);
    }
    return moved;
  }
  umw_fold_release(address, size);
  return UMW_REAL(mremap)(address, size, new_size, flags, place);
}
