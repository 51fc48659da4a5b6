/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/threads/waiting.h"

#include "preload/abi/burst.h"
#include "preload/threads/record.h"

int umw_threads_started;
static int waiters;

void umw_wait_for_change(uint64_t seen, int64_t duration_ps)
{
  ++waiters;
  umw_thread_wait(seen, duration_ps, 0, 0);
  --waiters;
}

void umw_wait_at(const void* place, const void* self, uint64_t seen, int64_t duration_ps)
{
  struct umw_thread* const thread = umw_this_thread();
  thread->waits_for = place;
  thread->known_as = self;
  ++waiters;
  umw_thread_wait(seen, duration_ps, (uintptr_t)place, (uintptr_t)self);
  --waiters;
  thread->waits_for = thread->known_as = NULL;
}

void umw_changed_at(const void* place, uint32_t most)
{
  ++umw_gate->wakes;
  if (waiters == 0)
    return;
  const struct umw_thread* thread = &umw_main_thread;
  while (thread && thread->waits_for != place && thread->known_as != place)
    thread = thread == &umw_main_thread ? umw_threads : thread->next;
  if (thread)
    umw_thread_wake((uintptr_t)place, most);
}

void umw_wait_for_object(const struct umw_object* object, int64_t duration_ps)
{
  if (object->shared)
    umw_object_wait(object->place.device, object->place.inode, object->place.offset, object->seen, duration_ps);
  else
    umw_wait_at(object->address, NULL, object->seen, duration_ps);
}

/* A thread takes and releases what others want at its own time: what it has computed so far has passed, and who is due
 * before runs first. Short bursts are left standing; they would cost more than they tell. Where computing takes no
 * time, a thread that takes and releases one lock after the other, to see what it protects, does not keep the others
 * from running: so many take as long as that many clock reads (runtime/gate/dispatch.cpp has it for what crosses). More
 * where it goes round for want of anything else to happen: Open MPI 5 takes locks whenever it asks the NIC, and time
 * that passes is no deadlock. */
void umw_at_own_time(bool shared)
{
  const struct umw_clock* clock = &umw_gate->clock;
  const int64_t shortest = 500000; /* ps */
  const unsigned most_at_once = umw_gate->shows_state != 0 ? 640000 : 10000;
  static uint64_t crossings; /* so many when `at_once` began */
  static unsigned at_once;
  if (umw_threads_started == 0 && !shared)
    return;
  if (clock->debt_ps + (int64_t)umw_burst_ps(clock) > shortest) { /* modelled kernels are a debt */
    umw_clock_settle(0);
    return;
  }
  if (clock->ps_per_tick > 0)
    return;
  if (crossings != umw_gate->crossings) {
    crossings = umw_gate->crossings;
    at_once = 0;
  } else if (++at_once > most_at_once) {
    at_once = 0;
    umw_sleep(most_at_once * clock->read_cost_ps);
  }
}

void umw_changed(void)
{
  ++umw_gate->wakes;
  if (waiters > 0)
    umw_thread_wake(0, 0);
}

void umw_released(const struct umw_object* object, uint32_t most)
{
  if (object->shared)
    umw_object_wake(object->place.device, object->place.inode, object->place.offset);
  else
    umw_changed_at(object->address, most);
}
