// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/idleness.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

namespace
{

constexpr SimTime long_time = 4 * 3600 * sim::second;
constexpr std::uint64_t looks = 8;
constexpr std::uint64_t sleeps = 10'000;
// Simulated time ends after 106 days: who sleeps for hours cannot do so 10,000 times.
constexpr SimTime longest_time = 60 * 24 * 3600 * sim::second;
// From here on it is noted what has been written: long before there can be a verdict, and rarely reached by who gets
// on.
constexpr SimTime noteworthy = 60 * sim::second;
constexpr SimTime time_for_round = sim::microsecond; // of those that poll
constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();

// Bytes that the process has written so far, proc(5); unknown where the kernel does not count them.
std::uint64_t written_by(pid_t process)
{
  std::ifstream io(fmt::format("/proc/{}/io", process));
  for (std::string key; io >> key;) {
    std::uint64_t value = 0;
    io >> value;
    if (key == "wchar:")
      return value;
  }
  return unknown;
}

std::vector<std::uint64_t> written_by_workers(Job& job)
{
  if (job.workers() == nullptr)
    return {written_by(getpid())};
  std::vector<std::uint64_t> bytes;
  for (unsigned worker = 0; worker < job.workers()->count(); ++worker)
    bytes.push_back(written_by(job.workers()->pid(worker)));
  return bytes;
}

} // namespace

void Idleness::note_progress()
{
  if (job_.polling().steps() == steps_)
    return;
  steps_ = job_.polling().steps();
  ++epoch_;
  since_ = evidence_since_ = job_.scheduler().now();
  statistics_.clear();
  written_.clear();
}

void Idleness::take_figures()
{
  if (statistics_.empty())
    for (const auto& rank : job_.ranks())
      statistics_.push_back(rank->statistics);
}

// They may have been taken a little later, when ranks had waited some more.
std::vector<observe::RankStatistics> Idleness::statistics() const
{
  std::vector<observe::RankStatistics> figures = statistics_;
  for (observe::RankStatistics& rank : figures)
    rank.waiting = std::min(rank.waiting, std::max<SimTime>(since_ - rank.compute - rank.communication, 0));
  return figures;
}

bool Idleness::timed_out(Thread& thread)
{
  note_progress();
  if (thread.time_outs.epoch != epoch_)
    thread.time_outs = {epoch_, 0};
  ++thread.time_outs.count;
  if (job_.scheduler().now() - since_ < noteworthy)
    return false;
  if (written_.empty()) {
    take_figures();
    written_ = written_by_workers(job_);
  }
  if (!enough(thread) || !only_time_outs(thread) || written_.front() == unknown || !nothing_written())
    return false;
  while (job_.polling().another_round()) {
    job_.scheduler().sleep(time_for_round);
    if (job_.polling().steps() != steps_ || !only_time_outs(thread))
      return false;
  }
  return true;
}

bool Idleness::enough(const Thread& thread) const
{
  const std::uint64_t count = thread.time_outs.epoch == epoch_ ? thread.time_outs.count : 0;
  const SimTime span = job_.scheduler().now() - evidence_since_;
  return count >= looks && ((span >= long_time && (thread.at_descriptors || count >= sleeps)) || span >= longest_time);
}

// All that is due is somebody's time-out, or that somebody who polls looks once more.
bool Idleness::only_time_outs(const Thread& self) const
{
  engine::Scheduler& scheduler = job_.scheduler();
  if (scheduler.absent > 0 || scheduler.outside_work())
    return false;
  std::size_t due = 0;
  bool somebody_waits = false;
  for (const auto& rank : job_.ranks()) {
    if (rank->phase == Rank::Phase::loading)
      return false;
    for (const auto& thread : rank->threads) {
      if (thread->ended() || thread.get() == &self)
        continue;
      const engine::Actor& actor = *thread->actor;
      if (actor.state() != engine::Actor::State::blocked)
        return false;
      due += actor.on_timeline() + thread->look_again.pending();
      if (!actor.has_deadline() || thread->poll.parked)
        somebody_waits = true;
      else if (!enough(*thread))
        return false;
    }
  }
  return somebody_waits && due + self.look_again.pending() == scheduler.timeline().size();
}

bool Idleness::nothing_written()
{
  std::vector<std::uint64_t> now = written_by_workers(job_);
  if (now == written_)
    return true;
  written_ = std::move(now);
  evidence_since_ = job_.scheduler().now();
  ++epoch_;
  return false;
}

bool Idleness::stalled()
{
  note_progress();
  take_figures();
  if (written_.empty())
    written_ = written_by_workers(job_);
  for (const auto& rank : job_.ranks())
    for (const auto& thread : rank->threads)
      if (!thread->ended() && thread->actor->has_deadline() && !thread->poll.parked && !enough(*thread))
        return false;
  return nothing_written();
}

} // namespace umwelt::job
