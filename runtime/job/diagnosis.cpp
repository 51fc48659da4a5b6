// SPDX-License-Identifier: LGPL-2.1-or-later
// What is said when a run cannot go on: the report of a deadlock, of a time-out, of a fault of the runtime itself.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/base/exit_codes.h"
#include "runtime/diagnose/backtrace.h"
#include "runtime/diagnose/fatal.h"
#include "runtime/job/channel.h"
#include "runtime/job/hints.h"
#include "runtime/job/job.h"
#include "runtime/job/mpi_waits.h"

namespace umwelt::job
{

namespace
{

// The innermost frame of the program itself, as a line of the backtrace has it.
std::string place_in(std::string_view backtrace, std::string_view program)
{
  const std::string object = fmt::format("({})", program.substr(program.rfind('/') + 1));
  const std::size_t found = backtrace.find(object);
  if (found == std::string_view::npos)
    return {};
  const std::size_t begin = backtrace.rfind('#', found);
  const std::size_t end = backtrace.find('\n', found);
  const std::string_view line = backtrace.substr(begin, end - begin);
  return std::string(line.substr(line.find(' ') + 1));
}

} // namespace

// The runtime's state can no longer be trusted, so only a message and the way out. What is left on disk the janitor
// removes.
void Job::failed(int signal, const siginfo_t& information, const ucontext_t& context)
{
  if (signal == SIGPIPE)
    _exit(exit_code::signalled + SIGPIPE);
  output_.rescue();
  const Rank* rank = current();
  std::array<char, 1024> text;
  const char* description = sigdescr_np(signal);
  const auto end =
      rank != nullptr && (signal == SIGSEGV || signal == SIGBUS)
          ? fmt::format_to_n(
                text.begin(), text.size(),
                "umwelt: rank {} ({}) died of signal {} ({}) while the simulated NIC or runtime worked on its memory "
                "in {}: address {} is not accessible. Next step: check the buffers passed to that call; if they are "
                "right, this is a bug of Umwelt\n",
                rank->index, &rank->gate.host_name[0], signal, description, rank->last_call(), information.si_addr)
          : fmt::format_to_n(text.begin(), text.size(),
                             "umwelt: the simulation itself failed with signal {} ({}): a bug of Umwelt\n", signal,
                             description);
  diagnose::write_raw({text.data(), static_cast<std::size_t>(end.out - text.begin())});
  diagnose::end_with_backtrace(context, rank != nullptr && signal == SIGSEGV ? exit_code::signalled + signal
                                                                             : exit_code::failure);
}

void Job::interrupt(int signal, const ucontext_t* context)
{
  const Thread* running = context != nullptr ? static_cast<Thread*>(scheduler_.current()->owner) : nullptr;
  if (interruption_.ask(signal, running, context))
    scheduler_.stop();
}

// One paragraph per rank: what it is in, since when, and how it got there.
std::string Job::where_everyone_is(std::vector<std::string>* main_threads)
{
  if (main_threads != nullptr)
    main_threads->assign(ranks_.size(), {});
  std::string text;
  const std::vector<std::vector<std::string>> reports = reports_of_workers();
  for (const auto& rank : ranks_) {
    if (rank->phase == Rank::Phase::ended) {
      text += fmt::format("  {}: ended at {:.6f} s\n", rank->title(), sim::to_seconds(rank->finished));
      continue;
    }
    for (const auto& thread : rank->threads) {
      interruption_.moves();
      if (thread.get() == interruption_.interrupted())
        text += fmt::format("  {}{}: running\n{}", rank->title(),
                            thread->number > 0 ? fmt::format(" thread {}", thread->number) : "",
                            diagnose::backtrace_of(interruption_.context()));
      if (thread->ended())
        continue;
      const SimTime since = std::min(thread->waits_since(), end_of_time());
      text += fmt::format("  {}{}: in {} since {:.6f} s{}\n", rank->title(),
                          thread->number > 0 ? fmt::format(" thread {}", thread->number) : "", thread->last_call,
                          sim::to_seconds(since), thread->poll.parked ? ", polling" : "");
      text += mpi_call_of(*thread);
      std::string how;
      if (thread->channel)
        how = reports[thread->channel->worker()][thread->channel->slot()];
      else
        scheduler_.visit(*thread->actor, [&how] { how = diagnose::backtrace_here(); });
      text += how;
      if (main_threads != nullptr && thread->number == 0)
        main_threads->at(static_cast<std::size_t>(rank->index)) = how;
    }
  }
  return text;
}

// Nothing is ready and nothing is due, but for helper threads that look at a pipe now and then. Before this is a
// deadlock, the ranks that poll are let round many times, then time is moved on to the helper threads.
bool Job::stalled()
{
  if (polling_.another_round())
    return true;
  if (!idleness_.stalled() && scheduler_.wake_background([](const engine::Actor& actor) {
        return !static_cast<const Thread*>(actor.owner)->poll.parked; // those see nothing new until somebody else runs
      }))
    return true;
  if (running_ > 0)
    deadlocked();
  return false;
}

void Job::timed_out(Thread& thread)
{
  if (!idleness_.timed_out(thread))
    return;
  deadlocked();
  scheduler_.block();
}

// The report is of the moment when it all began.
void Job::deadlocked()
{
  ended_at_ = idleness_.since();
  const std::vector<observe::RankStatistics> figures = idleness_.statistics();
  for (std::size_t i = 0; i < figures.size(); ++i)
    ranks_[i]->statistics = figures[i];
  std::vector<WaitingThread> waiting;
  for (const auto& rank : ranks_)
    for (const auto& thread : rank->threads)
      if (!thread->ended())
        waiting.push_back({rank->index, thread->number == 0, thread->last_call,
                           thread->actor->has_deadline() && !thread->poll.parked});
  std::vector<std::string> backtraces;
  const std::string where = where_everyone_is(&backtraces);
  const std::string steps = next_steps(waiting);
  observe::DeadlockRecord record = waits_of(ranks_, end_of_time());
  for (observe::DeadlockRecord::Wait& wait : record.waits)
    wait.place = place_in(backtraces.at(wait.rank), commands_.at(ranks_.at(wait.rank)->program).front());
  constexpr std::string_view title = "Next step: ";
  record.next_step = steps.starts_with(title) ? steps.substr(title.size()) : steps;
  deadlock_ = std::make_shared<const observe::DeadlockRecord>(std::move(record));
  fail(exit_code::deadlock, "deadlock",
       fmt::format("deadlock at {}: no rank can go on, and nothing is under way that could change that\n{}{}",
                   simulated_now(), where + mpi_cycle(ranks_), steps));
}

} // namespace umwelt::job
