/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A collective whose time is a model's: its arguments are made out, the rank comes to it, and waits. Arguments that the
 * MPI library would complain about are the library's, so that the error is; and so are collectives between two groups,
 * and those with ranks of another job. */
#include "preload/mpi/collectives.h"
#include "preload/next_function.h"

#include <string.h>

#include "preload/abi/pause.h"

/* Which arguments are what, in the blocking form; nonblocking and persistent ones have the same in the same places. */
struct arguments {
  uint8_t kind; /* enum umw_mpi_side_kind of what is sent, */
  uint8_t send, send_count, send_displacements, send_type;
  uint8_t receive_kind;
  uint8_t receive, receive_count, receive_displacements, receive_type;
  uint8_t operation;
};
static const struct arguments arguments_of[UMW_COLLECTIVE_FUNCTIONS] = {
    [UMW_COLLECTIVE_Allgather] = {UMW_MPI_SIDE_ONE, 1, 2, 0, 3, UMW_MPI_SIDE_BLOCKS, 4, 5, 0, 6, 0},
    [UMW_COLLECTIVE_Allgatherv] = {UMW_MPI_SIDE_ONE, 1, 2, 0, 3, UMW_MPI_SIDE_LISTS, 4, 5, 6, 7, 0},
    [UMW_COLLECTIVE_Allreduce] = {UMW_MPI_SIDE_ONE, 1, 3, 0, 4, UMW_MPI_SIDE_ONE, 2, 3, 0, 4, 5},
    [UMW_COLLECTIVE_Alltoall] = {UMW_MPI_SIDE_BLOCKS, 1, 2, 0, 3, UMW_MPI_SIDE_BLOCKS, 4, 5, 0, 6, 0},
    [UMW_COLLECTIVE_Alltoallv] = {UMW_MPI_SIDE_LISTS, 1, 2, 3, 4, UMW_MPI_SIDE_LISTS, 5, 6, 7, 8, 0},
    [UMW_COLLECTIVE_Alltoallw] = {UMW_MPI_SIDE_TYPES, 1, 2, 3, 4, UMW_MPI_SIDE_TYPES, 5, 6, 7, 8, 0},
    [UMW_COLLECTIVE_Bcast] = {UMW_MPI_SIDE_ONE, 1, 2, 0, 3, UMW_MPI_SIDE_ONE, 1, 2, 0, 3, 0},
    [UMW_COLLECTIVE_Exscan] = {UMW_MPI_SIDE_ONE, 1, 3, 0, 4, UMW_MPI_SIDE_ONE, 2, 3, 0, 4, 5},
    [UMW_COLLECTIVE_Gather] = {UMW_MPI_SIDE_ONE, 1, 2, 0, 3, UMW_MPI_SIDE_BLOCKS, 4, 5, 0, 6, 0},
    [UMW_COLLECTIVE_Gatherv] = {UMW_MPI_SIDE_ONE, 1, 2, 0, 3, UMW_MPI_SIDE_LISTS, 4, 5, 6, 7, 0},
    [UMW_COLLECTIVE_Reduce] = {UMW_MPI_SIDE_ONE, 1, 3, 0, 4, UMW_MPI_SIDE_ONE, 2, 3, 0, 4, 5},
    [UMW_COLLECTIVE_Reduce_scatter] = {UMW_MPI_SIDE_ONE, 1, 3, 0, 4, UMW_MPI_SIDE_ONE, 2, 3, 0, 4, 5},
    [UMW_COLLECTIVE_Reduce_scatter_block] = {UMW_MPI_SIDE_ONE, 1, 3, 0, 4, UMW_MPI_SIDE_ONE, 2, 3, 0, 4, 5},
    [UMW_COLLECTIVE_Scan] = {UMW_MPI_SIDE_ONE, 1, 3, 0, 4, UMW_MPI_SIDE_ONE, 2, 3, 0, 4, 5},
    [UMW_COLLECTIVE_Scatter] = {UMW_MPI_SIDE_BLOCKS, 1, 2, 0, 3, UMW_MPI_SIDE_ONE, 4, 5, 0, 6, 0},
    [UMW_COLLECTIVE_Scatterv] = {UMW_MPI_SIDE_LISTS, 1, 2, 3, 4, UMW_MPI_SIDE_ONE, 5, 6, 0, 7, 0},
};

/* Of every function of MPI: the collective that it is a form of, plus 1. */
static const uint8_t collective_of[UMW_MPI_FUNCTIONS] = {
#define UMW_COLLECTIVE(name, nonblocking, lower)                                                                       \
  [UMW_MPI_##name] = UMW_COLLECTIVE_##name + 1, [UMW_MPI_##nonblocking] = UMW_COLLECTIVE_##name + 1,                   \
  [UMW_MPI_##name##_init] = UMW_COLLECTIVE_##name + 1,
    UMW_COLLECTIVES(UMW_COLLECTIVE)
#undef UMW_COLLECTIVE
#define UMW_COLLECTIVE(name, nonblocking, lower)                                                                       \
  [UMW_MPI_##name##_c] = UMW_COLLECTIVE_##name + 1, [UMW_MPI_##nonblocking##_c] = UMW_COLLECTIVE_##name + 1,           \
  [UMW_MPI_##name##_init_c] = UMW_COLLECTIVE_##name + 1,
#define UMW_NONE(...)
        UMW_COLLECTIVES_AND(UMW_COLLECTIVE, UMW_NONE)
#undef UMW_COLLECTIVE
#undef UMW_NONE
};

static struct {
  int (*grequest_start)(void*, void*, void*, void*, void*);
  int (*grequest_complete)(uintptr_t);
  int (*get_status)(uintptr_t, int*, void*);
  int (*request_free)(void*);
} mpi;

/* A request that nobody completes before the end: to look at it lets the library look at everything. */
static uintptr_t look_request;
static char status[256]; /* an MPI_Status of either library has less */

/* Open MPI 5, the first with sessions: of a nonblocking call from Fortran with arrays its binding leaves these in the
 * request, which it takes for one of its own collectives: what lies behind a generalized one would be overwritten. */
static bool fortran_fills_requests;

static int nothing_to_do(void)
{
  return 0;
}

void umw_mpi_begin_collectives(const void* caller)
{
#define FIND(member, name) *(void**)&mpi.member = umw_mpi_next("PMPI_" name, caller)
  FIND(grequest_start, "Grequest_start");
  FIND(grequest_complete, "Grequest_complete");
  FIND(get_status, "Request_get_status");
  FIND(request_free, "Request_free");
#undef FIND
  fortran_fills_requests = !umw_mpi_is_mpich() && umw_next_function("PMPI_Session_init", caller);
  umw_mpi_begin_layouts(caller);
  umw_mpi_begin_reductions(caller);
  umw_mpi_begin_requests(caller);
  mpi.grequest_start((void*)nothing_to_do, (void*)nothing_to_do, (void*)nothing_to_do, NULL, &look_request);
}

void umw_mpi_end_collectives(void)
{
  umw_mpi_end_requests();
  mpi.grequest_complete(look_request);
  mpi.request_free(&look_request);
}

static void look(void)
{
  int done = 0;
  mpi.get_status(look_request, &done, status);
}

/* As long as it has something: then it takes that by a call that crosses. */
void umw_mpi_let_library_look(void)
{
  enum { MOST = 1000 };
  umw_end_pause(umw_mpi_gate);
  for (unsigned i = 0; i < MOST; ++i) {
    const uint64_t crossings = umw_mpi_gate->crossings;
    look();
    if (umw_mpi_gate->crossings == crossings)
      break;
  }
  umw_begin_pause(umw_mpi_gate);
}

/* Until the runtime says that something has changed, in the library's way. */
static void poll_library(uint64_t seen)
{
  umw_end_pause(umw_mpi_gate);
  while (__atomic_load_n(&umw_mpi_gate->collective_news, __ATOMIC_RELAXED) == seen)
    look();
  umw_begin_pause(umw_mpi_gate);
}

/* --- making out a call --- */

static uintptr_t word_of(const uintptr_t* words, unsigned number)
{
  return number ? words[number] : 0;
}

static struct umw_mpi_side side_of(const struct umw_mpi_row* row, const uintptr_t* words, uint8_t kind, uint8_t buffer,
                                   uint8_t count, uint8_t displacements, uint8_t type, int32_t members)
{
  struct umw_mpi_side side = {.kind = kind, .large = row->large, .wide = row->large, .members = members};
  const uintptr_t count_word = word_of(words, count);
  side.buffer = word_of(words, buffer);
  side.displacements = word_of(words, displacements);
  if (kind == UMW_MPI_SIDE_ONE || kind == UMW_MPI_SIDE_BLOCKS)
    side.count = row->large ? (int64_t)count_word : (int32_t)count_word;
  else
    side.counts = count_word;
  if (kind == UMW_MPI_SIDE_TYPES)
    side.types = word_of(words, type);
  else if (kind != UMW_MPI_SIDE_NONE)
    side.type.word = word_of(words, type);
  return side;
}

/* The member's own part of a side, as one that is sent. */
static struct umw_mpi_side own_part(const struct umw_mpi_side* side, int32_t member)
{
  struct umw_mpi_side own = *side;
  own.kind = UMW_MPI_SIDE_ONE;
  own.count = umw_mpi_side_count(side, member);
  const int64_t displacement = side->kind == UMW_MPI_SIDE_BLOCKS ? member * side->count
                               : side->wide                      ? ((const int64_t*)side->displacements)[member]
                                                                 : ((const int32_t*)side->displacements)[member];
  own.buffer += (uintptr_t)(displacement * side->type.extent);
  return own;
}

static bool type_fits(struct umw_mpi_side* side)
{
  if (side->kind == UMW_MPI_SIDE_NONE || side->kind == UMW_MPI_SIDE_TYPES)
    return true;
  if (umw_mpi_is_null_type(side->type.word))
    return false;
  side->type = umw_mpi_type_of(side->type.word);
  return true;
}

/* A reduction: vectors of `count` elements; of the result, which part this rank receives. */
static bool make_out_reduction(struct umw_mpi_collective* made, uint32_t function, bool in_place, int32_t member)
{
  struct umw_mpi_side* send = &made->send;
  struct umw_mpi_side* receive = &made->receive;
  if (in_place)
    send->buffer = receive->buffer;
  int64_t before = 0;
  if (function == UMW_COLLECTIVE_Reduce_scatter) {
    int64_t all = 0;
    struct umw_mpi_side counts = *send;
    counts.kind = UMW_MPI_SIDE_LISTS;
    for (int32_t i = 0; i < send->members; ++i) {
      const int64_t count = umw_mpi_side_count(&counts, i);
      if (count < 0)
        return false;
      if (i == member) {
        before = all;
        receive->count = count;
      }
      all += count;
    }
    send->count = all;
  } else if (function == UMW_COLLECTIVE_Reduce_scatter_block) {
    before = member * receive->count;
    send->count = receive->count * send->members;
  }
  made->call.how |= UMW_COLLECTIVE_REDUCES;
  made->call.result = (uint64_t)before * send->type.size;
  made->reduction.count = send->count;
  made->reduction.type = send->type;
  return true;
}

/* False: the library is to do it. */
static bool make_out(const struct umw_mpi_row* row, uint32_t function, const uintptr_t* words,
                     struct umw_mpi_communicator* communicator, struct umw_mpi_collective* made)
{
  const struct arguments* of = &arguments_of[function];
  const int32_t members = communicator->size, member = communicator->rank;
  const int32_t root = row->root ? (int32_t)words[row->root] : -1;
  if (row->root && (root < 0 || root >= members))
    return false;
  const bool sends = !row->root || root == member, receives = sends; /* what only the root does */
  const bool from_root =
      function == UMW_COLLECTIVE_Bcast || function == UMW_COLLECTIVE_Scatter || function == UMW_COLLECTIVE_Scatterv;
  memset(made, 0, sizeof *made);
  made->comm = words[row->comm];
  made->call = (struct umw_collective){.function = function, .called = row->function, .member = member, .root = root};
  bool in_place = false;
  if (!from_root || sends)
    made->send =
        side_of(row, words, of->kind, of->send, of->send_count, of->send_displacements, of->send_type, members);
  if (function == UMW_COLLECTIVE_Bcast ? !sends : (from_root || !row->root || receives))
    made->receive = side_of(row, words, of->receive_kind, of->receive, of->receive_count, of->receive_displacements,
                            of->receive_type, members);
  if (from_root) { /* the root of a scatter has its own part already */
    if (made->receive.kind && umw_mpi_is_in_place(made->receive.buffer)) {
      if (!sends)
        return false;
      made->receive.kind = UMW_MPI_SIDE_NONE;
    }
    if (made->send.kind && umw_mpi_is_in_place(made->send.buffer))
      return false;
  } else if (made->send.kind && umw_mpi_is_in_place(made->send.buffer)) {
    if (!sends) /* at the root alone */
      return false;
    in_place = true;
  }
  if (function == UMW_COLLECTIVE_Reduce_scatter) { /* counts are an array */
    made->send.counts = made->receive.counts = words[of->send_count];
    made->send.count = made->receive.count = 0;
  }
  if (of->operation) {
    made->reduction.operation = words[of->operation];
    if (umw_mpi_is_null_operation(words[of->operation]))
      return false;
  }
  if (!type_fits(&made->receive))
    return false;
  if (in_place && !of->operation) {
    if (row->root) { /* a gather: likewise */
      made->call.bytes = (uint64_t)umw_mpi_side_count(&made->receive, member) * made->receive.type.size;
      made->send.kind = UMW_MPI_SIDE_NONE;
      made->receive.in_place = member + 1;
    } else if (of->kind == UMW_MPI_SIDE_ONE)
      made->send = own_part(&made->receive, member);
    else {
      made->send = made->receive;
      made->call.how |= UMW_COLLECTIVE_OVERWRITES;
    }
  }
  if (!type_fits(&made->send))
    return false;
  if (of->operation && !make_out_reduction(made, function, in_place, member))
    return false;
  return umw_mpi_side_fits(&made->send) && umw_mpi_side_fits(&made->receive);
}

/* --- coming and waiting --- */

static bool join(struct umw_mpi_communicator* communicator)
{
  if (communicator->number > 0)
    return true;
  struct umw_args_umw_collective_join arguments = {
      0, communicator->members, (uint64_t)communicator->size * sizeof(int32_t), communicator->ordinal};
  umw_mpi_gate->cross(umw_mpi_gate, UMW_OP_umw_collective_join, &arguments);
  communicator->number = arguments.result + 1;
  return arguments.result >= 0;
}

void umw_mpi_leave_communicator(const struct umw_mpi_communicator* communicator)
{
  if (communicator->number <= 0)
    return;
  struct umw_args_umw_collective_leave arguments = {0, communicator->number - 1};
  umw_mpi_gate->cross(umw_mpi_gate, UMW_OP_umw_collective_leave, &arguments);
}

static bool hand_over(struct umw_mpi_collective* collective)
{
  struct umw_collective* call = &collective->call;
  if (collective->send.kind != UMW_MPI_SIDE_NONE) {
    if (!umw_mpi_give(&collective->send, true, collective->comm, &call->send))
      return false;
    call->how |= UMW_COLLECTIVE_SENDS;
    call->bytes = collective->send.bytes;
  }
  if (collective->receive.kind != UMW_MPI_SIDE_NONE) {
    if (!umw_mpi_give(&collective->receive, false, collective->comm, &call->receive))
      return false;
    call->how |= UMW_COLLECTIVE_RECEIVES;
  }
  return true;
}

int64_t umw_mpi_come(struct umw_mpi_collective* collective, bool blocks)
{
  if (!hand_over(collective))
    __builtin_trap();
  collective->call.how =
      blocks ? collective->call.how | UMW_COLLECTIVE_BLOCKS : collective->call.how & ~(uint32_t)UMW_COLLECTIVE_BLOCKS;
  struct umw_args_umw_collective_begin arguments = {0, &collective->call};
  umw_mpi_gate->cross(umw_mpi_gate, UMW_OP_umw_collective_begin, &arguments);
  return arguments.result;
}

bool umw_mpi_scans(const struct umw_mpi_collective* collective)
{
  return collective->call.function == UMW_COLLECTIVE_Scan || collective->call.function == UMW_COLLECTIVE_Exscan;
}

void umw_mpi_finish(const struct umw_mpi_collective* collective, int64_t state)
{
  uint64_t seen = 0;
  while (state % UMW_COLLECTIVE_STATES != UMW_COLLECTIVE_OVER) {
    const int64_t number = state / UMW_COLLECTIVE_STATES;
    switch (state % UMW_COLLECTIVE_STATES) {
    case UMW_COLLECTIVE_REDUCE:
      umw_mpi_combine(number, &collective->reduction, collective->comm, umw_mpi_scans(collective));
      break;
    case UMW_COLLECTIVE_LOOK:
      umw_mpi_let_library_look();
      break;
    case UMW_COLLECTIVE_POLL:
      poll_library(seen);
      break;
    default:
      break;
    }
    seen = umw_mpi_gate->collective_news;
    struct umw_args_umw_collective_wait arguments = {0, number, 1};
    umw_mpi_gate->cross(umw_mpi_gate, UMW_OP_umw_collective_wait, &arguments);
    state = arguments.result;
  }
  umw_mpi_accept(&collective->receive, collective->comm);
}

static bool is_filled(const struct umw_mpi_row* row)
{
  const unsigned function = collective_of[row->function] - 1U;
  if (!fortran_fills_requests || !row->request || function >= UMW_COLLECTIVE_FUNCTIONS)
    return false;
  const struct arguments* of = &arguments_of[function];
  return of->kind >= UMW_MPI_SIDE_LISTS || of->receive_kind >= UMW_MPI_SIDE_LISTS ||
         function == UMW_COLLECTIVE_Reduce_scatter;
}

/* False: it is the library's. */
static bool made_out(const struct umw_mpi_row* row, const uintptr_t* words, struct umw_mpi_collective* made)
{
  const unsigned function = collective_of[row->function] - 1U;
  if (function >= UMW_COLLECTIVE_FUNCTIONS || !(umw_mpi_gate->collectives >> function & 1))
    return false;
  struct umw_mpi_communicator* communicator = umw_mpi_communicator_in_use(umw_mpi_handle(words[row->comm]));
  if (!communicator || !communicator->one_group || !make_out(row, function, words, communicator, made) ||
      !join(communicator))
    return false;
  made->call.communicator = (uint32_t)communicator->number - 1;
  return true;
}

bool umw_mpi_model(const struct umw_mpi_frame* frame, const uintptr_t* words, uintptr_t* result)
{
  const struct umw_mpi_row* row = frame->row;
  if (!row || row->persistent || !umw_mpi_open || !umw_mpi_gate || (frame->of_fortran && is_filled(row)))
    return false;
  umw_begin_pause(umw_mpi_gate);
  struct umw_mpi_collective made;
  bool done = made_out(row, words, &made);
  if (done && row->request) {
    done = umw_mpi_start_request(&made, words[row->request]);
  } else if (done) {
    umw_mpi_finish(&made, umw_mpi_come(&made, true));
    umw_mpi_end_side(&made.send, false);
    umw_mpi_end_side(&made.receive, false);
  }
  umw_end_pause(umw_mpi_gate);
  *result = 0; /* MPI_SUCCESS */
  return done;
}

void umw_mpi_model_starts(const struct umw_mpi_frame* frame, const uintptr_t* words)
{
  const struct umw_mpi_row* row = frame->row;
  struct umw_mpi_collective made;
  if (row && row->persistent && umw_mpi_open && umw_mpi_gate && made_out(row, words, &made))
    umw_mpi_note_persistent(&made, words[row->request]);
}
