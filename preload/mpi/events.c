/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The records of a call, in the order of their times. */
#include "preload/mpi/events.h"

#include <string.h>

enum { ROOM = 1000 };

struct umw_events* umw_mpi_events;
static uint64_t requests;
static uint32_t communicators;

void umw_mpi_trace_begin(void)
{
  umw_mpi_events = umw_mpi_memory(sizeof *umw_mpi_events + ROOM * sizeof umw_mpi_events->events[0]);
  if (!umw_mpi_events)
    return;
  umw_mpi_events->room = ROOM;
  umw_mpi_gate->mpi_events = umw_mpi_events;
}

uint64_t umw_mpi_next_request(void)
{
  return ++requests;
}

struct umw_event* umw_mpi_event(enum umw_event_kind kind, uint16_t function, int64_t time_ps)
{
  struct umw_events* events = umw_mpi_events;
  if (events->used == events->room) {
    struct umw_args_umw_mpi_events arguments = {0, events->events, events->used * sizeof events->events[0]};
    umw_mpi_gate->cross(umw_mpi_gate, UMW_OP_umw_mpi_events, &arguments);
    events->used = 0;
  }
  struct umw_event* event = &events->events[events->used++];
  *event = (struct umw_event){
      .kind = (uint8_t)kind, .function = function, .tid = umw_mpi_gate->tid, .time_ps = time_ps, .peer = -1};
  return event;
}

void umw_mpi_event_data(const void* data, uint64_t bytes)
{
  for (uint64_t done = 0; done < bytes; done += UMW_EVENT_DATA_BYTES) {
    const uint64_t left = bytes - done;
    memcpy(umw_event_data(umw_mpi_event(UMW_EVENT_DATA, 0, 0)), (const char*)data + done,
           left < UMW_EVENT_DATA_BYTES ? left : UMW_EVENT_DATA_BYTES);
  }
}

static void tell_members(const struct umw_mpi_communicator* communicator, uint8_t flags, const int32_t* members,
                         int32_t size)
{
  const int32_t step = size > 1 ? members[1] - members[0] : 0;
  for (int32_t i = 1; i < size; ++i)
    if (members[i] != members[0] + i * step)
      flags |= UMW_EVENT_LISTED;
  const char* name = umw_mpi_label_text(communicator->label);
  struct umw_event* event = umw_mpi_event(UMW_EVENT_COMMUNICATOR, 0, 0);
  event->flags = flags;
  event->object = communicator->traced;
  event->request = communicator->ordinal;
  event->bytes = (uint64_t)size;
  event->more = strlen(name);
  event->peer = size > 0 ? members[0] : -1;
  event->tag = step;
  if (flags & UMW_EVENT_LISTED)
    umw_mpi_event_data(members, (uint64_t)size * sizeof *members);
  umw_mpi_event_data(name, strlen(name));
}

void umw_mpi_trace_communicator(struct umw_mpi_communicator* communicator, const int32_t* own, int32_t own_size)
{
  if (!umw_mpi_events)
    return;
  communicator->traced = communicators++;
  tell_members(communicator, own ? UMW_EVENT_TWO_GROUPS : 0, communicator->members, communicator->size);
  if (own)
    tell_members(communicator, UMW_EVENT_TWO_GROUPS | UMW_EVENT_OWN_GROUP, own, own_size);
}

/* It comes back when the message has been received. */
static bool receives_at_once(const struct umw_mpi_row* row)
{
  return row->class_ == UMW_MPI_point_to_point && !row->request && !row->requests && (row->receives || row->from);
}

void umw_mpi_trace_enter(const struct umw_mpi_row* row, uintptr_t* words)
{
  if (!umw_mpi_open)
    return;
  if ((receives_at_once(row) || row->status) && umw_mpi_ignores_status(words[row->arity])) {
    const uintptr_t own = umw_mpi_own_statuses(1);
    if (own)
      words[row->arity] = own;
  }
  umw_mpi_trace_requests_enter(row, words);
  umw_mpi_trace_object_enter(row, words);
}

static void tell_send(const struct umw_mpi_frame* frame, const uintptr_t* words, const struct umw_mpi_facts* facts)
{
  const struct umw_mpi_row* row = frame->row;
  if (facts->destination < 0 || !facts->other)
    return;
  struct umw_event* event = umw_mpi_event(UMW_EVENT_SEND, row->function, frame->time_ps);
  event->object = facts->other->traced;
  event->peer = (int32_t)words[row->peer];
  event->tag = (int32_t)words[row->tag];
  event->bytes = facts->bytes;
}

static void tell_receive(const struct umw_mpi_frame* frame, const uintptr_t* words, const struct umw_mpi_facts* facts)
{
  const struct umw_mpi_row* row = frame->row;
  const struct umw_mpi_communicator* communicator = row->comm ? facts->other : umw_mpi_message_communicator();
  if (!receives_at_once(row) || !communicator || umw_mpi_ignores_status(words[row->arity]))
    return;
  const struct umw_mpi_status status = umw_mpi_status_at(words[row->arity], 0);
  if (status.source < 0 || status.source >= communicator->size || communicator->members[status.source] < 0)
    return;
  struct umw_event* event = umw_mpi_event(UMW_EVENT_RECEIVED, row->function, facts->time_ps);
  event->object = communicator->traced;
  event->peer = status.source;
  event->tag = status.tag;
  event->bytes = status.bytes;
}

static void tell_collective(const struct umw_mpi_frame* frame, const uintptr_t* words,
                            const struct umw_mpi_facts* facts)
{
  const struct umw_mpi_row* row = frame->row;
  if (!facts->other)
    return;
  umw_mpi_event(UMW_EVENT_COLLECTIVE_BEGIN, row->function, frame->time_ps);
  struct umw_event* event = umw_mpi_event(UMW_EVENT_COLLECTIVE_END, row->function, facts->time_ps);
  event->object = facts->other->traced;
  event->peer = row->root ? (int32_t)words[row->root] : -1;
  event->bytes = facts->bytes;
  event->more = umw_mpi_received(row, words, facts->other);
}

static void tell_what_it_did(const struct umw_mpi_frame* frame, const uintptr_t* words,
                             const struct umw_mpi_facts* facts)
{
  const struct umw_mpi_row* row = frame->row;
  if (row->function == UMW_MPI_Request_free || row->function == UMW_MPI_Cancel)
    return;
  umw_mpi_trace_objects_begin(frame, words, facts);
  if (row->class_ == UMW_MPI_point_to_point && row->requests)
    umw_mpi_trace_started(frame, words);
  else if (row->request)
    umw_mpi_trace_request(frame, words, facts);
  else if (row->class_ == UMW_MPI_collective)
    tell_collective(frame, words, facts);
  else if (row->class_ == UMW_MPI_point_to_point) {
    tell_send(frame, words, facts);
    tell_receive(frame, words, facts);
  }
  if (row->class_ == UMW_MPI_completion)
    umw_mpi_trace_completion(row, words, facts->time_ps);
  umw_mpi_trace_objects_end(frame, words, facts);
}

void umw_mpi_trace_leave(const struct umw_mpi_frame* frame, const uintptr_t* words, bool known,
                         const struct umw_mpi_facts* facts)
{
  umw_mpi_event(UMW_EVENT_ENTER, frame->row->function, frame->time_ps);
  if (known && umw_mpi_open)
    tell_what_it_did(frame, words, facts);
  umw_mpi_event(UMW_EVENT_LEAVE, frame->row->function, facts->time_ps);
}
