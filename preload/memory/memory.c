/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the program's memory lies.
 *
 * mmap with a hint: a program that asks for an address above its own data gets one above it, as it would in a process
 * of its own: Sandia OpenSHMEM takes any address below its heap for one of its data segment. Where the kernel has no
 * room there, the mapping goes to the address space that the runtime has reserved (loader/high_memory.h).
 *
 * In a worker process large anonymous memory, above all symmetric heaps, comes out of a file that the runtime has
 * mapped at the same addresses: messages are then copied like in one process, not page by page through the kernel. The
 * program must not notice: what distinguishes private memory from a shared file is done here. What the gate lists is
 * read and written by the runtime; the rest it reaches through the kernel as ever.
 */
#include "preload/shim.h"

#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/descriptors/descriptor_numbers.h"
#include "preload/memory/node_memory.h"

#define PAGE 4096UL
enum { LEAST_SHARED = 1 << 20 };

static uintptr_t page_up(uintptr_t address)
{
  return (address + PAGE - 1) & ~(PAGE - 1);
}

/* Takes `size` bytes of the reserved addresses, at `wanted` if that is free; 0: there are not so many. */
static uintptr_t take(uintptr_t* next, uintptr_t end, uintptr_t wanted, size_t size)
{
  if (size > end - *next)
    return 0;
  const uintptr_t place = wanted > *next && wanted <= end - size ? wanted : *next;
  *next = page_up(place + size);
  return place;
}

static void* take_shared(void* hint, size_t size, int protection, int flags)
{
  struct umw_high_memory* room = umw_gate->high_memory;
  if (size < LEAST_SHARED || !room || size > room->shared_end - room->shared_next || !umw_gate->running ||
      protection != (PROT_READ | PROT_WRITE) || (flags & ~MAP_NORESERVE) != (MAP_PRIVATE | MAP_ANONYMOUS))
    return NULL;
  const uintptr_t wanted = page_up((uintptr_t)hint);
  unsigned char resident;
  if (wanted >= room->shared_begin && wanted < room->shared_next && mincore((void*)wanted, PAGE, &resident) != 0)
    /* unmapped: the kernel puts it there */
    return NULL;
  struct umw_shared_range* range = umw_gate->shared;
  while (range->end != 0)
    if (++range == umw_gate->shared + UMW_SHARED_RANGES)
      return NULL;
  const uintptr_t place = take(&room->shared_next, room->shared_end, wanted, page_up(size));
  if (place < wanted || mprotect((void*)place, page_up(size), protection) != 0)
    return NULL;
  range->begin = place;
  __atomic_store_n(&range->end, place + page_up(size), __ATOMIC_RELEASE);
  return (void*)place;
}

/* Whether any of it may be shared, or has been. */
static bool in_file(const void* address, size_t size)
{
  const struct umw_high_memory* room = umw_gate ? umw_gate->high_memory : NULL;
  return room && room->shared_end != 0 && (uintptr_t)address < room->shared_end &&
         (uintptr_t)address + size > room->file_begin;
}

/* The runtime does not touch it any longer. */
static void withdraw(const void* address, size_t size)
{
  const uintptr_t begin = (uintptr_t)address;
  const uintptr_t end = page_up(begin + size);
  for (struct umw_shared_range* range = umw_gate->shared; range < umw_gate->shared + UMW_SHARED_RANGES; ++range) {
    if (begin >= range->end || end <= range->begin)
      continue;
    const struct umw_shared_range old = *range;
    __atomic_store_n(&range->end, begin > old.begin ? begin : 0, __ATOMIC_RELEASE);
    if (end >= old.end)
      continue;
    struct umw_shared_range* rest = umw_gate->shared;
    while (rest < umw_gate->shared + UMW_SHARED_RANGES && rest->end != 0)
      ++rest;
    if (rest == umw_gate->shared + UMW_SHARED_RANGES)
      continue;
    rest->begin = end;
    __atomic_store_n(&rest->end, old.end, __ATOMIC_RELEASE);
  }
}

void umw_unshare_memory(void)
{
  const struct umw_high_memory* room = umw_gate->high_memory;
  for (struct umw_shared_range* range = umw_gate->shared; range < umw_gate->shared + UMW_SHARED_RANGES; ++range) {
    const struct umw_shared_range old = *range;
    if (old.end == 0)
      continue;
    __atomic_store_n(&range->end, 0,
                     __ATOMIC_RELEASE); /* from here on through the kernel, which finds the one or the other */
    if (UMW_REAL(mmap)((void*)old.begin, old.end - old.begin, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, room->file,
                       (off_t)(old.begin - room->file_begin)) == MAP_FAILED)
      umw_warn("a child process shares memory with its parent: what it writes there will show");
  }
}

static void* map(void* hint, size_t size, int protection, int flags, int fd, off_t offset)
{
  if (umw_gate && size >= LEAST_SHARED) {
    void* shared = take_shared(hint, size, protection, flags);
    if (shared)
      return shared;
  }
  if (flags & MAP_FIXED && in_file(hint, size))
    withdraw(hint, size);
  void* got = UMW_REAL(mmap)(hint, size, protection, flags, fd, offset);
  if (flags & MAP_FIXED && got != MAP_FAILED)
    umw_note_unmapped(got, size);
  const int placed = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT | MAP_HUGETLB;
  if (!umw_gate || !hint || flags & placed || got == MAP_FAILED || (uintptr_t)got >= ((uintptr_t)hint & ~(PAGE - 1)))
    return got;
  struct umw_high_memory* room = umw_gate->high_memory;
  const uintptr_t place = room ? take(&room->next, room->end, page_up((uintptr_t)hint), size) : 0;
  if (!place)
    return got;
  void* high = UMW_REAL(mmap)((void*)place, size, protection, flags | MAP_FIXED, fd, offset);
  if (high == MAP_FAILED)
    return got;
  UMW_REAL(munmap)(got, size);
  return high;
}

void* umw_map(void* hint, size_t size, int protection, int flags, int fd, int64_t offset)
{
  void* got = map(hint, size, protection, flags, fd, offset);
  const int type = flags & MAP_TYPE;
  if (got != MAP_FAILED && (type == MAP_SHARED || type == MAP_SHARED_VALIDATE) && !(flags & MAP_ANONYMOUS))
    umw_note_mapped(got, size, fd, (uint64_t)offset);
  return got;
}

UMW_PUBLIC void* mmap(void* hint, size_t size, int protection, int flags, int fd, off_t offset)
{
  return umw_map(hint, size, protection, flags, umw_open_descriptor(fd), offset);
}

UMW_PUBLIC void* mmap64(void* hint, size_t size, int protection, int flags, int fd, off_t offset)
{
  return mmap(hint, size, protection, flags, fd, offset);
}

UMW_PUBLIC int munmap(void* address, size_t size)
{
  if ((uintptr_t)address % PAGE == 0 && in_file(address, size)) {
    withdraw(address, size);
    (void)!UMW_REAL(madvise)(address, size,
                             MADV_REMOVE); /* the file keeps nothing; fails if not all of it is of the file */
  }
  const int result = UMW_REAL(munmap)(address, size);
  if (result == 0)
    umw_note_unmapped(address, size);
  return result;
}

UMW_PUBLIC int mprotect(void* address, size_t size, int protection)
{
  if ((protection & (PROT_READ | PROT_WRITE)) != (PROT_READ | PROT_WRITE) && in_file(address, size))
    withdraw(address, size);
  return UMW_REAL(mprotect)(address, size, protection);
}

/* Pages of a file do not go away because nobody wants them. */
static int advise(void* address, size_t size, int advice)
{
  if ((advice != MADV_DONTNEED && advice != MADV_FREE) || (uintptr_t)address % PAGE != 0 || !in_file(address, size))
    return UMW_REAL(madvise)(address, size, advice);
  if (UMW_REAL(madvise)(address, size, MADV_REMOVE) != 0)
    memset(address, 0, page_up(size));
  return 0;
}

UMW_PUBLIC int madvise(void* address, size_t size, int advice)
{
  return advise(address, size, advice);
}

/* --- the break: a process has one, so each rank has a range of its own -------------------------------------------- */

static struct {
  uintptr_t begin, now, end;
} data;

static bool begin_data(void)
{
  const size_t most = (size_t)16 << 30; /* addresses; pages come when they are touched */
  for (size_t size = most; !data.begin && size >= (size_t)64 << 20; size /= 4) {
    void* place = UMW_REAL(mmap)(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED)
      continue;
    data.begin = data.now = (uintptr_t)place;
    data.end = data.begin + size;
  }
  return data.begin != 0;
}

UMW_PUBLIC int brk(void* address)
{
  if (!umw_gate)
    return UMW_REAL(brk)(address);
  const uintptr_t wanted = (uintptr_t)address;
  if (!begin_data() || wanted < data.begin || wanted > data.end) {
    errno = ENOMEM;
    return -1;
  }
  const uintptr_t before = page_up(data.now), after = page_up(wanted);
  if (after > before && UMW_REAL(mprotect)((void*)before, after - before, PROT_READ | PROT_WRITE) != 0)
    return -1;
  if (after < before && UMW_REAL(mmap)((void*)after, before - after, PROT_NONE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    return -1;
  data.now = wanted;
  return 0;
}

UMW_PUBLIC void* sbrk(intptr_t increment)
{
  if (!umw_gate)
    return UMW_REAL(sbrk)(increment);
  if (!begin_data()) {
    errno = ENOMEM;
    return (void*)-1;
  }
  const uintptr_t before = data.now;
  return increment == 0 || brk((void*)(before + (uintptr_t)increment)) == 0 ? (void*)before : (void*)-1;
}

/* A mapping of the file that grows would show what lies behind it in the file: it is copied instead. */
UMW_PUBLIC void* mremap(void* address, size_t size, size_t new_size, int flags, ...)
{
  va_list rest;
  va_start(rest, flags);
  void* place = flags & MREMAP_FIXED ? va_arg(rest, void*) : NULL;
  va_end(rest);
  if ((uintptr_t)address % PAGE != 0 || size == 0 || new_size == 0 || !in_file(address, size)) {
    if (place && in_file(place, new_size))
      withdraw(place, new_size);
    void* moved = UMW_REAL(mremap)(address, size, new_size, flags, place);
    if (moved != MAP_FAILED)
      umw_note_moved(address, size, moved, new_size);
    return moved;
  }
  if (!place && page_up(new_size) <= page_up(size)) {
    if (page_up(new_size) < page_up(size))
      munmap((char*)address + page_up(new_size), page_up(size) - page_up(new_size));
    return address;
  }
  if (!(flags & MREMAP_MAYMOVE)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* moved =
      map(place, new_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
  if (moved == MAP_FAILED)
    return moved;
  memcpy(moved, address, size < new_size ? size : new_size);
  if (!(flags & MREMAP_DONTUNMAP))
    munmap(address, size);
  else
    advise(address, size, MADV_DONTNEED);
  return moved;
}
