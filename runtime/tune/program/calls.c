/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

enum { ROOT = 0, NEVER_SENT = 0x5a };

/* What rank `from` sends to `to` at `place` of a block (`to` is 0 where all get the same). */
static long pattern(int from, int to, size_t place)
{
  return 3L * from + 5L * to + (long)(place % 13);
}

/* Of ranks 0 to `number` - 1, in the block for `to`. */
static long sum(int number, int to, size_t place)
{
  return 3L * number * (number - 1) / 2 + number * (5L * to + (long)(place % 13));
}

/* --- The calls --- */

static int do_allgather(const struct call* c)
{
  return MPI_Allgather(c->sent, c->count, c->type, c->received, c->count, c->type, MPI_COMM_WORLD);
}

static int do_allgatherv(const struct call* c)
{
  return MPI_Allgatherv(c->sent, c->count, c->type, c->received, c->counts, c->displacements, c->type, MPI_COMM_WORLD);
}

static int do_allreduce(const struct call* c)
{
  return MPI_Allreduce(c->sent, c->received, c->count, c->type, MPI_SUM, MPI_COMM_WORLD);
}

static int do_alltoall(const struct call* c)
{
  return MPI_Alltoall(c->sent, c->count, c->type, c->received, c->count, c->type, MPI_COMM_WORLD);
}

static int do_alltoallv(const struct call* c)
{
  return MPI_Alltoallv(c->sent, c->counts, c->displacements, c->type, c->received, c->counts, c->displacements, c->type,
                       MPI_COMM_WORLD);
}

static int do_barrier(const struct call* c)
{
  (void)c;
  return MPI_Barrier(MPI_COMM_WORLD);
}

static int do_bcast(const struct call* c)
{
  return MPI_Bcast(c->rank == ROOT ? c->sent : c->received, c->count, c->type, ROOT, MPI_COMM_WORLD);
}

static int do_exscan(const struct call* c)
{
  return MPI_Exscan(c->sent, c->received, c->count, c->type, MPI_SUM, MPI_COMM_WORLD);
}

static int do_gather(const struct call* c)
{
  return MPI_Gather(c->sent, c->count, c->type, c->received, c->count, c->type, ROOT, MPI_COMM_WORLD);
}

static int do_reduce(const struct call* c)
{
  return MPI_Reduce(c->sent, c->received, c->count, c->type, MPI_SUM, ROOT, MPI_COMM_WORLD);
}

static int do_reduce_scatter(const struct call* c)
{
  return MPI_Reduce_scatter(c->sent, c->received, c->counts, c->type, MPI_SUM, MPI_COMM_WORLD);
}

static int do_reduce_scatter_block(const struct call* c)
{
  return MPI_Reduce_scatter_block(c->sent, c->received, c->count, c->type, MPI_SUM, MPI_COMM_WORLD);
}

static int do_scan(const struct call* c)
{
  return MPI_Scan(c->sent, c->received, c->count, c->type, MPI_SUM, MPI_COMM_WORLD);
}

static int do_scatter(const struct call* c)
{
  return MPI_Scatter(c->sent, c->count, c->type, c->received, c->count, c->type, ROOT, MPI_COMM_WORLD);
}

/* --- What they bring --- */

static bool from_each(const struct call* c, int block, size_t place, long* value)
{
  (void)c;
  *value = pattern(block, 0, place);
  return true;
}

static bool from_each_to_me(const struct call* c, int block, size_t place, long* value)
{
  *value = pattern(block, c->rank, place);
  return true;
}

static bool from_each_at_root(const struct call* c, int block, size_t place, long* value)
{
  *value = pattern(block, 0, place);
  return c->rank == ROOT;
}

static bool from_root(const struct call* c, int block, size_t place, long* value)
{
  (void)block;
  *value = pattern(ROOT, 0, place);
  return c->rank != ROOT;
}

static bool from_root_to_me(const struct call* c, int block, size_t place, long* value)
{
  (void)block;
  *value = pattern(ROOT, c->rank, place);
  return true;
}

static bool sum_of_all(const struct call* c, int block, size_t place, long* value)
{
  (void)block;
  *value = sum(c->ranks, 0, place);
  return true;
}

static bool sum_at_root(const struct call* c, int block, size_t place, long* value)
{
  return sum_of_all(c, block, place, value) && c->rank == ROOT;
}

static bool sum_of_all_for_me(const struct call* c, int block, size_t place, long* value)
{
  (void)block;
  *value = sum(c->ranks, c->rank, place);
  return true;
}

static bool sum_up_to_me(const struct call* c, int block, size_t place, long* value)
{
  (void)block;
  *value = sum(c->rank + 1, 0, place);
  return true;
}

static bool sum_below_me(const struct call* c, int block, size_t place, long* value)
{
  (void)block;
  *value = sum(c->rank, 0, place);
  return c->rank > 0;
}

static bool nothing(const struct call* c, int block, size_t place, long* value)
{
  (void)c, (void)block, (void)place, (void)value;
  return false;
}

static const struct function functions[] = {
    {"allgather", do_allgather, false, true, from_each},
    {"allgatherv", do_allgatherv, false, true, from_each},
    {"allreduce", do_allreduce, false, false, sum_of_all},
    {"alltoall", do_alltoall, true, true, from_each_to_me},
    {"alltoallv", do_alltoallv, true, true, from_each_to_me},
    {"barrier", do_barrier, false, false, nothing},
    {"bcast", do_bcast, false, false, from_root},
    {"exscan", do_exscan, false, false, sum_below_me},
    {"gather", do_gather, false, true, from_each_at_root},
    {"reduce", do_reduce, false, false, sum_at_root},
    {"reduce_scatter", do_reduce_scatter, true, false, sum_of_all_for_me},
    {"reduce_scatter_block", do_reduce_scatter_block, true, false, sum_of_all_for_me},
    {"scan", do_scan, false, false, sum_up_to_me},
    {"scatter", do_scatter, true, false, from_root_to_me},
};

const struct function* find_function(const char* name)
{
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i)
    if (strcmp(functions[i].name, name) == 0)
      return &functions[i];
  return NULL;
}

/* --- Buffers --- */

static size_t bytes_of_block(const struct call* call)
{
  return (size_t)call->count * (call->type == MPI_INT ? sizeof(int) : 1);
}

static int sent_blocks(const struct call* call)
{
  return call->function->sends_to_all ? call->ranks : 1;
}

static int received_blocks(const struct call* call)
{
  return call->function->receives_from_all ? call->ranks : 1;
}

bool make_call(struct call* call, const struct function* function, size_t size, int rank, int ranks)
{
  const bool integers = size % sizeof(int) == 0;
  *call = (struct call){.function = function,
                        .rank = rank,
                        .ranks = ranks,
                        .count = (int)(integers ? size / sizeof(int) : size),
                        .type = integers ? MPI_INT : MPI_UNSIGNED_CHAR};
  /* At the same place of a page for all sizes, and never empty. */
  const size_t page = 4096;
  const size_t sent = size * (size_t)sent_blocks(call) + 1;
  const size_t received = size * (size_t)received_blocks(call) + 1;
  call->sent = aligned_alloc(page, (sent + page - 1) / page * page);
  call->received = aligned_alloc(page, (received + page - 1) / page * page);
  call->counts = calloc((size_t)ranks, sizeof(int));
  call->displacements = calloc((size_t)ranks, sizeof(int));
  if (!call->sent || !call->received || !call->counts || !call->displacements) {
    free_call(call);
    return false;
  }
  for (int i = 0; i < ranks; ++i) {
    call->counts[i] = call->count;
    call->displacements[i] = i * call->count;
  }
  return true;
}

void free_call(struct call* call)
{
  free(call->sent);
  free(call->received);
  free(call->counts);
  free(call->displacements);
}

static void put(const struct call* call, void* buffer, size_t place, long value)
{
  if (call->type == MPI_INT)
    ((int*)buffer)[place] = (int)value;
  else
    ((unsigned char*)buffer)[place] = (unsigned char)value;
}

static bool has(const struct call* call, size_t place, long value)
{
  return call->type == MPI_INT ? ((const int*)call->received)[place] == (int)value
                               : ((const unsigned char*)call->received)[place] == (unsigned char)value;
}

void fill(const struct call* call)
{
  for (int to = 0; to < sent_blocks(call); ++to)
    for (size_t i = 0; i < (size_t)call->count; ++i)
      put(call, call->sent, (size_t)to * (size_t)call->count + i, pattern(call->rank, to, i));
  memset(call->received, NEVER_SENT, bytes_of_block(call) * (size_t)received_blocks(call));
}

bool is_right(const struct call* call)
{
  for (int block = 0; block < received_blocks(call); ++block)
    for (size_t i = 0; i < (size_t)call->count; ++i) {
      long value;
      if (call->function->expected(call, block, i, &value) &&
          !has(call, (size_t)block * (size_t)call->count + i, value))
        return false;
    }
  return true;
}
