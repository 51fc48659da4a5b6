// SPDX-License-Identifier: LGPL-2.1-or-later
// Ranks in worker processes, as the job sees them: which process hosts which, how the runtime hears from them, and what
// it makes of the death of one.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/exit_codes.h"
#include "runtime/job/channel.h"
#include "runtime/job/job.h"
#include "runtime/job/pmi_socket.h"
#include "runtime/plan/worker_plan.h"
#include "runtime/worker/worker_process.h"

namespace umwelt::job
{

// With fewer a run of that many ranks starts, and then MPI_Init fails: main thread, two of Open MPI, one of a fence.
static_assert(worker::slots_per_worker >= 4 * plan::most_ranks_of_worker);

void Job::plan_workers()
{
  const auto ranks = static_cast<unsigned>(plan_.placement.ranks.size());
  if (plan_.workers.empty())
    return;
  const auto count = static_cast<unsigned>(plan_.workers.size());
  workers_ = std::make_unique<worker::Workers>(count, ranks, plan_.options.jobs);
  channels_.resize(count, std::vector<Channel*>(worker::slots_per_worker));
  not_switching_.resize(count);
}

void Job::start_workers()
{
  std::vector<std::vector<worker::WorkerProcess::Seat>> seats(plan_.workers.size());
  for (const auto& rank : ranks_)
    seats[rank->worker].push_back({&rank->hosted, rank->main_slot = *workers_->take_slot(rank->worker)});
  const bool same_addresses = std::any_of(plan_.programs.begin(), plan_.programs.end(),
                                          [](const plan::ProgramPlan& p) { return p.same_addresses; });
  workers_->start(
      [this, &seats](unsigned index) {
        for (const auto& rank : ranks_) {
          rank->pmi->keep(rank->worker == index ? PmiSocket::End::of_rank : PmiSocket::End::none);
          if (rank->worker != index)
            for (const int fd : rank->gate.standard_fds)
              close(fd);
        }
        if (server_.program)
          server_.program(*ranks_[plan_.workers[index].front()]);
        worker::WorkerProcess process(*workers_, index, cpu_);
        process.run(seats[index], work());
      },
      !same_addresses);
  check_access_to_workers();
  for (const auto& rank : ranks_)
    keep_ends_of_runtime(*rank);
}

// Container runtimes and security modules may forbid it.
void Job::check_access_to_workers()
{
  std::uint32_t version = 0;
  if (!portals::Memory(workers_->pid(0)).read(&version, &plan_, sizeof version))
    throw loader::Refusal(loader::Refusal::Kind::not_runnable,
                          fmt::format("ranks in worker processes: expected to reach their memory with "
                                      "process_vm_readv(2), got: {}. Next step: run with "
                                      "the capability SYS_PTRACE (docker run --cap-add SYS_PTRACE), or with "
                                      "--workers 0",
                                      std::strerror(errno)));
}

void Job::keep_ends_of_runtime(const Rank& rank)
{
  rank.pmi->keep(PmiSocket::End::of_runtime);
  for (const int fd : rank.gate.standard_fds)
    close(fd);
}

void Job::connect(Channel& channel)
{
  channels_[channel.worker()][channel.slot()] = &channel;
}

void Job::disconnect(const Channel& channel)
{
  Channel*& entry = channels_[channel.worker()][channel.slot()];
  if (entry == &channel)
    entry = nullptr;
}

void Job::begin_absence(Channel& channel)
{
  absent_.push_back(&channel);
  ++scheduler_.absent;
}

void Job::end_absence(Channel& channel)
{
  std::erase(absent_, &channel);
  --scheduler_.absent;
}

bool Job::hear_from_workers(std::int64_t nanoseconds)
{
  const auto arrived = [this](unsigned worker, unsigned slot) {
    if (Channel* channel = channels_[worker][slot])
      channel->arrive();
  };
  bool any = workers_->collect(arrived);
  if (!any && nanoseconds > 0) {
    workers_->wait(nanoseconds);
    any = workers_->collect(arrived);
  }
  if (const auto death = workers_->death()) {
    worker_died(*death);
    return true;
  }
  return any;
}

// Time may go on to `next` if no burst that is under way can end before.
bool Job::await_absent(SimTime next)
{
  constexpr std::int64_t longest = 100'000'000; // ns; a request of the user may have come in between
  constexpr std::int64_t shortest = 20'000;
  constexpr std::int64_t enough = 4'000'000;
  if (hear_from_workers(0))
    return true;
  SimTime first = sim::never;
  Channel* behind = nullptr;
  for (Channel* channel : absent_)
    if (const SimTime earliest = channel->earliest(next); earliest < first) {
      first = earliest;
      behind = channel;
    }
  if (next != sim::never && first >= next)
    return false;
  const std::int64_t left = next == sim::never ? longest : (next - first) / sim::nanosecond;
  using Progress = worker::Workers::Progress;
  const Progress progress =
      behind != nullptr ? workers_->progress(behind->worker(), behind->slot()) : Progress::held_back;
  if (progress == Progress::computes)
    hear_from_workers(std::clamp(left, shortest, longest));
  else if (progress == Progress::held_back)
    hear_from_workers(longest); // somebody of another worker process comes first
  else if (!hear_from_workers(std::clamp(left / 4, shortest, enough)))
    workers_->hurry(behind->worker(), behind->slot());
  return true;
}

void Job::worker_died(const worker::Workers::Death& death)
{
  const bool killed = WIFSIGNALED(death.status);
  const int number = killed ? WTERMSIG(death.status) : WEXITSTATUS(death.status);
  const std::string how = killed ? fmt::format("was killed by signal {} ({})", number, strsignal(number))
                                 : fmt::format("ended with exit code {}", number);
  std::string text;
  std::string first;
  std::size_t carried = 0;
  for (const auto& each : ranks_) {
    Rank& rank = *each;
    carried += rank.worker == death.worker;
    if (rank.worker != death.worker || rank.phase == Rank::Phase::ended)
      continue;
    rank.end.signal = killed ? number : 0;
    rank.end.status = killed ? 0 : number;
    if (first.empty())
      first = rank.title();
    text += fmt::format("  {}, pid {}: {}last heard of in {}\n", rank.title(), rank.gate.pid,
                        rank.phase == Rank::Phase::loading ? "starting, " : "", rank.main().last_call);
  }
  const std::string next_step =
      killed && number == SIGKILL
          ? "Next step: if nobody killed it, it was short of memory (`dmesg | grep -i oom`): fewer ranks, or a machine "
            "with more"
          : "Next step: look at what it printed last";
  fail(killed ? exit_code::signalled + number : exit_code::failure, fmt::format("the process of {} {}", first, how),
       fmt::format("worker process {} with {} rank{} {} at {}; the job is ended\n{}{}", death.worker, carried,
                   carried == 1 ? "" : "s", how, simulated_now(), text, next_step));
}

// Backtraces of threads in worker processes, by worker process and slot.
std::vector<std::vector<std::string>> Job::reports_of_workers()
{
  std::vector<std::vector<std::string>> reports;
  for (unsigned index = 0; workers_ && index < workers_->count(); ++index) {
    interruption_.moves();
    std::vector<std::string>& texts = reports.emplace_back(worker::slots_per_worker);
    std::istringstream report(workers_->report(index));
    std::size_t slot = 0;
    for (std::string line; std::getline(report, line);)
      if (!line.starts_with(' '))
        slot = std::min<std::size_t>(std::strtoul(line.c_str(), nullptr, 10), worker::slots_per_worker - 1);
      else
        texts[slot] += line + '\n';
  }
  return reports;
}

} // namespace umwelt::job
