// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/break_points.h"

#include <cerrno>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "preload/abi/mpi_calls.h"
#include "runtime/diagnose/backtrace.h"
#include "runtime/job/job.h"

// A debugger that traces the process stops at the trap, whether it knows of this function or not.
[[gnu::noipa, gnu::used, gnu::visibility("default")]] void umw_rank_stopped(int rank, const char* text)
{
  asm volatile("int3" : : "D"(rank), "S"(text));
}

namespace umwelt::job
{

namespace
{

bool is_traced()
{
  std::ifstream file("/proc/self/status");
  constexpr std::string_view key = "TracerPid:";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key))
      return line.find_first_of("123456789", key.size()) != std::string::npos;
  return false;
}

std::string_view ordinal_ending(std::uint64_t number)
{
  const std::uint64_t tens = number / 10 % 10;
  switch (tens == 1 ? 0 : number % 10) {
  case 1:
    return "st";
  case 2:
    return "nd";
  case 3:
    return "rd";
  default:
    return "th";
  }
}

} // namespace

void BreakPoints::watch(std::size_t rank, std::span<std::uint64_t> functions) const
{
  for (const plan::BreakPoint& point : points_)
    if (point.rank == rank && point.number < UMW_MPI_FUNCTIONS) // others tell by themselves (kernels::Kernel::mark)
      functions[point.number / 64] |= std::uint64_t{1} << (point.number % 64);
}

const plan::BreakPoint* BreakPoints::called(std::size_t rank, std::uint32_t function)
{
  const plan::BreakPoint* reached = nullptr;
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (points_[i].rank == rank && points_[i].number == function && ++calls_[i] == points_[i].count)
      reached = &points_[i];
  return reached;
}

std::vector<std::string> BreakPoints::not_reached() const
{
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (calls_[i] < points_[i].count)
      lines.push_back(fmt::format("{}: never reached, rank {} has called {} {} time{}", points_[i].text,
                                  points_[i].rank, points_[i].function, calls_[i], calls_[i] == 1 ? "" : "s"));
  return lines;
}

// The rank's thread is the running one.
void Job::stop_before(Rank& rank, const plan::BreakPoint& point)
{
  const std::string where = fmt::format("{}: {} is about to call {} for the {}{} time, at {}", point.text, rank.title(),
                                        point.function, point.count, ordinal_ending(point.count), simulated_now());
  if (is_traced() && !workers_) {
    say(where);
    umw_rank_stopped(rank.index, where.c_str());
    return;
  }
  held_ = &rank.running();
  held_where_ = where;
  scheduler_.hold();
}

// In the main loop.
void Job::stand_still()
{
  constexpr int patience = 200; // milliseconds
  std::string stack;
  // Worker processes tell of their stacks only when they are to end.
  if (!held_->channel)
    scheduler_.visit(*held_->actor, [&stack] { stack = diagnose::backtrace_here(); });
  const pid_t carrier = workers_ ? workers_->pid(held_->rank.worker) : getpid();
  say(fmt::format("{}\n{}The run stands still. Next step: `umwelt ctl {} continue` lets it go on, Ctrl-C ends it, "
                  "`gdb -p {}` looks into the rank",
                  held_where_, stack, getpid(), carrier));
  control_->hold(held_where_);
  while (control_->holds() && !scheduler_.stopping()) {
    control_->wait(patience);
    control_->serve();
    if (scheduler_.asked != nullptr && scheduler_.asked->load(std::memory_order_relaxed) != 0)
      look_();
  }
  held_ = nullptr;
  held_where_.clear();
}

void Job::tell_breaks() const
{
  for (const std::string& line : breaks_.not_reached())
    fmt::print(stderr, "umwelt: {}\n", line);
}

} // namespace umwelt::job
