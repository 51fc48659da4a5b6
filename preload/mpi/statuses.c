/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * MPI_Status, whose layout is part of either ABI: who sent what a wildcard has received, and how much, is there alone.
 */
#include "preload/mpi/events.h"

struct of_mpich {
  int32_t low, high; /* of the count, and whether it has been cancelled */
  int32_t source, tag, error;
};

struct of_openmpi {
  int32_t source, tag, error, cancelled;
  uint64_t bytes;
};

static _Thread_local char* own;
static _Thread_local uint32_t room;

static size_t size_of_one(void)
{
  return umw_mpi_is_mpich() ? sizeof(struct of_mpich) : sizeof(struct of_openmpi);
}

bool umw_mpi_ignores_status(uintptr_t word)
{
  return word == (umw_mpi_is_mpich() ? 1 : 0);
}

uintptr_t umw_mpi_own_statuses(uint32_t count)
{
  if (count > room) {
    uint32_t larger = room ? room : 16;
    while (larger < count)
      larger *= 2;
    char* memory = umw_mpi_memory(larger * size_of_one());
    if (!memory)
      return 0;
    if (own)
      umw_mpi_unuse(own, room * size_of_one());
    own = memory;
    room = larger;
  }
  return (uintptr_t)own;
}

struct umw_mpi_status umw_mpi_status_at(uintptr_t statuses, uint32_t index)
{
  if (umw_mpi_is_mpich()) {
    const struct of_mpich* one = (const struct of_mpich*)statuses + index;
    const uint64_t high = (uint32_t)one->high >> 1;
    return (struct umw_mpi_status){one->source, one->tag, high << 32 | (uint32_t)one->low, one->high & 1};
  }
  const struct of_openmpi* one = (const struct of_openmpi*)statuses + index;
  return (struct umw_mpi_status){one->source, one->tag, one->bytes, one->cancelled != 0};
}
