/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests in the trace: what each has been begun by, and which of them a call has completed. Handles are used again,
 * by another thread even before the call that has completed the old request is back here, so what they stand for is
 * looked up when the call begins. */
#include "preload/mpi/events.h"

enum { SENDS = 1, RECEIVES = 2, COLLECTIVE = 4, MOVES = 8 };

struct request {
  uint64_t handle;
  uint64_t id, receive_id; /* of what is under way */
  uint64_t bytes, more;
  int32_t peer, tag;
  int32_t from, from_tag;
  uint32_t object;
  uint32_t size; /* of the communicator */
  const int32_t* members;
  uint16_t function;
  uint8_t what;
  bool persistent, active;
};
static struct umw_mpi_map known;

/* Those of the call under way. */
static _Thread_local struct request* asked;
static _Thread_local uint32_t asked_room, asked_count;

/* Messages found by MPI_Mprobe. */
struct message {
  uint64_t handle;
  const struct umw_mpi_communicator* communicator;
};
static struct umw_mpi_map messages;
static _Thread_local const struct umw_mpi_communicator* matched;

const struct umw_mpi_communicator* umw_mpi_message_communicator(void)
{
  return matched;
}

static bool takes_message(const struct umw_mpi_row* row)
{
  return row->function == UMW_MPI_Mrecv || row->function == UMW_MPI_Mrecv_c || row->function == UMW_MPI_Imrecv ||
         row->function == UMW_MPI_Imrecv_c;
}

static struct request* request_of(uint64_t handle)
{
  return handle == 0 || handle == umw_mpi_null_request() ? NULL
                                                         : umw_mpi_entry(&known, sizeof(struct request), handle, false);
}

static struct umw_event* about(enum umw_event_kind kind, const struct request* of, uint64_t id, int64_t time_ps)
{
  struct umw_event* event = umw_mpi_event(kind, of->function, time_ps);
  event->request = id;
  event->object = of->object;
  return event;
}

static bool make_room(uint32_t count)
{
  if (count <= asked_room)
    return true;
  uint32_t larger = asked_room ? asked_room : 16;
  while (larger < count)
    larger *= 2;
  struct request* memory = umw_mpi_memory(larger * sizeof *memory);
  if (!memory)
    return false;
  if (asked)
    umw_mpi_unuse(asked, asked_room * sizeof *asked);
  asked = memory;
  asked_room = larger;
  return true;
}

static bool completes_one(const struct umw_mpi_row* row)
{
  return row->function == UMW_MPI_Waitany || row->function == UMW_MPI_Testany;
}

void umw_mpi_trace_requests_enter(const struct umw_mpi_row* row, uintptr_t* words)
{
  asked_count = 0;
  matched = NULL;
  if (takes_message(row)) {
    const struct message* message = umw_mpi_entry(&messages, sizeof *message, umw_mpi_handle_at(words[4]), false);
    matched = message ? message->communicator : NULL;
  }
  if (row->function == UMW_MPI_Request_free)
    umw_mpi_trace_request_freed(umw_mpi_handle_at(words[1]));
  if (row->class_ != UMW_MPI_completion || !row->requests)
    return;
  const uint32_t count = row->many ? (uint32_t)words[row->many] : 1;
  if ((int32_t)count <= 0 || !make_room(count))
    return;
  bool any = false;
  for (uint32_t i = 0; i < count; ++i) {
    const struct request* of = request_of(umw_mpi_handle_at(words[row->requests] + i * umw_mpi_handle_size()));
    asked[i].what = 0;
    if (of && of->active) {
      asked[i] = *of;
      any = true;
    }
  }
  if (!any)
    return;
  asked_count = count;
  if (!umw_mpi_ignores_status(words[row->arity]))
    return;
  const uintptr_t own = umw_mpi_own_statuses(completes_one(row) ? 1 : count);
  if (own)
    words[row->arity] = own;
  else
    asked_count = 0;
}

static void complete(struct request* of, const struct umw_mpi_status* status, int64_t time_ps)
{
  struct request* now = request_of(of->handle);
  if (now && now->id == of->id)
    now->active = false;
  if (of->what & SENDS)
    umw_mpi_event(status->cancelled ? UMW_EVENT_CANCELLED : UMW_EVENT_SENT, of->function, time_ps)->request = of->id;
  if (of->what & RECEIVES) {
    const bool comes = !status->cancelled && status->source >= 0 && (uint32_t)status->source < of->size &&
                       of->members[status->source] >= 0;
    struct umw_event* event = about(comes ? UMW_EVENT_RECEIVED : UMW_EVENT_CANCELLED, of, of->receive_id, time_ps);
    event->peer = status->source;
    event->tag = status->tag;
    event->bytes = status->bytes;
  }
  if (of->what & COLLECTIVE) {
    struct umw_event* event = about(UMW_EVENT_COLLECTIVE_END, of, of->id, time_ps);
    event->peer = of->peer;
    event->bytes = of->bytes;
    event->more = of->more;
  }
  if (of->what & MOVES)
    about(UMW_EVENT_IO_END, of, of->id, time_ps)->bytes = status->bytes;
}

static void complete_at(const uintptr_t* words, const struct umw_mpi_row* row, uint32_t index, uint32_t status,
                        int64_t time_ps)
{
  if (index >= asked_count || asked[index].what == 0)
    return;
  const struct umw_mpi_status of = umw_mpi_status_at(words[row->arity], status);
  complete(&asked[index], &of, time_ps);
}

static void note_message(uintptr_t place, uintptr_t comm)
{
  const uint64_t handle = umw_mpi_handle_at(place);
  struct message* message = handle ? umw_mpi_entry(&messages, sizeof *message, handle, true) : NULL;
  if (message)
    message->communicator = umw_mpi_communicator(umw_mpi_handle(comm));
}

void umw_mpi_trace_completion(const struct umw_mpi_row* row, const uintptr_t* words, int64_t time_ps)
{
  switch (row->function) {
  case UMW_MPI_Mprobe:
    note_message(words[4], words[3]);
    break;
  case UMW_MPI_Improbe:
    if (*(const int*)words[4])
      note_message(words[5], words[3]);
    break;
  case UMW_MPI_Test:
  case UMW_MPI_Testall:
    if (!*(const int*)words[row->function == UMW_MPI_Test ? 2 : 3])
      break;
    /* fall through */
  case UMW_MPI_Wait:
  case UMW_MPI_Waitall:
    for (uint32_t i = 0; i < asked_count; ++i)
      complete_at(words, row, i, i, time_ps);
    break;
  case UMW_MPI_Testany:
    if (!*(const int*)words[4])
      break;
    /* fall through */
  case UMW_MPI_Waitany:
    complete_at(words, row, (uint32_t) * (const int*)words[3], 0, time_ps);
    break;
  case UMW_MPI_Waitsome:
  case UMW_MPI_Testsome: {
    const int done = *(const int*)words[3];
    for (int i = 0; i < done; ++i)
      complete_at(words, row, (uint32_t)((const int*)words[4])[i], (uint32_t)i, time_ps);
    break;
  }
  default:
    break;
  }
}

static void start(struct request* of, int64_t time_ps)
{
  of->active = of->what != 0;
  of->id = umw_mpi_next_request();
  if (of->what & SENDS) {
    struct umw_event* event = about(UMW_EVENT_SEND, of, of->id, time_ps);
    event->peer = of->peer;
    event->tag = of->tag;
    event->bytes = of->bytes;
  }
  if (of->what & RECEIVES) {
    of->receive_id = of->what & SENDS ? umw_mpi_next_request() : of->id;
    struct umw_event* event = about(UMW_EVENT_RECEIVE_BEGUN, of, of->receive_id, time_ps);
    event->peer = of->from;
    event->tag = of->from_tag;
  }
  if (of->what & COLLECTIVE)
    umw_mpi_event(UMW_EVENT_COLLECTIVE_BEGIN, of->function, time_ps)->request = of->id;
  if (of->what & MOVES) {
    struct umw_event* event = about(UMW_EVENT_IO_BEGIN, of, of->id, time_ps);
    event->tag = of->tag;
    event->bytes = of->bytes;
    about(UMW_EVENT_IO_ISSUED, of, of->id, time_ps);
  }
}

static void describe_message(struct request* of, const struct umw_mpi_row* row, const uintptr_t* words,
                             const struct umw_mpi_facts* facts, const struct umw_mpi_communicator* communicator)
{
  if (facts->destination >= 0) {
    of->what |= SENDS;
    of->peer = (int32_t)words[row->peer];
    of->tag = (int32_t)words[row->tag];
    of->bytes = facts->bytes;
  }
  const uint8_t from = row->from ? row->from : row->receives ? row->peer : 0;
  if (!from && !takes_message(row))
    return;
  of->from = from ? (int32_t)words[from] : -1;
  of->from_tag = from ? (int32_t)words[row->from ? row->from_tag : row->tag] : -1;
  if (of->from == umw_mpi_any_source())
    of->from = -1;
  else if (from && of->from < 0)
    return; /* MPI_PROC_NULL */
  of->what |= RECEIVES;
  of->size = (uint32_t)communicator->size;
  of->members = communicator->members;
}

void umw_mpi_trace_request(const struct umw_mpi_frame* frame, const uintptr_t* words, const struct umw_mpi_facts* facts)
{
  const struct umw_mpi_row* row = frame->row;
  const uint64_t handle = umw_mpi_handle_at(words[row->request]);
  struct request* of =
      handle && handle != umw_mpi_null_request() ? umw_mpi_entry(&known, sizeof(struct request), handle, true) : NULL;
  if (!of)
    return;
  const struct umw_mpi_communicator* communicator = row->comm ? facts->other : matched;
  *of = (struct request){.handle = handle, .function = row->function, .persistent = row->persistent};
  if (communicator) {
    of->object = communicator->traced;
    if (row->class_ == UMW_MPI_collective) {
      of->what = COLLECTIVE;
      of->peer = row->root ? (int32_t)words[row->root] : -1;
      of->bytes = facts->bytes;
      of->more = umw_mpi_received(row, words, communicator);
    } else
      describe_message(of, row, words, facts, communicator);
  } else if (row->moves) {
    of->what = MOVES;
    of->object = umw_mpi_file_number(words[row->file]);
    of->tag = row->moves;
    of->bytes = umw_mpi_asked(row, words);
    if (of->object == UINT32_MAX)
      of->what = 0;
  }
  if (!row->persistent)
    start(of, frame->time_ps);
}

void umw_mpi_trace_started(const struct umw_mpi_frame* frame, const uintptr_t* words)
{
  const struct umw_mpi_row* row = frame->row;
  const uint32_t count = row->many ? (uint32_t)words[row->many] : 1;
  for (uint32_t i = 0; i < count; ++i) {
    struct request* of = request_of(umw_mpi_handle_at(words[row->requests] + i * umw_mpi_handle_size()));
    if (of && of->persistent)
      start(of, frame->time_ps);
  }
}

void umw_mpi_trace_request_freed(uint64_t handle)
{
  struct request* of = request_of(handle);
  if (of)
    of->active = of->persistent = false;
}
