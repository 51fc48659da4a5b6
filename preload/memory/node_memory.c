/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory that ranks of a node share: which of the rank's addresses lie in files mapped with MAP_SHARED, and copies from
 * and to them. Those take as long as the node's memory says (net_models/node), not as long as they take here, and what
 * is copied into shared memory is there at its own time: the runtime hears of it and lets those look who wait for it
 * (runtime/job/shared_memory.h).
 *
 * memcpy is called all the time, also before this object is initialised: as long as nothing is shared there is one
 * comparison more for each of its addresses.
 */
#include "preload/shim.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/abi/pause.h"
#include "preload/memory/node_memory.h"

_Noreturn void __chk_fail(void);

struct range {
  uintptr_t begin, end;
  struct umw_place place; /* of its first byte */
};
enum { MOST_RANGES = 1024 };
static struct range ranges[MOST_RANGES]; /* ascending */
static unsigned range_count;
static uintptr_t first, extent; /* all of them lie within */

static void find_extent(void)
{
  first = range_count > 0 ? ranges[0].begin : 0;
  extent = range_count > 0 ? ranges[range_count - 1].end - first : 0;
}

/* The first range that ends behind the address. */
static unsigned find(uintptr_t address)
{
  unsigned low = 0, high = range_count;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (ranges[middle].end > address)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static bool in_range(uintptr_t address)
{
  if (address - first >= extent)
    return false;
  const unsigned index = find(address);
  return index < range_count && address >= ranges[index].begin;
}

bool umw_shared_place(const void* address, struct umw_place* place)
{
  if (!in_range((uintptr_t)address))
    return false;
  const struct range* range = &ranges[find((uintptr_t)address)];
  *place = range->place;
  place->offset += (uintptr_t)address - range->begin;
  return true;
}

static void insert(struct range range)
{
  if (range_count == MOST_RANGES) /* taken for private from here on: it works, but others look only now and then */
    return;
  const unsigned index = find(range.begin);
  for (unsigned i = range_count++; i > index; --i)
    ranges[i] = ranges[i - 1];
  ranges[index] = range;
  find_extent();
  umw_memory_mapped(range.place.device, range.place.inode, 1);
}

static void take_out(unsigned index)
{
  const struct range range = ranges[index];
  --range_count;
  for (unsigned i = index; i < range_count; ++i)
    ranges[i] = ranges[i + 1];
  find_extent();
  umw_memory_mapped(range.place.device, range.place.inode, 0);
}

static uintptr_t page_up(uintptr_t address)
{
  return (address + 4095) & ~(uintptr_t)4095;
}

void umw_note_mapped(const void* address, size_t size, int fd, uint64_t offset)
{
  struct stat status;
  const int saved = errno;
  if (umw_gate && UMW_REAL(fstat)(fd, &status) == 0 && S_ISREG(status.st_mode))
    insert(
        (struct range){(uintptr_t)address, page_up((uintptr_t)address + size), {status.st_dev, status.st_ino, offset}});
  errno = saved;
}

void umw_note_unmapped(const void* address, size_t size)
{
  const uintptr_t begin = (uintptr_t)address;
  const uintptr_t end = page_up(begin + size);
  if (!umw_gate || range_count == 0 || begin >= first + extent || end <= first)
    return;
  for (unsigned i = find(begin); i < range_count && ranges[i].begin < end;) {
    const struct range old = ranges[i];
    take_out(i);
    if (old.begin < begin) {
      insert((struct range){old.begin, begin, old.place});
      ++i;
    }
    if (old.end > end) {
      const struct umw_place rest = {old.place.device, old.place.inode, old.place.offset + (end - old.begin)};
      insert((struct range){end, old.end, rest});
    }
  }
}

void umw_note_moved(const void* address, size_t size, const void* moved, size_t new_size)
{
  struct umw_place place;
  if (!umw_gate || !umw_shared_place(address, &place))
    return;
  umw_note_unmapped(address, size);
  insert((struct range){(uintptr_t)moved, page_up((uintptr_t)moved + new_size), place});
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

typedef void* copy_function(void* to, const void* from, size_t size);

/* Until the C library's are known. */
static void* copy_bytes(void* to, const void* from, size_t size)
{
  unsigned char* target = to;
  const unsigned char* source = from;
  if ((uintptr_t)target - (uintptr_t)source >= size) {
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(size) : : "memory");
  } else {
    target += size - 1;
    source += size - 1;
    __asm__ volatile("std; rep movsb; cld" : "+D"(target), "+S"(source), "+c"(size) : : "memory");
  }
  return to;
}

static copy_function* real_memcpy = copy_bytes;
static copy_function* real_memmove = copy_bytes;

void umw_find_copy_functions(void)
{
  *(void**)&real_memcpy = dlsym(RTLD_NEXT, "memcpy");
  *(void**)&real_memmove = dlsym(RTLD_NEXT, "memmove");
}

enum {
  PIECE = 256,  /* into shared memory, right behind the last: the runtime hears of all of them at once */
  SMALL = 4096, /* out of shared memory, need not be told: it changes nothing for others */
  LARGE = 16384 /* goes at the pace of the simulated node's caches and memory */
};

/* What is copied in one piece after the other (Open MPI's are of 128 KiB) is as large as all of them. */
static struct {
  uintptr_t to, from; /* the end of the last */
  size_t size;
} copied;

__attribute__((noinline)) static void* copy_large(void* to, const void* from, size_t size, copy_function* copy)
{
  struct umw_gate* gate = umw_gate;
  if (!gate || !gate->running || !gate->times_copies || gate->paused)
    return copy(to, from, size);
  copied.size = (uintptr_t)to == copied.to && (uintptr_t)from == copied.from ? copied.size + size : size;
  copied.to = (uintptr_t)to + size;
  copied.from = (uintptr_t)from + size;
  const struct umw_copy_level* level = gate->copy_levels;
  while (level->most < copied.size)
    ++level;
  gate->clock.debt_ps += (int64_t)((double)size * level->ps_per_byte);
  umw_begin_pause(gate);
  copy(to, from, size);
  umw_end_pause(gate);
  return to;
}

/* What is packed into shared memory in small pieces is told of once in SMALL bytes: a crossing costs a hundred times
 * what a piece does. Those who wait hear of the last ones when the burst ends, as of plain stores. What is unpacked
 * from it piece by piece comes line after line, so only the first is waited for. */
static struct pieces {
  uintptr_t next; /* right behind the last */
  size_t untold;
} packed, unpacked;

static bool is_piece(struct pieces* pieces, const void* begin, size_t size)
{
  const bool one = size <= PIECE && (uintptr_t)begin == pieces->next && pieces->untold + size <= SMALL;
  pieces->next = (uintptr_t)begin + size;
  pieces->untold = one ? pieces->untold + size : 0;
  return one;
}

__attribute__((noinline)) static void* copy_shared(void* to, const void* from, size_t size, copy_function* copy)
{
  struct umw_gate* gate = umw_gate;
  const bool writes = in_range((uintptr_t)to);
  if (!gate || !gate->running || size == 0 || (!writes && !in_range((uintptr_t)from)))
    return copy(to, from, size);
  if (gate->paused) { /* takes no time, but others may look for it */
    gate->made_progress = UMW_GOT_ON;
    return copy(to, from, size);
  }
  const bool piece = writes ? is_piece(&packed, to, size) : is_piece(&unpacked, from, size);
  if (!piece && (writes || size > SMALL)) {
    umw_memory_copy(size, writes);
  } else {
    gate->clock.debt_ps += (piece ? 0 : gate->line_ps) + (int64_t)((double)size * gate->copy_ps_per_byte);
    gate->made_progress = UMW_GOT_ON;
  }
  umw_begin_pause(gate);
  copy(to, from, size);
  umw_end_pause(gate);
  return to;
}

static inline bool may_be_shared(const void* to, const void* from)
{
  return __builtin_expect(((uintptr_t)to - first < extent) | ((uintptr_t)from - first < extent), 0);
}

static inline void* copy_bytes_as(void* to, const void* from, size_t size, copy_function* copy)
{
  if (may_be_shared(to, from))
    return copy_shared(to, from, size, copy);
  return __builtin_expect(size > LARGE, 0) ? copy_large(to, from, size, copy) : copy(to, from, size);
}

UMW_PUBLIC void* memcpy(void* restrict to, const void* restrict from, size_t size)
{
  return copy_bytes_as(to, from, size, real_memcpy);
}

UMW_PUBLIC void* memmove(void* to, const void* from, size_t size)
{
  return copy_bytes_as(to, from, size, real_memmove);
}

UMW_PUBLIC void* mempcpy(void* restrict to, const void* restrict from, size_t size)
{
  return (char*)memcpy(to, from, size) + size;
}

UMW_PUBLIC void* __memcpy_chk(void* restrict to, const void* restrict from, size_t size, size_t room)
{
  if (size > room)
    __chk_fail();
  return memcpy(to, from, size);
}

UMW_PUBLIC void* __memmove_chk(void* to, const void* from, size_t size, size_t room)
{
  if (size > room)
    __chk_fail();
  return memmove(to, from, size);
}

UMW_PUBLIC void* __mempcpy_chk(void* restrict to, const void* restrict from, size_t size, size_t room)
{
  if (size > room)
    __chk_fail();
  return mempcpy(to, from, size);
}

/* --- memory of other ranks ---------------------------------------------------------------------------------------- */

typedef ssize_t peer_function(pid_t, const struct iovec*, unsigned long, const struct iovec*, unsigned long,
                              unsigned long);

static size_t bytes_of(const struct iovec* parts, unsigned long count)
{
  size_t bytes = 0;
  for (unsigned long i = 0; i < count; ++i)
    bytes += parts[i].iov_len;
  return bytes;
}

/* The kernel does the work, between the processes that carry the ranks, or within the one that does: it knows which
 * addresses there are. What is wrong about the call as such comes before the process is looked for
 * (mm/process_vm_access.c). */
static ssize_t copy_of_peer(pid_t pid, const struct iovec* own, unsigned long own_count, const struct iovec* theirs,
                            unsigned long their_count, unsigned long flags, peer_function* call, bool writes)
{
  if (!umw_gate)
    return call(pid, own, own_count, theirs, their_count, flags);
  if (flags != 0 || own_count > UIO_MAXIOV || their_count > UIO_MAXIOV) {
    errno = EINVAL;
    return -1;
  }
  const size_t here = bytes_of(own, own_count), there = bytes_of(theirs, their_count);
  const int process = umw_result(umw_memory_peer(pid, here < there ? here : there, writes));
  if (process < 0)
    return -1;
  const bool pauses = umw_begin_pause(umw_gate);
  const ssize_t result = call(process, own, own_count, theirs, their_count, flags);
  if (pauses)
    umw_end_pause(umw_gate);
  return result;
}

UMW_PUBLIC ssize_t process_vm_readv(pid_t pid, const struct iovec* own, unsigned long own_count,
                                    const struct iovec* theirs, unsigned long their_count, unsigned long flags)
{
  return copy_of_peer(pid, own, own_count, theirs, their_count, flags, UMW_REAL(process_vm_readv), false);
}

UMW_PUBLIC ssize_t process_vm_writev(pid_t pid, const struct iovec* own, unsigned long own_count,
                                     const struct iovec* theirs, unsigned long their_count, unsigned long flags)
{
  return copy_of_peer(pid, own, own_count, theirs, their_count, flags, UMW_REAL(process_vm_writev), true);
}
