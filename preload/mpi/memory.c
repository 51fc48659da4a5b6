/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is counted and noted lies in mappings of its own, so that the program's heap is as it would be without. */
#include "preload/mpi/calls.h"

#include <string.h>
#include <sys/mman.h>

enum { CHUNK = 256 << 10, FIRST_CAPACITY = 32, FIRST_LABELS = 8, CACHE_LINE = 64 };

static char* chunk;
static size_t chunk_left;

static struct umw_mpi_map counts;
static struct umw_mpi_counts published;
static uint32_t labels_used, labels_room;

void* umw_mpi_memory(size_t size)
{
  size = (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
  if (size > chunk_left) {
    const size_t wanted = size > CHUNK ? size : CHUNK;
    void* mapped = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      return NULL;
    chunk = mapped;
    chunk_left = wanted;
  }
  void* memory = chunk;
  chunk += size;
  chunk_left -= size;
  return memory;
}

void umw_mpi_unuse(void* memory)
{
  memset(memory, 0, (size_t)(chunk - (char*)memory));
  chunk_left += (size_t)(chunk - (char*)memory);
  chunk = memory;
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
  umw_mpi_gate->mpi_counts = &published;
}

void umw_mpi_add(uint64_t what, uint64_t bytes, const struct umw_mpi_times* times)
{
  struct umw_mpi_count* count = umw_mpi_entry(&counts, sizeof *count, what, true);
  if (!count)
    return;
  if (published.counts != (struct umw_mpi_count*)(void*)counts.entries)
    umw_mpi_publish_counts();
  ++count->calls;
  count->bytes += bytes;
  if (!times)
    return;
  count->time_ps += times->all;
  count->waited_ps += times->waited;
  count->late_ps += times->late;
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
    if (labels_used)
      memcpy(larger, published.labels, labels_used * sizeof *larger);
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
