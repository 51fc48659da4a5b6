// SPDX-License-Identifier: LGPL-2.1-or-later
// A rank's life and death: it cannot be loaded, has started, ends, dies of a signal, aborts; and what that means for
// the job.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/base/exit_codes.h"
#include "runtime/job/job.h"
#include "runtime/job/pmi_socket.h"
#include "runtime/job/standard_output.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::job
{

void Job::not_loaded(Rank& rank, const char* message, bool gave_up)
{
  fail(gave_up ? exit_code::not_found : exit_code::refused, "a program could not be loaded",
       fmt::format("{}: {} cannot be loaded: {}. Next step: `ldd {}`; if the libraries are there, `umwelt doctor`",
                   rank.title(), rank.hosted.argv.front(), message, rank.hosted.program_path));
  abandon();
}

void Job::started(Rank& rank)
{
  rank.phase = Rank::Phase::running;
  rank.gate.running = 1;
  if (++begun_ <= ranks_.size()) // beyond, others have been executed
    output_.show_start(begun_, ranks_.size());
}

// What it has told of its calls and still has, if it has not ended by itself, and the calls it is in.
void Job::keep_events(Rank& rank)
{
  const std::shared_ptr<mpi::EventSpool> spool = plan_.trace ? plan_.trace->events() : nullptr;
  if (!spool)
    return;
  const auto index = static_cast<std::uint32_t>(rank.index);
  const portals::Memory& memory = rank.portals->memory();
  if (const umw_events* const there = std::exchange(rank.gate.mpi_events, nullptr)) {
    umw_events head{};
    if (memory.read(&head, there, sizeof head, true) && head.used <= head.room) {
      std::vector<umw_event> last(head.used);
      if (memory.read(last.data(), there + 1, last.size() * sizeof last[0], true))
        spool->append(index, last.data(), last.size() * sizeof last[0]);
    }
  }
  for (umw_mpi_call& call : rank.gate.mpi_calls) {
    if (call.function == UMW_MPI_NONE)
      continue;
    umw_event enter{};
    enter.kind = UMW_EVENT_ENTER;
    enter.function = static_cast<std::uint16_t>(std::exchange(call.function, UMW_MPI_NONE));
    enter.tid = call.tid;
    enter.time_ps = call.since_ps;
    umw_event leave = enter;
    leave.kind = UMW_EVENT_LEAVE;
    leave.time_ps = std::max<std::int64_t>(end_of_time(), call.since_ps);
    const std::array<umw_event, 2> both{enter, leave};
    spool->append(index, both.data(), sizeof both);
  }
}

void Job::finish(Rank& rank)
{
  rank.phase = Rank::Phase::ended;
  keep_events(rank);
  for (NodeRegions* const one : regions_)
    one->ended(static_cast<std::size_t>(rank.index), rank.node, timeline_.now());
  rank.finished = timeline_.now();
  if (energy_)
    energy_->rank_ends(rank, rank.finished);
  if (details_)
    details_->look_at(workers_ ? workers_->pid(rank.worker) : getpid());
  rank.portals->detach();
  rank.pmi->close();
  shared_memory_.forget(rank);
  sysv_.forget(rank);
  file_locks_.forget(rank);
  sockets_.close_all(static_cast<std::uint32_t>(rank.index));
  rank.timers.stop();
  rank.output->pass_on(true);
  procfs::NodeFiles::ended(rank.session_directory, rank.gate.pid);
  wake_peers(rank); // its descriptors are closed
  --running_;
  --rank.facts->alive;
  room_.give(rank.facts->places[static_cast<std::size_t>(rank.number)]);
  if (rank.facts->parent != nullptr)
    timeline_.schedule_in(retire_, 0); // whoever carries it: runs are alike to the last event
  polling_.progress();
}

void Job::wake_peers(const Rank& rank)
{
  for (const auto& other : ranks_)
    if (other->node == rank.node && other.get() != &rank) {
      ++other->gate.wakes;
      other->memory_changed();
      Polling::changed(*other);
      other->notify_all();
    }
}

// Nobody waits any more for a rank that has died, and the others of its job are told.
bool Job::survived(Rank& rank, const std::string& text)
{
  if (!plan_.options.fault_tolerant || over_)
    return false;
  if (plan_.options.verbosity >= 0)
    say(text + (running_ > 0 ? "\nThe job goes on (--with-ft)" : ""));
  for (std::shared_ptr<bootstrap::Meeting>& meeting : meetings_.leave(static_cast<std::size_t>(rank.index)))
    complete(std::move(meeting));
  failures_.add(rank);
  return true;
}

// The rank's other threads end where they are, and the calling one for good.
void Job::end_threads(Rank& rank)
{
  for (const auto& thread : rank.threads)
    if (thread->actor != scheduler_.current())
      end_elsewhere(rank, *thread);
  scheduler_.end_current();
}

void Job::exited(Rank& rank, int status)
{
  rank.end.status = status;
  finish(rank);
  const bool wrapper_goes_on = rank.in_wrapper && !rank.joined;
  const std::string ending = fmt::format("{} ended with exit code {}", rank.title(), status);
  const bool failed = status != 0 && !wrapper_goes_on;
  if (plan_.options.fault_tolerant && (failed || rank.joined) && !over_) {
    if (failed)
      outcome_ = {status, ending}; // of the last one, as mpirun
    if (rank.joined)
      survived(rank, fmt::format("{} without MPI_Finalize at {}", ending, simulated_now()));
  } else if (failed)
    fail(status, ending, fmt::format("{} at {}{}", ending, simulated_now(), running_ > 0 ? "; the job is ended" : ""));
  else if (rank.joined)
    fail(1, fmt::format("{} ended without MPI_Finalize", rank.title()),
         fmt::format(
             "{} ended with exit code 0 at {}, expected {} to call MPI_Finalize (PMIx_Finalize) first. Next step: {}",
             rank.title(), simulated_now(), rank.joined_before ? "the program that has executed this one" : "it",
             rank.joined_before ? "call it before exec" : "call it on every path out of main"));
  else if (rank.pmi->unfinished())
    warn(rank, "ended with exit code 0, expected cmd=finalize on PMI_FD first. Next step: call PMI_Finalize (what the "
               "program's "
               "library has for it) on every path out of main");
  end_threads(rank);
}

void Job::died(Rank& rank, int signal, const char* report)
{
  rank.end.signal = signal;
  const std::string_view text = report;
  const std::size_t end = text.find('\n');
  const std::string ending = fmt::format("{}, pid {}, died of signal {} ({}){}", rank.title(), rank.gate.pid, signal,
                                         strsignal(signal), text.substr(0, end));
  std::string what = fmt::format("{}, {}, {}{}", ending,
                                 rank.phase == Rank::Phase::loading ? "in a constructor, before main" : "running",
                                 simulated_now(), text.substr(end));
  what.pop_back();
  finish(rank);
  if (!survived(rank, what))
    fail(exit_code::signalled + signal, ending, what);
  end_threads(rank);
}

void Job::aborted(Rank& rank, int status, const char* call, const char* message)
{
  const int code = status & 0xff; // 0 as well, as mpirun
  rank.end.status = code;
  finish(rank);
  fail(code, fmt::format("{} called {}", rank.title(), call),
       fmt::format("{} called {} with code {} at {}; the job is ended{}{}", rank.title(), call, status, simulated_now(),
                   message != nullptr && *message != '\0' ? ": " : "", message != nullptr ? message : ""));
  end_threads(rank);
}

void Job::misused(Rank& rank, const char* message)
{
  end_for(rank, exit_code::usage, "what the kernels file says cannot be done",
          fmt::format("{} at {}; the job is ended: {}", rank.title(), simulated_now(), message));
}

void Job::end_for(Rank& rank, int exit_code, const std::string& ending, const std::string& text)
{
  rank.end.status = exit_code;
  finish(rank);
  fail(exit_code, ending, text);
  end_threads(rank);
}

void Job::fail(int exit_code, const std::string& ending, const std::string& text)
{
  if (over_)
    return;
  over_ = true;
  outcome_ = {exit_code, ending};
  say(text);
  scheduler_.stop();
}

} // namespace umwelt::job
