// SPDX-License-Identifier: LGPL-2.1-or-later
// Polling. A rank that asks for events and finds none makes no simulated progress, and nothing it asks for can change
// before (a) something reaches it, (b) a thread that shares its memory runs, (c) a timer of its own fires, or (d) time
// it looks at passes. So after a few empty polls in a row the rank blocks until one of these, and its clock jumps. A
// rank that computes between its polls is not waiting and is left alone. A rank that reads the clock between its polls
// may be waiting for a time nobody else knows: it goes on in steps, of 1/64 of the time it has waited and at most 10
// us, cut short by anything that reaches it.
//
// Blocking for good on the strength of a few polls could be wrong: the rank may ask a few times in a row, in several
// places or in a loop that counts, and then go on. So it gets to look again after 20 us, and whenever it has waited
// four times as long: a short series of polls in vain costs so much more than it should, a long wait some looks more.
// And when nothing else is left to happen all such ranks are let go for another round, again and again, in longer and
// longer rounds, before the run is called a deadlock. How often depends on whether the thread comes back to where it
// has stood before, registers and stack the same (job/recurrence.h): a call that waits in the library does, and a loop
// that counts where it is not seen (in a global variable, say) gets through a million polls; one that never stands in
// the same place twice does count, and gets through a hundred million, as natively in several seconds. (One that counts
// its polls while another spins in a way that is not recognised has the looks alone: time goes on, so there is no
// round.)
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/base/time.h"
#include "runtime/job/thread.h"

namespace umwelt::job
{

class Job;
class Rank;

class Polling
{
public:
  explicit Polling(Job& job) : job_(job) {}

  // An empty poll of the calling thread of `rank`. True: it was blocked and something may have changed since.
  bool empty(Rank& rank);
  // A call that tells nothing, but that a loop which looks at memory may make on every turn. Programs make it after
  // each of their atomics, too: only in a row is it a poll.
  void nothing_to_tell(Rank& rank);
  // The calling thread looks at memory in a loop that nothing it does itself can end: blocks it until something can
  // have changed since the rank's count of changes was `seen`.
  void park(Rank& rank, std::uint64_t seen);
  // The same for a loop that is known to have waited already; it may look at the clock, too.
  void look_again(Rank& rank);
  // The calling thread may wait for time to pass, where computing takes none: blocks it until the next thing happens.
  void park_until_next(Rank& rank);
  // Something has reached the rank: what it found empty before says nothing any more. It may have several queues and
  // look into them in turn, so only a full round of empty polls from here on means that there is nothing in any.
  static void changed(Rank& rank);
  // It is no longer let round for want of anything else to happen.
  static void end_rounds(Rank& rank);
  // A poll that found something, or a call that does something.
  void productive(Rank& rank);

  // Nothing is left to happen: lets the parked ranks go round once more. False: no rank is parked, or they have gone
  // round often enough without anybody getting anywhere.
  bool another_round();
  // Some rank got on.
  void progress()
  {
    begin_era();
    all_rounds_ = 0;
    ++steps_;
  }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // The thread has made a call that does something, though nothing that others wait for. One that was let go round has
  // not gone round in vain, then.
  void acted(PollState& poll)
  {
    if (std::exchange(poll.goes_round, false))
      begin_era();
  }

private:
  // How long a thread that looks elsewhere may wait for something to happen there. Something has happened to a
  // descriptor of the rank, and it has not looked there since: MPI libraries run their event loop only at intervals of
  // time.
  [[nodiscard]] static sim::SimTime wait_for_descriptors(const Rank& rank, sim::SimTime waited);
  bool spin(Rank& rank, sim::SimTime deadline);
  bool wait_for_peers(Rank& rank, sim::SimTime deadline);
  bool wait_for_network(Rank& rank, sim::SimTime deadline);

  void begin_era()
  {
    rounds_ = last_rounds_ = 0;
    ++era_;
  }
  void went_round(Rank& rank, PollState& poll, std::uint64_t quick) const;
  void force_wakeup(Rank& rank, Thread& thread, std::uint64_t least);

  Job& job_;
  std::uint64_t era_ = 1;    // grows with progress, and when a thread that is let round does something
  unsigned rounds_ = 0;      // since then
  unsigned last_rounds_ = 0; // of all, though none is expected to get on
  unsigned all_rounds_ = 0;  // without progress, whatever else they have done
  std::uint64_t steps_ = 0;
};

} // namespace umwelt::job
