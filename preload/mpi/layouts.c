/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the data of a collective lies. Predefined types without gaps are handed over as they lie; all others packed, by
 * the library's own MPI_Pack and MPI_Unpack, which write what predefined types look like in memory. */
#include "preload/mpi/collectives.h"

#include <string.h>

/* The C library's own, which nobody stands in for. */
void* __libc_malloc(size_t bytes);
void __libc_free(void* memory);

enum { LONGEST = 1 << 30 }; /* bytes that are packed at a time: MPI_Pack counts in ints */

static struct {
  int (*type_size)(uintptr_t, int*);
  int (*get_extent)(uintptr_t, intptr_t*, intptr_t*);
  int (*get_true_extent)(uintptr_t, intptr_t*, intptr_t*);
  int (*get_envelope)(uintptr_t, int*, int*, int*, int*);
  int (*dup)(uintptr_t, void*);
  int (*type_free)(void*);
  int (*pack)(const void*, int, uintptr_t, void*, int, int*, uintptr_t);
  int (*unpack)(const void*, int, int*, void*, int, uintptr_t, uintptr_t);
} mpi;

/* Predefined types: they stay what they are. */
struct known {
  uint64_t handle;
  struct umw_mpi_type type;
};
static struct umw_mpi_map known;

void umw_mpi_begin_layouts(const void* caller)
{
#define FIND(member, name) *(void**)&mpi.member = umw_mpi_next("PMPI_" name, caller)
  FIND(type_size, "Type_size");
  FIND(get_extent, "Type_get_extent");
  FIND(get_true_extent, "Type_get_true_extent");
  FIND(get_envelope, "Type_get_envelope");
  FIND(dup, "Type_dup");
  FIND(type_free, "Type_free");
  FIND(pack, "Pack");
  FIND(unpack, "Unpack");
#undef FIND
}

void* umw_mpi_take(size_t bytes)
{
  return __libc_malloc(bytes ? bytes : 1);
}

void umw_mpi_give_back(void* memory)
{
  __libc_free(memory);
}

struct umw_mpi_type umw_mpi_type_of(uintptr_t word)
{
  const uint64_t handle = umw_mpi_handle(word);
  const struct known* found = umw_mpi_entry(&known, sizeof *found, handle, false);
  if (found)
    return found->type;
  int size = 0, integers, addresses, types, combiner = -1;
  intptr_t lower = 0, extent = 0;
  mpi.type_size(word, &size);
  mpi.get_extent(word, &lower, &extent);
  mpi.get_envelope(word, &integers, &addresses, &types, &combiner);
  const bool named = combiner == (umw_mpi_is_mpich() ? 1 : 0); /* MPI_COMBINER_NAMED */
  const struct umw_mpi_type type = {word, (uint64_t)size, extent, named && lower == 0 && extent == size};
  struct known* entry = named ? umw_mpi_entry(&known, sizeof *entry, handle, true) : NULL;
  if (entry)
    entry->type = type;
  return type;
}

static int64_t count_at(uintptr_t array, bool large, int32_t member)
{
  return large ? ((const int64_t*)array)[member] : ((const int32_t*)array)[member];
}

int64_t umw_mpi_side_count(const struct umw_mpi_side* side, int32_t member)
{
  switch (side->kind) {
  case UMW_MPI_SIDE_NONE:
    return 0;
  case UMW_MPI_SIDE_ONE:
  case UMW_MPI_SIDE_BLOCKS:
    return side->count;
  default:
    return count_at(side->counts, side->large, member);
  }
}

static uintptr_t type_word_at(const struct umw_mpi_side* side, int32_t member)
{
  return umw_mpi_is_mpich() ? ((const uint32_t*)side->types)[member] : ((const uintptr_t*)side->types)[member];
}

static struct umw_mpi_type type_at(const struct umw_mpi_side* side, int32_t member)
{
  return side->kind == UMW_MPI_SIDE_TYPES ? umw_mpi_type_of(type_word_at(side, member)) : side->type;
}

/* From the buffer to the first element for a member, or from it; bytes. */
static int64_t offset_of(const struct umw_mpi_side* side, int32_t member)
{
  switch (side->kind) {
  case UMW_MPI_SIDE_BLOCKS:
    return member * side->count * side->type.extent;
  case UMW_MPI_SIDE_LISTS:
    return count_at(side->displacements, side->wide, member) * side->type.extent;
  case UMW_MPI_SIDE_TYPES:
    return count_at(side->displacements, side->wide, member);
  default:
    return 0;
  }
}

static int32_t pieces_of(const struct umw_mpi_side* side)
{
  return side->kind == UMW_MPI_SIDE_NONE ? 0 : side->kind == UMW_MPI_SIDE_ONE ? 1 : side->members;
}

bool umw_mpi_side_fits(const struct umw_mpi_side* side)
{
  for (int32_t i = 0; i < pieces_of(side); ++i) {
    const int64_t count = umw_mpi_side_count(side, i);
    if (count < 0)
      return false;
    if (side->kind == UMW_MPI_SIDE_TYPES && count > 0 && umw_mpi_is_null_type(type_word_at(side, i)))
      return false;
    if (count > 0 && side->buffer == 0 && type_at(side, i).plain)
      return false;
    if (side->kind == UMW_MPI_SIDE_BLOCKS)
      break;
  }
  return true;
}

void umw_mpi_span(int64_t count, const struct umw_mpi_type* type, int64_t* low, int64_t* high)
{
  intptr_t lower = 0, extent = 0;
  mpi.get_true_extent(type->word, &lower, &extent);
  const int64_t last = count > 0 ? (count - 1) * type->extent : 0;
  *low = lower + (last < 0 ? last : 0);
  *high = lower + extent + (last > 0 ? last : 0);
}

/* So many elements at a time. */
static int64_t elements_at_once(const struct umw_mpi_type* type)
{
  const int64_t most = type->size > 0 ? (int64_t)(LONGEST / type->size) : LONGEST;
  return most > 0 ? most : 1;
}

void umw_mpi_pack(uintptr_t from, int64_t count, const struct umw_mpi_type* type, uintptr_t comm, char* to)
{
  if (type->plain) {
    memcpy(to, (const void*)from, (size_t)count * type->size);
    return;
  }
  for (const int64_t most = elements_at_once(type); count > 0;) {
    const int64_t some = count < most ? count : most;
    const int bytes = (int)((uint64_t)some * type->size);
    int position = 0;
    mpi.pack((const void*)from, (int)some, type->word, to, bytes, &position, comm);
    from += (uintptr_t)(some * type->extent);
    to += bytes;
    count -= some;
  }
}

void umw_mpi_unpack(const char* from, uintptr_t to, int64_t count, const struct umw_mpi_type* type, uintptr_t comm)
{
  if (type->plain) {
    memcpy((void*)to, from, (size_t)count * type->size);
    return;
  }
  for (const int64_t most = elements_at_once(type); count > 0;) {
    const int64_t some = count < most ? count : most;
    const int bytes = (int)((uint64_t)some * type->size);
    int position = 0;
    mpi.unpack(from, bytes, &position, (void*)to, (int)some, type->word, comm);
    from += bytes;
    to += (uintptr_t)(some * type->extent);
    count -= some;
  }
}

bool umw_mpi_give(struct umw_mpi_side* side, bool sends, uintptr_t comm, struct umw_parts* parts)
{
  const int32_t pieces = pieces_of(side);
  const bool lists = side->kind == UMW_MPI_SIDE_LISTS || side->kind == UMW_MPI_SIDE_TYPES;
  uint64_t packed = 0;
  side->bytes = 0;
  for (int32_t i = 0; i < pieces; ++i) {
    const struct umw_mpi_type type = type_at(side, i);
    const uint64_t bytes = (uint64_t)umw_mpi_side_count(side, i) * type.size;
    side->bytes += bytes;
    if (!type.plain)
      packed += bytes;
    if (side->kind == UMW_MPI_SIDE_BLOCKS) { /* all are alike */
      side->bytes = bytes * (uint64_t)pieces;
      packed *= (uint64_t)pieces;
      break;
    }
  }
  if (packed > 0 && !(side->packed = umw_mpi_take(packed)))
    return false;
  if (lists && !(side->parts = umw_mpi_take((size_t)pieces * sizeof *side->parts)))
    return false;
  *parts = (struct umw_parts){packed > 0 && !lists ? (uintptr_t)side->packed : side->buffer,
                              lists || pieces == 0 ? 0 : side->bytes / (uint64_t)pieces, (uintptr_t)side->parts};
  char* place = side->packed;
  for (int32_t i = 0; i < pieces && (lists || packed > 0); ++i) {
    const struct umw_mpi_type type = type_at(side, i);
    const int64_t count = umw_mpi_side_count(side, i);
    const uint64_t bytes = (uint64_t)count * type.size;
    const int64_t offset = offset_of(side, i);
    if (!type.plain && sends)
      umw_mpi_pack(side->buffer + (uintptr_t)offset, count, &type, comm, place);
    if (lists)
      side->parts[i] = (struct umw_part){type.plain ? offset : (int64_t)((uintptr_t)place - side->buffer), bytes};
    if (!type.plain)
      place += bytes;
  }
  return true;
}

void umw_mpi_accept(const struct umw_mpi_side* side, uintptr_t comm)
{
  const char* place = side->packed;
  for (int32_t i = 0; place && i < pieces_of(side); ++i) {
    const struct umw_mpi_type type = type_at(side, i);
    if (type.plain)
      continue;
    const int64_t count = umw_mpi_side_count(side, i);
    if (i + 1 != side->in_place)
      umw_mpi_unpack(place, side->buffer + (uintptr_t)offset_of(side, i), count, &type, comm);
    place += (uint64_t)count * type.size;
  }
}

static void* copy_of(uintptr_t from, size_t bytes)
{
  void* copy = umw_mpi_take(bytes);
  return copy ? memcpy(copy, (const void*)from, bytes) : NULL;
}

bool umw_mpi_keep_side(struct umw_mpi_side* side)
{
  const size_t members = (size_t)side->members;
  if (side->kind == UMW_MPI_SIDE_LISTS || side->kind == UMW_MPI_SIDE_TYPES) {
    side->counts = (uintptr_t)copy_of(side->counts, members * (side->large ? sizeof(int64_t) : sizeof(int32_t)));
    side->displacements =
        (uintptr_t)copy_of(side->displacements, members * (side->wide ? sizeof(int64_t) : sizeof(int32_t)));
    if (!side->counts || !side->displacements)
      return false;
  }
  if (side->kind == UMW_MPI_SIDE_TYPES) {
    const size_t handle = umw_mpi_is_mpich() ? sizeof(uint32_t) : sizeof(uintptr_t);
    side->types = (uintptr_t)copy_of(side->types, members * handle);
    if (!side->types)
      return false;
    for (int32_t i = 0; i < side->members; ++i)
      if (umw_mpi_side_count(side, i) > 0 && !type_at(side, i).plain)
        mpi.dup(type_word_at(side, i), (void*)(side->types + (size_t)i * handle));
  } else if (side->kind != UMW_MPI_SIDE_NONE && !side->type.plain) {
    uintptr_t copy = 0;
    mpi.dup(side->type.word, &copy);
    side->type.word = copy;
  }
  return true;
}

void umw_mpi_end_side(struct umw_mpi_side* side, bool kept)
{
  umw_mpi_give_back(side->packed);
  umw_mpi_give_back(side->parts);
  side->packed = NULL;
  side->parts = NULL;
  if (!kept || side->kind == UMW_MPI_SIDE_NONE)
    return;
  if (side->kind == UMW_MPI_SIDE_TYPES) {
    for (int32_t i = 0; i < side->members; ++i) {
      uintptr_t word = type_word_at(side, i);
      if (umw_mpi_side_count(side, i) > 0 && !type_at(side, i).plain)
        mpi.type_free(&word);
    }
    umw_mpi_give_back((void*)side->types);
  } else if (!side->type.plain) {
    mpi.type_free(&side->type.word);
  }
  if (side->kind == UMW_MPI_SIDE_LISTS || side->kind == UMW_MPI_SIDE_TYPES) {
    umw_mpi_give_back((void*)side->counts);
    umw_mpi_give_back((void*)side->displacements);
  }
}
