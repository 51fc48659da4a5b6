// SPDX-License-Identifier: LGPL-2.1-or-later
// Event queues (Portals 4.3, 3.13).
#include "runtime/portals/api/api.h"
#include "runtime/portals/api/waiting.h"

namespace umwelt::portals::api
{

namespace
{

// Takes the next event of one of the queues, beginning with the first. False if all are empty; `result` is set
// otherwise, also to PTL_ARG_INVALID when a queue does not exist (any more).
bool look(Process& process, const ptl_handle_eq_t* handles, unsigned size, ptl_event_t& event, unsigned& which,
          int& result)
{
  for (which = 0; which < size; ++which) {
    EventQueue* queue = process.queue(handles[which]);
    if (!queue) {
      result = PTL_ARG_INVALID;
      return true;
    }
    if (queue->available()) {
      result = queue->take(event);
      process.fabric().host().took_event(process, queue->available());
      return true;
    }
  }
  return false;
}

// All queues exist and belong to one interface.
bool valid(const Process& process, const ptl_handle_eq_t* handles, unsigned size)
{
  if (!handles || size == 0)
    return false;
  for (unsigned i = 0; i < size; ++i)
    if (!process.queue(handles[i]) || Handle::decode(handles[i]).interface != Handle::decode(handles[0]).interface)
      return false;
  return true;
}

// Bytes came into memory of the process.
bool brought_data(const ptl_event_t& event)
{
  if (event.ni_fail_type != PTL_NI_OK || event.mlength == 0)
    return false;
  switch (event.type) {
  case PTL_EVENT_PUT:
  case PTL_EVENT_PUT_OVERFLOW:
  case PTL_EVENT_ATOMIC:
  case PTL_EVENT_ATOMIC_OVERFLOW:
  case PTL_EVENT_FETCH_ATOMIC:
  case PTL_EVENT_FETCH_ATOMIC_OVERFLOW:
  case PTL_EVENT_REPLY:
    return true;
  default:
    return false;
  }
}

int finish(Process& process, int result, const ptl_event_t& event, ptl_handle_eq_t taken_from)
{
  if (result == PTL_OK || result == PTL_EQ_DROPPED) {
    const bool data = brought_data(event);
    const EventQueue& queue = *process.queue(taken_from); // it may be freed while we pay
    const std::uint64_t unread = data ? queue.unread() : 0;
    const net::Model& model = process.fabric().model().at(process.node());
    took(process, queue.read_ahead() ? model.take_next_cost() : model.take_cost(net::WriteKind::full_event));
    if (data)
      process.fabric().host().received(process, unread);
  }
  return result;
}

// One queue, without waiting.
int poll(Process& process, ptl_handle_eq_t handle, ptl_event_t& event)
{
  EventQueue* queue = process.queue(handle);
  if (!queue)
    return PTL_ARG_INVALID;
  Host& host = process.fabric().host();
  if (!queue->available()) {
    if (!host.empty_poll(process))
      return PTL_EQ_EMPTY;
    queue = process.queue(handle); // it may have been freed meanwhile
    if (!queue)
      return PTL_ARG_INVALID;
    if (!queue->available())
      return PTL_EQ_EMPTY;
  }
  const int result = queue->take(event);
  host.took_event(process, queue->available());
  return finish(process, result, event, handle);
}

int wait(Process& process, const ptl_handle_eq_t* handles, unsigned size, sim::SimTime deadline, ptl_event_t& event,
         unsigned& which)
{
  int result = PTL_OK;
  switch (wait_for(process, deadline, [&] { return look(process, handles, size, event, which, result); })) {
  case Outcome::timed_out:
    return PTL_EQ_EMPTY;
  case Outcome::ended:
    return PTL_ABORTED;
  case Outcome::found:
    break;
  }
  // A queue that was there at the start and is not now was freed under the waiting thread.
  return result == PTL_ARG_INVALID ? PTL_ABORTED : finish(process, result, event, handles[which]);
}

} // namespace

int PtlEQAlloc(Process& process, ptl_handle_ni_t ni_handle, ptl_size_t count, ptl_handle_eq_t* eq_handle)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  Ni* ni = process.ni(ni_handle);
  if (!ni || !eq_handle)
    return PTL_ARG_INVALID;
  constexpr ptl_size_t most = ptl_size_t{1} << 32;
  if (count > most || ni->queues.live() >= static_cast<std::size_t>(ni->limits.max_eqs))
    return PTL_NO_SPACE;
  EventQueue* queue = ni->queues.create();
  if (!queue)
    return PTL_NO_SPACE;
  queue->set_count(count > 0 ? count : 1);
  *eq_handle = queue->handle;
  return PTL_OK;
}

int PtlEQFree(Process& process, ptl_handle_eq_t eq_handle)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  EventQueue* queue = process.queue(eq_handle);
  if (!queue)
    return PTL_ARG_INVALID;
  process.owner(eq_handle)->queues.destroy(*queue);
  process.fabric().host().changed(process);
  return PTL_OK;
}

int PtlEQGet(Process& process, ptl_handle_eq_t eq_handle, ptl_event_t* event)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  return event ? poll(process, eq_handle, *event) : PTL_ARG_INVALID;
}

int PtlEQWait(Process& process, ptl_handle_eq_t eq_handle, ptl_event_t* event)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  if (process.aborted()) // before the handle is looked at: the queue may be gone already (PtlAbort)
    return PTL_ABORTED;
  if (!event || !process.queue(eq_handle))
    return PTL_ARG_INVALID;
  unsigned which = 0;
  return wait(process, &eq_handle, 1, sim::never, *event, which);
}

int PtlEQPoll(Process& process, const ptl_handle_eq_t* eq_handles, unsigned size, ptl_time_t timeout,
              ptl_event_t* event, unsigned* which)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  if (process.aborted())
    return PTL_ABORTED;
  if (size == 1 && timeout == 0 && eq_handles && event && which) {
    *which = 0;
    return poll(process, eq_handles[0], *event);
  }
  if (!event || !which || !valid(process, eq_handles, size))
    return PTL_ARG_INVALID;
  if (timeout > 0)
    return wait(process, eq_handles, size, deadline_of(process, timeout), *event, *which);
  int result = PTL_OK;
  const bool found = look_twice(process, [&] { return look(process, eq_handles, size, *event, *which, result); });
  return found ? finish(process, result, *event, eq_handles[*which]) : PTL_EQ_EMPTY;
}

} // namespace umwelt::portals::api
