/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is counted and noted lies in mappings of its own, so that the program's heap is as it would be without. */
#include "preload/mpi/calls.h"

#include <string.h>
#include <sys/mman.h>

enum { CHUNK = 256 << 10, FIRST = 1024, SPARES = 8, FIRST_CAPACITY = 8, FIRST_LABELS = 2, CACHE_LINE = 64 };

struct piece {
  char* memory;
  size_t size;
};
/* At first on the page of this library's variables, which a rank has anyway. */
static _Alignas(CACHE_LINE) char first[FIRST];
static struct piece rest = {first, FIRST};
/* What tables have grown out of, for the next ones. */
static struct piece spare[SPARES];

static struct umw_mpi_map counts, timed_counts;
static struct umw_mpi_counts published;
static uint32_t labels_used, labels_room;

static size_t in_lines(size_t size)
{
  return (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

static void* part_of(struct piece* piece, size_t size)
{
  void* memory = piece->memory;
  piece->memory += size;
  piece->size -= size;
  return memory;
}

static void keep_spare(struct piece piece)
{
  struct piece* least = &spare[0];
  for (unsigned i = 1; i < SPARES; ++i)
    if (spare[i].size < least->size)
      least = &spare[i];
  if (least->size < piece.size)
    *least = piece;
}

void* umw_mpi_memory(size_t size)
{
  size = in_lines(size);
  for (unsigned i = 0; i < SPARES; ++i)
    if (spare[i].size >= size)
      return part_of(&spare[i], size);
  if (size > rest.size) {
    const size_t wanted = size > CHUNK ? size : CHUNK;
    void* mapped = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      return NULL;
    keep_spare(rest);
    rest = (struct piece){mapped, wanted};
  }
  return part_of(&rest, size);
}

void umw_mpi_unuse(void* memory, size_t size)
{
  size = in_lines(size);
  memset(memory, 0, size);
  if ((char*)memory + size != rest.memory) {
    keep_spare((struct piece){memory, size});
    return;
  }
  rest.memory = memory;
  rest.size += size;
}

static void* slot_of(const struct umw_mpi_map* map, size_t entry_size, uint64_t key)
{
  for (uint64_t i = (key ^ key >> 29) * 0x9e3779b97f4a7c15 >> 20;; ++i) {
    char* entry = map->entries + (i & (map->capacity - 1)) * entry_size;
    const uint64_t there = *(const uint64_t*)(void*)entry;
    if (there == key || there == 0)
      return entry;
  }
}

static bool grow(struct umw_mpi_map* map, size_t entry_size)
{
  struct umw_mpi_map larger = {NULL, map->capacity ? 2 * map->capacity : FIRST_CAPACITY, map->used};
  larger.entries = umw_mpi_memory(larger.capacity * entry_size);
  if (!larger.entries)
    return false;
  for (uint64_t i = 0; i < map->capacity; ++i) {
    const char* entry = map->entries + i * entry_size;
    const uint64_t key = *(const uint64_t*)(const void*)entry;
    if (key)
      memcpy(slot_of(&larger, entry_size, key), entry, entry_size);
  }
  if (map->entries)
    umw_mpi_unuse(map->entries, map->capacity * entry_size);
  *map = larger;
  return true;
}

void* umw_mpi_entry(struct umw_mpi_map* map, size_t entry_size, uint64_t key, bool make)
{
  if (make && 4 * (map->used + 1) > 3 * map->capacity && !grow(map, entry_size))
    return NULL;
  if (map->capacity == 0)
    return NULL;
  uint64_t* entry = slot_of(map, entry_size, key);
  if (*entry == key)
    return entry;
  if (!make)
    return NULL;
  *entry = key;
  ++map->used;
  return entry;
}

void umw_mpi_publish_counts(void)
{
  published.counts = (struct umw_mpi_count*)(void*)counts.entries;
  published.capacity = counts.capacity;
  published.timed = (struct umw_mpi_timed_count*)(void*)timed_counts.entries;
  published.timed_capacity = timed_counts.capacity;
  umw_mpi_gate->mpi_counts = &published;
}

static void* counted(struct umw_mpi_map* map, size_t entry_size, uint64_t what)
{
  const char* before = map->entries;
  void* entry = umw_mpi_entry(map, entry_size, what, true);
  if (map->entries != before)
    umw_mpi_publish_counts();
  return entry;
}

void umw_mpi_add(uint64_t what, uint64_t bytes)
{
  struct umw_mpi_count* count = counted(&counts, sizeof *count, what);
  if (!count)
    return;
  ++count->calls;
  count->bytes += bytes;
}

void umw_mpi_add_timed(uint64_t what, uint64_t bytes, const struct umw_mpi_times* times)
{
  struct umw_mpi_timed_count* timed = counted(&timed_counts, sizeof *timed, what);
  if (!timed)
    return;
  ++timed->count.calls;
  timed->count.bytes += bytes;
  timed->time_ps += times->all;
  timed->waited_ps += times->waited;
  timed->late_ps += times->late;
}

/* There are few: labels are what programs call their communicators, or how these came to be. */
uint32_t umw_mpi_label(const char* text)
{
  for (uint32_t i = 0; i < labels_used; ++i)
    if (strncmp(published.labels[i], text, UMW_MPI_LABEL - 1) == 0)
      return i;
  if (labels_used == labels_room) {
    const uint32_t room = labels_room ? 2 * labels_room : FIRST_LABELS;
    char(*larger)[UMW_MPI_LABEL] = umw_mpi_memory(room * sizeof *larger);
    if (!larger)
      return 0;
    if (labels_used) {
      memcpy(larger, published.labels, labels_used * sizeof *larger);
      umw_mpi_unuse(published.labels, labels_room * sizeof *larger);
    }
    published.labels = larger;
    labels_room = room;
  }
  strncpy(published.labels[labels_used], text, UMW_MPI_LABEL - 1);
  return labels_used++;
}

const char* umw_mpi_label_text(uint32_t index)
{
  return index < labels_used ? published.labels[index] : "";
}
