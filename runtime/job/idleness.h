// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether the job can still get anywhere when threads go on waking by themselves: a libevent loop that looks at a pipe
// once an hour, a watcher that sleeps for 100 ms again and again. As long as there is one the timeline is never empty,
// so an empty timeline alone does not tell a deadlock.
//
// No single time-out proves anything: the thread may be counting them. So a deadlock is called only when all of this
// holds:
// - somebody waits without a time-out;
// - nothing is due but time-outs: no message is under way, nobody computes, no timer is armed, no rank starts;
// - for `long_time` of simulated time no thread has done anything but look, wait, sleep and wake others in vain
//   (Polling::progress() is told of everything else: messages, events, locks and semaphores that somebody got, threads
//   that ended);
// - every thread with a time-out has seen it come again and again in that time: those that look at descriptors `looks`
//   times, all others `sleeps` times;
// - no process that carries ranks has written anything meanwhile (/proc/PID/io): whoever prints is alive;
// - those that poll have been let round often enough (Polling::another_round).
// A program that does act after 1,000 sleeps of an hour, or after 10,000 of a second, is never taken for one that
// hangs.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/observe/statistics.h"

namespace umwelt::job
{

class Job;
struct Thread;
using sim::SimTime;

// What is known of a thread that wakes by itself.
struct TimeOuts {
  std::uint64_t epoch = 0; // of Idleness, in which they were counted
  std::uint64_t count = 0; // time-outs that came
};

class Idleness
{
public:
  explicit Idleness(Job& job) : job_(job) {}

  // The running thread goes on because its time-out has come. True: nobody gets anywhere any more. This is the moment
  // to find out: whoever it wakes in vain is about to look.
  bool timed_out(Thread& thread);
  // No thread is ready, and nothing is due but time-outs that do not keep the simulation going. True: nobody gets
  // anywhere.
  bool stalled();

  // When the last one got somewhere, and the figures of the ranks then.
  [[nodiscard]] SimTime since() const { return since_; }
  [[nodiscard]] std::vector<observe::RankStatistics> statistics() const;

private:
  void note_progress();
  void take_figures();
  [[nodiscard]] bool enough(const Thread& thread) const;
  [[nodiscard]] bool only_time_outs(const Thread& self) const;
  bool nothing_written();

  Job& job_;
  std::uint64_t steps_ = ~std::uint64_t{0}; // Polling::steps() at since_
  std::uint64_t epoch_ = 0;                 // grows when the evidence so far is worth nothing
  SimTime since_ = 0;
  SimTime evidence_since_ = 0;                      // later than since_ if somebody has written something
  std::vector<observe::RankStatistics> statistics_; // empty: not taken yet
  std::vector<std::uint64_t> written_;              // bytes, by process; empty: not looked at yet
};

} // namespace umwelt::job
