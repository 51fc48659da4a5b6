/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is noted when a call begins and when it ends. No simulated time goes by for it: the clock is looked at without a
 * crossing and without a charge. */
#include "preload/find_gate.h"
#include "preload/mpi/events.h"
#include "preload/next_function.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct umw_gate* umw_mpi_gate;

/* Where the outermost call of the thread has its frame; null: it is in none. One that is not further down the stack
 * than that has been left by longjmp() or an exception. */
static _Thread_local const char* outermost;
static _Thread_local struct umw_mpi_call* outermost_place;
/* It is one from Fortran, and its arguments are not known yet. */
static _Thread_local const struct umw_mpi_frame* from_fortran;

/* What a request has been begun by, as its handle stands for it: later ones take its place. There is one for each
 * request that is under way, and ranks find their caches full of others: half a line. */
struct begun {
  uint64_t request;
  const struct umw_mpi_communicator* communicator; /* null: not known */
  uint32_t turn;
  int32_t peer_of, tag; /* these as in umw_mpi_call */
  unsigned function : 16, receives : 1, has_peer : 1;
};
_Static_assert(sizeof(struct begun) <= 32 && UMW_MPI_FUNCTIONS < 1 << 16, "half a line of the cache");
static struct umw_mpi_map begun;

/* What each start of a persistent one hands over. */
struct persistent {
  uint64_t request;
  uint64_t bytes;
  int32_t destination; /* of a message, in MPI_COMM_WORLD, or an umw_mpi_peer */
};
static struct umw_mpi_map persistents;

/* The functions behind those of this library, by the addresses of these. */
struct next {
  uint64_t own;
  void* function;
};
static struct umw_mpi_map nexts;

static void in_child(void)
{
  umw_mpi_gate = NULL;
}

/* The shim's constructors have run: it is linked with -z initfirst. */
__attribute__((constructor)) static void find_gate(void)
{
  struct umw_gate* gate = umw_find_gate();
  if (!gate || gate->version != UMW_GATE_VERSION || gate->size != sizeof *gate)
    return; /* the shim has said so */
  umw_mpi_gate = gate;
  umw_mpi_publish_counts();
  if (gate->traced)
    umw_mpi_trace_begin();
  pthread_atfork(NULL, NULL, in_child);
}

void* umw_mpi_next(const char* name, const void* caller)
{
  void* next = umw_next_function(name, caller);
  if (next)
    return next;
  static const char text[] =
      ": called, but no MPI library that is loaded has it. Next step: run without --mpi-calls and --collectives\n";
  if (write(STDERR_FILENO, name, strlen(name)) < 0 || write(STDERR_FILENO, text, sizeof text - 1) < 0)
    abort();
  abort();
}

void* umw_mpi_function(uintptr_t own, const char* name, const void* caller)
{
  struct umw_gate* gate = umw_mpi_gate;
  if (!gate) /* a child made by fork(), or the rank has not begun */
    return umw_mpi_next(name, caller);
  ++gate->no_preempt;
  const struct next* found = umw_mpi_entry(&nexts, sizeof *found, own, false);
  void* function = found ? found->function : NULL;
  --gate->no_preempt;
  if (function)
    return function;
  function = umw_mpi_next(name, caller);
  ++gate->no_preempt;
  struct next* made = umw_mpi_entry(&nexts, sizeof *made, own, true);
  if (made)
    made->function = function;
  --gate->no_preempt;
  return function;
}

static void look_at_clock(int64_t* time_ps, int64_t* cpu_ps)
{
  const struct umw_clock* clock = &umw_mpi_gate->clock;
  int64_t since = clock->debt_ps;
  if (clock->ps_per_tick > 0)
    since += (int64_t)((double)(__builtin_ia32_rdtsc() - clock->burst_start) * clock->ps_per_tick);
  *time_ps = clock->now_ps + since;
  *cpu_ps = clock->cpu_ps + since;
}

static int32_t peer_in_world(const struct umw_mpi_communicator* communicator, int32_t peer)
{
  if (!communicator)
    return UMW_MPI_NO_PEER;
  if (peer == umw_mpi_any_source())
    return UMW_MPI_ANY;
  return peer >= 0 && peer < communicator->size ? communicator->members[peer] : UMW_MPI_NO_PEER;
}

static void describe_communicator(struct umw_mpi_call* call, const struct umw_mpi_communicator* communicator)
{
  call->members = (uintptr_t)communicator->members;
  call->size = (uint32_t)communicator->size;
  call->turn = communicator->turn;
  memcpy(call->communicator, umw_mpi_label_text(communicator->label), sizeof call->communicator);
}

/* A completion waits for what the request was begun by. */
static void describe_requests(struct umw_mpi_call* call, const struct umw_mpi_row* row, const uintptr_t* words)
{
  call->requests = row->many ? (uint32_t)words[row->many] : 1;
  if (call->requests != 1) {
    call->peer = call->requests ? UMW_MPI_SEVERAL : UMW_MPI_NO_PEER;
    return;
  }
  const uint64_t request = umw_mpi_handle_at(words[row->requests]);
  const struct begun* of = request == umw_mpi_null_request() ? NULL : umw_mpi_entry(&begun, sizeof *of, request, false);
  if (!of)
    return;
  call->began_by = of->function;
  call->peer_of = of->peer_of;
  call->tag = of->tag;
  call->receives = of->receives;
  if (!of->communicator)
    return;
  describe_communicator(call, of->communicator);
  call->turn = of->turn; /* the rank may have begun others since */
  if (of->has_peer)
    call->peer = peer_in_world(of->communicator, of->peer_of);
}

static void describe(struct umw_mpi_call* call, const struct umw_mpi_row* row, const uintptr_t* words)
{
  call->began_by = UMW_MPI_NONE;
  call->peer = UMW_MPI_NO_PEER;
  call->tag = UMW_MPI_NO_TAG;
  call->receives = row->receives || row->from;
  call->requests = 0;
  call->size = 0;
  call->communicator[0] = '\0';
  if (!umw_mpi_open)
    return;
  if (row->requests) {
    describe_requests(call, row, words);
    return;
  }
  struct umw_mpi_communicator* communicator = row->comm ? umw_mpi_communicator(umw_mpi_handle(words[row->comm])) : NULL;
  if (!communicator)
    return;
  if (row->class_ == UMW_MPI_collective) {
    ++communicator->turn;
    call->peer = UMW_MPI_ALL;
  }
  describe_communicator(call, communicator);
  const uint8_t peer = row->from ? row->from : row->peer;
  const uint8_t tag = row->from ? row->from_tag : row->tag;
  if (peer) {
    call->peer_of = (int32_t)words[peer];
    call->peer = peer_in_world(communicator, call->peer_of);
  }
  if (tag)
    call->tag = (int32_t)words[tag];
}

static struct umw_mpi_call* free_place(void)
{
  for (unsigned i = 0; i < UMW_MPI_CALLS; ++i)
    if (umw_mpi_gate->mpi_calls[i].function == UMW_MPI_NONE)
      return &umw_mpi_gate->mpi_calls[i];
  return NULL;
}

static bool is_nested(const struct umw_mpi_frame* frame)
{
  return outermost && (const char*)frame < outermost;
}

static void begin(struct umw_mpi_frame* frame, const struct umw_mpi_row* row, const void* caller)
{
  static struct umw_mpi_call nowhere; /* more threads call MPI at the same time than there are places */
  if (outermost)
    outermost_place->function = UMW_MPI_NONE;
  outermost = (const char*)frame;
  from_fortran = NULL;
  frame->row = row;
  frame->caller = caller;
  frame->of_fortran = false;
  struct umw_mpi_call* place = free_place();
  frame->place = outermost_place = place ? place : &nowhere;
  look_at_clock(&frame->time_ps, &frame->cpu_ps);
  frame->late_ps = umw_mpi_gate->late_ps;
  frame->place->function = row->function;
  frame->place->tid = umw_mpi_gate->tid;
  frame->place->since_ps = frame->time_ps;
}

/* --- calls that are told one by one --------------------------------------------------------------------------------
 */

static _Thread_local int level; /* of the last MPI_Pcontrol */

static void tell(const struct umw_mpi_row* row, bool came_back)
{
  if (((umw_mpi_gate->mpi_watched[row->function / 64] >> (row->function % 64)) & 1) == 0)
    return;
  struct umw_args_umw_mpi_passed arguments = {0, row->function, came_back, level};
  umw_mpi_gate->cross(umw_mpi_gate, UMW_OP_umw_mpi_passed, &arguments);
}

void umw_mpi_enter(struct umw_mpi_frame* frame, const struct umw_mpi_row* row, uintptr_t* words, const void* caller)
{
  frame->row = NULL;
  if (!umw_mpi_gate)
    return;
  const bool nested = is_nested(frame);
  if (nested && !(from_fortran && from_fortran->row == row))
    return;
  ++umw_mpi_gate->no_preempt;
  if (nested)
    *frame = *from_fortran;
  else
    begin(frame, row, caller);
  from_fortran = NULL;
  describe(frame->place, row, words);
  if (umw_mpi_events)
    umw_mpi_trace_enter(row, words);
  if (row->freed && umw_mpi_open)
    umw_mpi_forget_communicator(umw_mpi_handle_at(words[row->freed]));
  if (row->function == UMW_MPI_Finalize)
    umw_mpi_end();
  if (row->function == UMW_MPI_Pcontrol)
    level = (int)words[1];
  --umw_mpi_gate->no_preempt;
  if (!nested)
    tell(row, false);
}

void umw_mpi_enter_fortran(struct umw_mpi_frame* frame, const struct umw_mpi_row* row, const void* caller)
{
  frame->row = NULL;
  if (!umw_mpi_gate || is_nested(frame))
    return;
  ++umw_mpi_gate->no_preempt;
  begin(frame, row, caller);
  frame->of_fortran = true;
  from_fortran = frame;
  --umw_mpi_gate->no_preempt;
  tell(row, false);
}

static int32_t destination_of(const struct umw_mpi_row* row, const uintptr_t* words,
                              const struct umw_mpi_communicator* communicator)
{
  if (row->class_ != UMW_MPI_point_to_point || row->payload == UMW_MPI_nothing || !row->peer)
    return UMW_MPI_NO_PEER;
  const int32_t destination = (int32_t)words[row->peer];
  return destination >= 0 ? peer_in_world(communicator, destination) : UMW_MPI_NO_PEER;
}

static void count_message(int32_t destination, uint64_t bytes)
{
  if (destination >= 0 || destination == UMW_MPI_ELSEWHERE)
    umw_mpi_add(UMW_MPI_WHAT(UMW_MPI_COUNT_PEER, 0, destination >= 0 ? (uint32_t)destination : UMW_MPI_PEER_ELSEWHERE),
                bytes);
}

/* MPI_Start, MPI_Startall: the bytes of what they start */
static uint64_t count_started(const struct umw_mpi_row* row, const uintptr_t* words)
{
  const uint32_t count = row->many ? (uint32_t)words[row->many] : 1;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const struct persistent* of = umw_mpi_entry(
        &persistents, sizeof *of, umw_mpi_handle_at(words[row->requests] + i * umw_mpi_handle_size()), false);
    if (!of)
      continue;
    sum += of->bytes;
    count_message(of->destination, of->bytes);
  }
  return sum;
}

static void note_request(const struct umw_mpi_frame* frame, const uintptr_t* words, const struct umw_mpi_facts* facts)
{
  const struct umw_mpi_call* call = frame->place;
  const uint64_t request = umw_mpi_handle_at(words[frame->row->request]);
  struct begun* of = request ? umw_mpi_entry(&begun, sizeof *of, request, true) : NULL;
  if (!of)
    return;
  const bool has_peer = (frame->row->peer || frame->row->from) && facts->other;
  *of = (struct begun){request,   facts->other,         call->turn,          call->peer_of,
                       call->tag, frame->row->function, call->receives != 0, has_peer};
  struct persistent* persistent = umw_mpi_entry(&persistents, sizeof *persistent, request, frame->row->persistent);
  if (persistent) /* or one that has been, of that handle */
    *persistent = (struct persistent){request, frame->row->persistent ? facts->bytes : 0,
                                      frame->row->persistent ? facts->destination : UMW_MPI_NO_PEER};
}

/* In one piece and without pointers, which would have to be relocated in each rank. */
static const struct {
#define UMW_MPI(name, class, arity, ...) char name[sizeof "MPI_" #name];
#include "preload/abi/tables/mpi.def"
#undef UMW_MPI
} names = {
#define UMW_MPI(name, class, arity, ...) .name = "MPI_" #name,
#include "preload/abi/tables/mpi.def"
#undef UMW_MPI
};
static const uint16_t names_at[] = {
    0,
#define UMW_MPI(name, class, arity, ...) offsetof(__typeof__(names), name),
#include "preload/abi/tables/mpi.def"
#undef UMW_MPI
};
_Static_assert(sizeof names <= UINT16_MAX, "offsets fit");

/* What the call has done to communicators. */
static void note_changes(const struct umw_mpi_row* row, const uintptr_t* words)
{
  if (row->made && words[row->made])
    umw_mpi_note_communicator(umw_mpi_handle_at(words[row->made]), (const char*)&names + names_at[row->function]);
  else if (row->function == UMW_MPI_Comm_idup)
    umw_mpi_announce_communicator(umw_mpi_handle_at(words[2]), umw_mpi_handle(words[1]));
  else if (row->function == UMW_MPI_Comm_idup_with_info)
    umw_mpi_announce_communicator(umw_mpi_handle_at(words[3]), umw_mpi_handle(words[1]));
  else if (row->function == UMW_MPI_Comm_set_name)
    umw_mpi_name_communicator(umw_mpi_handle(words[1]));
}

static void count(const struct umw_mpi_frame* frame, const uintptr_t* words, const struct umw_mpi_times* times,
                  struct umw_mpi_facts* facts)
{
  const struct umw_mpi_row* row = frame->row;
  uint64_t bytes = 0;
  bool hands_over = row->payload != UMW_MPI_nothing && !row->persistent;
  if (umw_mpi_open) {
    struct umw_mpi_communicator* communicator = NULL;
    if (row->comm) {
      const uint64_t handle = umw_mpi_handle(words[row->comm]);
      communicator = umw_mpi_communicator(handle);
      if (!communicator)
        communicator = umw_mpi_note_communicator(handle, NULL);
    }
    const int32_t destination = destination_of(row, words, communicator);
    bytes = row->peer && destination == UMW_MPI_NO_PEER ? 0 : umw_mpi_payload(row, words, communicator);
    *facts = (struct umw_mpi_facts){facts->time_ps, communicator, destination, bytes};
    if (row->request)
      note_request(frame, words, facts);
    if (row->persistent)
      bytes = 0;
    else if (row->class_ == UMW_MPI_point_to_point && row->requests) {
      bytes = count_started(row, words);
      hands_over = true;
    } else
      count_message(destination, bytes);
    note_changes(row, words);
    if (row->class_ == UMW_MPI_collective && communicator)
      umw_mpi_add_timed(UMW_MPI_WHAT(UMW_MPI_COUNT_COMMUNICATOR, row->function, communicator->label), bytes, times);
  }
  umw_mpi_add_timed(UMW_MPI_WHAT(UMW_MPI_COUNT_SITE, row->function, (uintptr_t)frame->caller), bytes, times);
  if (hands_over)
    umw_mpi_add(UMW_MPI_WHAT(UMW_MPI_COUNT_SIZE, row->function, bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0),
                bytes);
}

static void end(const struct umw_mpi_frame* frame, const uintptr_t* words, bool known)
{
  const struct umw_mpi_row* row = frame->row;
  int64_t time_ps, cpu_ps;
  look_at_clock(&time_ps, &cpu_ps);
  const int64_t time = time_ps > frame->time_ps ? time_ps - frame->time_ps : 0;
  const int64_t computed = cpu_ps > frame->cpu_ps ? cpu_ps - frame->cpu_ps : 0;
  const int64_t waited = time > computed ? time - computed : 0;
  const int64_t late = umw_mpi_gate->late_ps - frame->late_ps;
  const struct umw_mpi_times times = {time, waited, late < waited ? late : waited};
  struct umw_mpi_facts facts = {frame->time_ps + time, NULL, UMW_MPI_NO_PEER, 0};
  if (known)
    count(frame, words, &times, &facts);
  else
    umw_mpi_add_timed(UMW_MPI_WHAT(UMW_MPI_COUNT_SITE, row->function, (uintptr_t)frame->caller), 0, &times);
  if (umw_mpi_events)
    umw_mpi_trace_leave(frame, words, known, &facts);
  frame->place->function = UMW_MPI_NONE;
}

void umw_mpi_leave(const struct umw_mpi_frame* frame, const uintptr_t* words, bool succeeded)
{
  const struct umw_mpi_row* row = frame->row;
  if (!row || !umw_mpi_gate)
    return;
  ++umw_mpi_gate->no_preempt;
  end(frame, words, succeeded);
  if (succeeded && (row->function == UMW_MPI_Init || row->function == UMW_MPI_Init_thread))
    umw_mpi_begin(frame->caller);
  const bool nested = is_nested(frame);
  if (!nested)
    outermost = NULL;
  --umw_mpi_gate->no_preempt;
  if (!nested)
    tell(row, true);
}

void umw_mpi_leave_fortran(const struct umw_mpi_frame* frame)
{
  if (!frame->row || !umw_mpi_gate)
    return;
  ++umw_mpi_gate->no_preempt;
  if (from_fortran == frame) /* the library has called nothing of that name */
    end(frame, NULL, false);
  from_fortran = NULL;
  outermost = NULL;
  --umw_mpi_gate->no_preempt;
  tell(frame->row, true);
}
