/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Vectors are combined by the library's MPI_Reduce_local, in the order of the ranks, whatever the operation: what is
 * not commutative comes out right, and what is rounded comes out the same in every run. */
#include "preload/mpi/collectives.h"

#include <string.h>

enum { AT_ONCE = 64 << 10 };      /* bytes of vectors that are fetched together */
enum { MOST_ELEMENTS = 1 << 30 }; /* at a time: MPI_Reduce_local counts in ints */

static int (*reduce_local)(const void*, void*, int, uintptr_t, uintptr_t);

void umw_mpi_begin_reductions(const void* caller)
{
  *(void**)&reduce_local = umw_mpi_next("PMPI_Reduce_local", caller);
}

/* b := a OP b */
static void combine(uintptr_t a, uintptr_t b, const struct umw_mpi_reduction* reduction)
{
  for (int64_t count = reduction->count; count > 0;) {
    const int64_t some = count < MOST_ELEMENTS ? count : MOST_ELEMENTS;
    reduce_local((const void*)a, (void*)b, (int)some, reduction->type.word, reduction->operation);
    a += (uintptr_t)(some * reduction->type.extent);
    b += (uintptr_t)(some * reduction->type.extent);
    count -= some;
  }
}

static uint64_t fetch(int64_t number, char* buffer, uint64_t capacity)
{
  struct umw_args_umw_collective_vectors arguments = {0, number, buffer, capacity};
  umw_mpi_gate->cross(umw_mpi_gate, UMW_OP_umw_collective_vectors, &arguments);
  return arguments.result > 0 ? (uint64_t)arguments.result : 0;
}

static void deliver(int64_t number, const char* vector)
{
  struct umw_args_umw_collective_reduced arguments = {0, number, vector};
  umw_mpi_gate->cross(umw_mpi_gate, UMW_OP_umw_collective_reduced, &arguments);
}

/* Vectors are as they lie in memory: each becomes what is combined so far. */
static void combine_plain(int64_t number, const struct umw_mpi_reduction* reduction, bool scan, char* buffer,
                          uint64_t bytes, uint64_t room)
{
  char* so_far = NULL;
  for (uint64_t count;;) {
    char* first = buffer;
    if (so_far) { /* to where no vector will be written */
      memmove(buffer, so_far, bytes);
      so_far = buffer;
      first += bytes;
    }
    count = fetch(number, first, room - (uint64_t)(first - buffer));
    if (count == 0)
      break;
    for (uint64_t i = 0; i < count; ++i) {
      char* vector = first + i * bytes;
      if (so_far) {
        combine((uintptr_t)so_far, (uintptr_t)vector, reduction);
        if (scan)
          deliver(number, vector);
      }
      so_far = vector;
    }
  }
  if (!scan)
    deliver(number, so_far);
}

/* They are packed: two places have room for one as the type has it. */
static void combine_unpacked(int64_t number, const struct umw_mpi_reduction* reduction, uintptr_t comm, bool scan,
                             char* buffer, uint64_t bytes, uint64_t room)
{
  int64_t low, high;
  umw_mpi_span(reduction->count, &reduction->type, &low, &high);
  const size_t span = ((size_t)(high - low) + 63) & ~(size_t)63;
  char* places = umw_mpi_take(2 * span + bytes);
  if (!places)
    __builtin_trap();
  memset(places, 0, 2 * span); /* what lies in the gaps of a type an operation may look at */
  char* packed = places + 2 * span;
  uintptr_t so_far = (uintptr_t)(places - low);
  uintptr_t next = so_far + span;
  bool begun = false;
  for (uint64_t count; (count = fetch(number, buffer, room)) > 0;)
    for (uint64_t i = 0; i < count; ++i) {
      umw_mpi_unpack(buffer + i * bytes, next, reduction->count, &reduction->type, comm);
      if (begun)
        combine(so_far, next, reduction);
      const uintptr_t other = so_far;
      so_far = next;
      next = other;
      if (begun && scan) {
        umw_mpi_pack(so_far, reduction->count, &reduction->type, comm, packed);
        deliver(number, packed);
      }
      begun = true;
    }
  if (!scan) {
    umw_mpi_pack(so_far, reduction->count, &reduction->type, comm, packed);
    deliver(number, packed);
  }
  umw_mpi_give_back(places);
}

void umw_mpi_combine(int64_t number, const struct umw_mpi_reduction* reduction, uintptr_t comm, bool scan)
{
  const uint64_t bytes = (uint64_t)reduction->count * reduction->type.size;
  const uint64_t room = 2 * bytes > AT_ONCE ? 2 * bytes : AT_ONCE;
  char* buffer = umw_mpi_take(room);
  if (!buffer)
    __builtin_trap();
  if (reduction->type.plain)
    combine_plain(number, reduction, scan, buffer, bytes, room);
  else
    combine_unpacked(number, reduction, comm, scan, buffer, bytes, room);
  umw_mpi_give_back(buffer);
}
