/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many bytes a call hands over, by its arguments. */
#include "preload/mpi/calls.h"

static uint64_t count_of(const struct umw_mpi_row* row, uintptr_t word)
{
  const int64_t count = row->large ? (int64_t)word : (int32_t)word;
  return count > 0 ? (uint64_t)count : 0;
}

static uint64_t count_at(const struct umw_mpi_row* row, uintptr_t array, int32_t index)
{
  return count_of(row, row->large ? (uintptr_t)((const int64_t*)array)[index]
                                  : (uintptr_t)(uint32_t)((const int32_t*)array)[index]);
}

static uint64_t sum_of(const struct umw_mpi_row* row, uintptr_t counts, int32_t size)
{
  uint64_t sum = 0;
  for (int32_t i = 0; i < size; ++i)
    sum += count_at(row, counts, i);
  return sum;
}

static uint64_t sum_of_types(const struct umw_mpi_row* row, uintptr_t counts, uintptr_t types, int32_t size)
{
  uint64_t sum = 0;
  for (int32_t i = 0; i < size; ++i) {
    const uint64_t count = count_at(row, counts, i);
    if (count > 0)
      sum += count * umw_mpi_type_size(umw_mpi_handle_at(types + (size_t)i * umw_mpi_handle_size()));
  }
  return sum;
}

uint64_t umw_mpi_asked(const struct umw_mpi_row* row, const uintptr_t* words)
{
  if (!row->type)
    return 0;
  const uint64_t count = row->count ? count_of(row, words[row->count]) : 1; /* an element */
  return count > 0 ? count * umw_mpi_type_size(umw_mpi_handle(words[row->type])) : 0;
}

/* MPI_ROOT, at the root of a collective between two groups */
static bool is_root(const struct umw_mpi_row* row, const uintptr_t* words,
                    const struct umw_mpi_communicator* communicator)
{
  const int32_t root = (int32_t)words[row->root];
  return root >= 0 ? root == communicator->rank : root == (umw_mpi_is_mpich() ? -3 : -4);
}

uint64_t umw_mpi_payload(const struct umw_mpi_row* row, const uintptr_t* words,
                         const struct umw_mpi_communicator* communicator)
{
  enum umw_mpi_payload payload = row->payload;
  if (payload == UMW_MPI_nothing || (row->comm && !communicator))
    return 0;
  switch (payload) {
  case UMW_MPI_root:
  case UMW_MPI_root_members:
  case UMW_MPI_root_counts:
    if (!is_root(row, words, communicator))
      return 0;
    break;
  default:
    break;
  }
  uintptr_t count = words[row->count], type = words[row->type];
  const bool in_place = row->class_ == UMW_MPI_collective && umw_mpi_is_in_place(words[1]);
  if (in_place && row->in_place_count) {
    count = words[row->in_place_count];
    type = words[row->in_place_type];
  } else if (in_place && row->payload == UMW_MPI_each && row->root && row->class_ == UMW_MPI_collective &&
             row->function != UMW_MPI_Reduce && row->function != UMW_MPI_Ireduce) {
    return 0; /* the root of a gather has its own part already */
  }
  switch (payload) {
  case UMW_MPI_each:
  case UMW_MPI_root:
    return count_of(row, count) * umw_mpi_type_size(umw_mpi_handle(type));
  case UMW_MPI_members:
  case UMW_MPI_root_members:
    return count_of(row, count) * (uint64_t)communicator->size * umw_mpi_type_size(umw_mpi_handle(type));
  case UMW_MPI_counts:
  case UMW_MPI_root_counts:
    return sum_of(row, count, communicator->size) * umw_mpi_type_size(umw_mpi_handle(type));
  case UMW_MPI_own:
    return (in_place ? count_at(row, count, communicator->rank) : count_of(row, count)) *
           umw_mpi_type_size(umw_mpi_handle(type));
  case UMW_MPI_types:
    return sum_of_types(row, count, type, communicator->size);
  default:
    return 0;
  }
}

/* Which function it is follows from where its arguments are: so it holds for all its forms. */
uint64_t umw_mpi_received(const struct umw_mpi_row* row, const uintptr_t* words,
                          const struct umw_mpi_communicator* communicator)
{
  if (row->payload == UMW_MPI_nothing || !communicator)
    return 0;
  const bool root = row->root && is_root(row, words, communicator);
  const uintptr_t count = words[row->count], type = words[row->type];
  const uintptr_t counts = words[row->in_place_count], types = words[row->in_place_type];
  const uint64_t size = (uint64_t)communicator->size;
  switch (row->payload) {
  case UMW_MPI_root: /* bcast */
    return root ? 0 : count_of(row, count) * umw_mpi_type_size(umw_mpi_handle(type));
  case UMW_MPI_root_members: /* scatter */
    return umw_mpi_is_in_place(words[4]) ? 0 : count_of(row, words[5]) * umw_mpi_type_size(umw_mpi_handle(words[6]));
  case UMW_MPI_root_counts:
    return umw_mpi_is_in_place(words[5]) ? 0 : count_of(row, words[6]) * umw_mpi_type_size(umw_mpi_handle(words[7]));
  case UMW_MPI_members: /* alltoall, and reduce_scatter_block */
    return row->in_place_count ? count_of(row, counts) * size * umw_mpi_type_size(umw_mpi_handle(types))
                               : count_of(row, count) * umw_mpi_type_size(umw_mpi_handle(type));
  case UMW_MPI_counts: /* alltoallv, and reduce_scatter */
    return row->in_place_count ? sum_of(row, counts, communicator->size) * umw_mpi_type_size(umw_mpi_handle(types))
                               : count_at(row, count, communicator->rank) * umw_mpi_type_size(umw_mpi_handle(type));
  case UMW_MPI_own: /* allgatherv */
    return sum_of(row, counts, communicator->size) * umw_mpi_type_size(umw_mpi_handle(types));
  case UMW_MPI_types:
    return sum_of_types(row, counts, types, communicator->size);
  default:
    break;
  }
  if (row->in_place_count) /* allgather */
    return count_of(row, counts) * size * umw_mpi_type_size(umw_mpi_handle(types));
  if (row->root && !root)
    return 0;
  if (row->root && row->count == 2) /* gather; gatherv has displacements besides */
    return row->root == 7 ? count_of(row, words[5]) * size * umw_mpi_type_size(umw_mpi_handle(words[6]))
                          : sum_of(row, words[5], communicator->size) * umw_mpi_type_size(umw_mpi_handle(words[7]));
  return count_of(row, count) * umw_mpi_type_size(umw_mpi_handle(type));
}
