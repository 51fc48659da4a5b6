/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * malloc and its like: what is for a rule of --fold becomes a piece of forgetful memory, all else is the C library's,
 * whatever allocator the program has been linked with. */
#include "preload/fold/pieces.h"

#include <string.h>
#include <unistd.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* memory);
size_t malloc_usable_size(void* memory);

#define CALLER __builtin_return_address(0)

UMW_PUBLIC void* malloc(size_t size)
{
  void* piece = umw_fold_allocate(1, size, CALLER);
  return piece ? piece : __libc_malloc(size);
}

UMW_PUBLIC void* calloc(size_t count, size_t size)
{
  size_t all;
  void* piece = __builtin_mul_overflow(count, size, &all) ? NULL : umw_fold_allocate(1, all, CALLER);
  return piece ? piece : __libc_calloc(count, size);
}

UMW_PUBLIC void free(void* memory)
{
  if (!umw_fold_free(memory))
    __libc_free(memory);
}

static void* reallocate(void* memory, size_t size, const void* caller)
{
  const size_t piece = umw_fold_size(memory);
  if (piece && size == 0) {
    umw_fold_free(memory);
    return NULL;
  }
  void* folded = umw_fold_allocate(1, size, caller);
  if (!piece && !folded)
    return __libc_realloc(memory, size);
  void* moved = folded ? folded : __libc_calloc(1, size); /* only what is kept is copied */
  if (!moved)
    return NULL;
  const size_t old_size = memory ? malloc_usable_size(memory) : 0;
  umw_fold_copy(moved, memory, old_size < size ? old_size : size);
  free(memory);
  return moved;
}

UMW_PUBLIC void* realloc(void* memory, size_t size)
{
  return reallocate(memory, size, CALLER);
}

UMW_PUBLIC void* reallocarray(void* memory, size_t count, size_t size)
{
  size_t all;
  if (!__builtin_mul_overflow(count, size, &all))
    return reallocate(memory, all, CALLER);
  errno = ENOMEM;
  return NULL;
}

static void* align(size_t alignment, size_t size, const void* caller)
{
  void* piece = (alignment & (alignment - 1)) == 0 ? umw_fold_allocate(alignment, size, caller) : NULL;
  return piece ? piece : __libc_memalign(alignment, size);
}

UMW_PUBLIC void* memalign(size_t alignment, size_t size)
{
  return align(alignment, size, CALLER);
}

UMW_PUBLIC void* aligned_alloc(size_t alignment, size_t size)
{
  return align(alignment, size, CALLER);
}

UMW_PUBLIC int posix_memalign(void** result, size_t alignment, size_t size)
{
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0)
    return EINVAL;
  const int saved = errno;
  void* memory = align(alignment, size, CALLER);
  errno = saved;
  if (!memory)
    return ENOMEM;
  *result = memory;
  return 0;
}

UMW_PUBLIC void* valloc(size_t size)
{
  return align((size_t)sysconf(_SC_PAGESIZE), size, CALLER);
}

UMW_PUBLIC void* pvalloc(size_t size)
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (size <= SIZE_MAX - page)
    return align(page, (size + page - 1) / page * page, CALLER);
  errno = ENOMEM;
  return NULL;
}

UMW_PUBLIC size_t malloc_usable_size(void* memory)
{
  const size_t piece = umw_fold_size(memory);
  return piece ? piece : UMW_REAL(malloc_usable_size)(memory);
}
