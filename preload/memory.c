/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mmap with a hint. A program that asks for an address above its own data gets one above it, as it would in a process of its own:
 * Sandia OpenSHMEM takes any address below its heap for one of its data segment. Where the kernel has no room there, the mapping goes to
 * the address space that the runtime has reserved (loader/high_memory.h).
 */
#include "preload/shim.h"

#include <sys/mman.h>

#define PAGE 4096UL

/* Takes `size` bytes of the reserved addresses, at `wanted` if that is free; 0: there are not so many. */
static uintptr_t take(uintptr_t wanted, size_t size)
{
  struct umw_high_memory* room = umw_gate->high_memory;
  if (!room || size > room->end - room->next)
    return 0;
  const uintptr_t place = wanted > room->next && wanted <= room->end - size ? wanted : room->next;
  room->next = place + ((size + PAGE - 1) & ~(PAGE - 1));
  return place;
}

static void* map(void* hint, size_t size, int protection, int flags, int fd, off_t offset)
{
  void* got = UMW_REAL(mmap)(hint, size, protection, flags, fd, offset);
  const int placed = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT | MAP_HUGETLB;
  if (!umw_gate || !hint || flags & placed || got == MAP_FAILED || (uintptr_t)got >= ((uintptr_t)hint & ~(PAGE - 1)))
    return got;
  const uintptr_t place = take(((uintptr_t)hint + PAGE - 1) & ~(PAGE - 1), size);
  if (!place)
    return got;
  void* high = UMW_REAL(mmap)((void*)place, size, protection, flags | MAP_FIXED, fd, offset);
  if (high == MAP_FAILED)
    return got;
  munmap(got, size);
  return high;
}

UMW_PUBLIC void* mmap(void* hint, size_t size, int protection, int flags, int fd, off_t offset)
{
  return map(hint, size, protection, flags, fd, offset);
}

UMW_PUBLIC void* mmap64(void* hint, size_t size, int protection, int flags, int fd, off_t offset)
{
  return map(hint, size, protection, flags, fd, offset);
}
