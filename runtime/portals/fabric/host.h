// SPDX-License-Identifier: LGPL-2.1-or-later
// What the functional Portals engine asks of the runtime around it. The runtime answers with simulated threads that
// block; a unit test answers by stepping the timeline.
#pragma once

#include <memory>

#include "preload/abi/portals4.h"
#include "runtime/base/origin.h"
#include "runtime/base/time.h"

namespace umwelt::portals
{

class Process;

class Host
{
public:
  // Blocks the calling simulated thread until changed(process) is called or `deadline` is reached (sim::never: no
  // limit). May also return early for no reason; callers look again. False: the deadline has passed.
  virtual bool wait(Process& process, sim::SimTime deadline) = 0;
  // A message to it had no room there, or a portal table entry that is disabled.
  virtual void refused(Process& process) { (void)process; }
  // Something `process` can observe changed: an event became visible, a counter moved, a queue slot became free, an
  // abort.
  virtual void changed(Process& process) = 0;
  // The first of these, of that queue.
  virtual void event_visible(Process& process, ptl_handle_eq_t queue) { (void)queue, changed(process); }
  // A message of the process leaves at now(process). What is to be kept of that, or null.
  virtual std::unique_ptr<sim::Origin> departs(Process& process)
  {
    (void)process;
    return nullptr;
  }
  // What rank `source` began at `began` has come for it, as far as the NIC is concerned: so many bytes. `origin`: what
  // departs() gave, or null.
  virtual void came(Process& process, std::uint32_t source, const sim::Origin* origin, sim::SimTime began,
                    std::uint64_t bytes)
  {
    (void)process, (void)source, (void)origin, (void)began, (void)bytes;
  }
  // The answer to what it began itself at `began` has come from rank `other`.
  virtual void answered(Process& process, std::uint32_t other, const sim::Origin* origin, sim::SimTime began,
                        std::uint64_t bytes)
  {
    (void)process, (void)other, (void)origin, (void)began, (void)bytes;
  }
  // What one of both ranks began then has come to the other, which does not hear of it by came().
  virtual void exchanged(std::uint32_t one, std::uint32_t other, sim::SimTime began)
  {
    (void)one, (void)other, (void)began;
  }
  // The NIC has written to memory of `process`. `told`: an event or a count says so, too.
  virtual void written(Process& process, bool told) { (void)process, (void)told; }
  // The process asked and there was nothing (EQGet, EQPoll without time-out, CTGet with the value it already knew). The
  // runtime may block the caller until something can have changed (runtime/job/polling.h). True: worth looking again
  // now.
  virtual bool empty_poll(Process& process) = 0;
  // The process made a call that tells nothing of events, perhaps on every turn of a loop that waits for something
  // else, as for its memory: as empty_poll().
  virtual void idle_call(Process& process) { (void)process; }
  // A poll or wait of `process` returned something: it is not spinning.
  virtual void productive_poll(Process& process) = 0;
  // It was an event; `more`: the same queue has another.
  virtual void took_event(Process& process, bool more) { (void)process, (void)more; }
  // The calling thread has learned of bytes the NIC wrote into its memory. What it does with them is its own computing,
  // but on the simulated machine they are in no cache of its core; `unread` of them it has to read at once.
  virtual void received(Process& process, std::uint64_t unread) { (void)process, (void)unread; }
  // The calling thread spends CPU time (writing a command to the NIC, taking an event). It may go on before that has
  // passed: now().
  virtual void spend(Process& process, sim::SimTime host_time) = 0;
  // The time of the calling thread: the timeline's, or later. What it does now happens then.
  [[nodiscard]] virtual sim::SimTime now(const Process& process) const = 0;

protected:
  ~Host() = default;
};

} // namespace umwelt::portals
