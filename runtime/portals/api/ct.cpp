// SPDX-License-Identifier: LGPL-2.1-or-later
// Counting events (Portals 4.3, 3.14) and what they trigger among themselves (3.16).
#include "runtime/portals/api/api.h"
#include "runtime/portals/api/waiting.h"

namespace umwelt::portals::api
{

namespace
{

int find(Process& process, ptl_handle_ct_t handle, Counter*& counter)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  counter = process.counter(handle);
  return counter ? PTL_OK : PTL_ARG_INVALID;
}

// The program has changed the counter: triggers fire, and its other threads may be waiting.
void changed(Process& process, Counter& counter)
{
  process.fabric().triggers().changed(*process.owner(counter.handle), counter);
  process.fabric().host().changed(process);
}

bool valid(const Process& process, const ptl_handle_ct_t* handles, unsigned size)
{
  if (!handles || size == 0)
    return false;
  for (unsigned i = 0; i < size; ++i)
    if (!process.counter(handles[i]) || Handle::decode(handles[i]).interface != Handle::decode(handles[0]).interface)
      return false;
  return true;
}

// Reads the first counter that has reached its test. False if none has; `result` is set otherwise.
bool look(Process& process, const ptl_handle_ct_t* handles, const ptl_size_t* tests, unsigned size,
          ptl_ct_event_t& event, unsigned& which, int& result)
{
  for (which = 0; which < size; ++which) {
    Counter* counter = process.counter(handles[which]);
    if (!counter) {
      result = PTL_ABORTED; // freed under the waiting thread
      return true;
    }
    if (counter->reached(tests[which])) {
      event = counter->read();
      result = PTL_OK;
      return true;
    }
  }
  return false;
}

int finish(Process& process, int result)
{
  if (result == PTL_OK)
    took(process, process.fabric().model().at(process.node()).take_cost(net::WriteKind::counter));
  return result;
}

int wait(Process& process, const ptl_handle_ct_t* handles, const ptl_size_t* tests, unsigned size,
         sim::SimTime deadline, ptl_ct_event_t& event, unsigned& which)
{
  int result = PTL_OK;
  switch (wait_for(process, deadline, [&] { return look(process, handles, tests, size, event, which, result); })) {
  case Outcome::timed_out:
    return PTL_CT_NONE_REACHED;
  case Outcome::ended:
    return PTL_ABORTED;
  case Outcome::found:
    break;
  }
  return finish(process, result);
}

bool both(const ptl_ct_event_t& value)
{
  return value.success != 0 && value.failure != 0;
}

int arm(Process& process, TriggeredOp::Kind kind, ptl_handle_ct_t ct_handle, const ptl_ct_event_t& value,
        ptl_handle_ct_t trigger, ptl_size_t threshold)
{
  Counter* counter = nullptr;
  if (const int result = find(process, ct_handle, counter); result != PTL_OK)
    return result;
  Ni& ni = *process.owner(ct_handle);
  Counter* trigger_counter = ni.counters.find(trigger);
  if (!trigger_counter || (kind == TriggeredOp::Kind::ct_add && both(value)))
    return PTL_ARG_INVALID;
  TriggeredOp op;
  op.kind = kind;
  op.object = ct_handle;
  op.value = value;
  op.threshold = threshold;
  return process.fabric().triggers().arm(ni, *trigger_counter, op);
}

} // namespace

int PtlCTAlloc(Process& process, ptl_handle_ni_t ni_handle, ptl_handle_ct_t* ct_handle)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  Ni* ni = process.ni(ni_handle);
  if (!ni || !ct_handle)
    return PTL_ARG_INVALID;
  if (ni->counters.live() >= static_cast<std::size_t>(ni->limits.max_cts))
    return PTL_NO_SPACE;
  const Counter* counter = ni->counters.create();
  if (!counter)
    return PTL_NO_SPACE;
  *ct_handle = counter->handle;
  return PTL_OK;
}

int PtlCTFree(Process& process, ptl_handle_ct_t ct_handle)
{
  Counter* counter = nullptr;
  if (const int result = find(process, ct_handle, counter); result != PTL_OK)
    return result;
  Ni& ni = *process.owner(ct_handle);
  process.fabric().triggers().cancel(ni, *counter);
  ni.counters.destroy(*counter);
  process.fabric().host().changed(process);
  return PTL_OK;
}

int PtlCTCancelTriggered(Process& process, ptl_handle_ct_t ct_handle)
{
  Counter* counter = nullptr;
  if (const int result = find(process, ct_handle, counter); result != PTL_OK)
    return result;
  process.fabric().triggers().cancel(*process.owner(ct_handle), *counter);
  return PTL_OK;
}

int PtlCTGet(Process& process, ptl_handle_ct_t ct_handle, ptl_ct_event_t* event)
{
  Counter* counter = nullptr;
  if (const int result = find(process, ct_handle, counter); result != PTL_OK)
    return result;
  if (!event)
    return PTL_ARG_INVALID;
  bool news = !counter->known();
  if (!news && process.fabric().host().empty_poll(process)) {
    if (const int result = find(process, ct_handle, counter); result != PTL_OK)
      return result;
    news = !counter->known();
  }
  *event = counter->read();
  if (news)
    took(process, process.fabric().model().at(process.node()).take_cost(net::WriteKind::counter));
  return PTL_OK;
}

int PtlCTWait(Process& process, ptl_handle_ct_t ct_handle, ptl_size_t test, ptl_ct_event_t* event)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  if (process.aborted()) // before the handle is looked at: the counter may be gone already (PtlAbort)
    return PTL_ABORTED;
  if (!event || !process.counter(ct_handle))
    return PTL_ARG_INVALID;
  unsigned which = 0;
  return wait(process, &ct_handle, &test, 1, sim::never, *event, which);
}

int PtlCTPoll(Process& process, const ptl_handle_ct_t* ct_handles, const ptl_size_t* tests, unsigned size,
              ptl_time_t timeout, ptl_ct_event_t* event, unsigned* which)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  if (process.aborted())
    return PTL_ABORTED;
  if (!tests || !event || !which || !valid(process, ct_handles, size))
    return PTL_ARG_INVALID;
  if (timeout > 0)
    return wait(process, ct_handles, tests, size, deadline_of(process, timeout), *event, *which);
  int result = PTL_OK;
  const bool found =
      look_twice(process, [&] { return look(process, ct_handles, tests, size, *event, *which, result); });
  return found ? finish(process, result) : PTL_CT_NONE_REACHED;
}

int PtlCTSet(Process& process, ptl_handle_ct_t ct_handle, ptl_ct_event_t new_ct)
{
  Counter* counter = nullptr;
  if (const int result = find(process, ct_handle, counter); result != PTL_OK)
    return result;
  counter->host_set(new_ct);
  changed(process, *counter);
  return PTL_OK;
}

int PtlCTInc(Process& process, ptl_handle_ct_t ct_handle, ptl_ct_event_t increment)
{
  Counter* counter = nullptr;
  if (const int result = find(process, ct_handle, counter); result != PTL_OK)
    return result;
  if (both(increment))
    return PTL_ARG_INVALID;
  counter->host_add(increment);
  changed(process, *counter);
  return PTL_OK;
}

int PtlTriggeredCTInc(Process& process, ptl_handle_ct_t ct_handle, ptl_ct_event_t increment,
                      ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
  return arm(process, TriggeredOp::Kind::ct_add, ct_handle, increment, trig_ct_handle, threshold);
}

int PtlTriggeredCTSet(Process& process, ptl_handle_ct_t ct_handle, ptl_ct_event_t new_ct,
                      ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
  return arm(process, TriggeredOp::Kind::ct_set, ct_handle, new_ct, trig_ct_handle, threshold);
}

} // namespace umwelt::portals::api
