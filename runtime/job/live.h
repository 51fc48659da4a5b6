// SPDX-License-Identifier: LGPL-2.1-or-later
// What somebody sees who looks at a job while it goes on (--serve). Nothing simulated changes by that. For the main
// loop, between events.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "runtime/mpi/totals.h"
#include "runtime/observe/now.h"
#include "runtime/observe/statistics.h"

namespace umwelt::job
{

class Job;
class Rank;
struct Thread;

class Live
{
public:
  // The job outlives it.
  explicit Live(const Job& job) : job_(job) {}

  // `wall_seconds`: since the start.
  [[nodiscard]] observe::Now now(double wall_seconds) const;
  // As Job::record(), of what there is so far; `ending` is "running". Where calls of MPI are followed, with those of
  // ranks that have not ended.
  [[nodiscard]] observe::JobRecord record(double wall_seconds);

private:
  [[nodiscard]] observe::RankNow of_rank(const Rank& rank) const;
  mpi::Totals calls_of(const Rank& rank);
  const std::string& place_of(std::uint64_t address);

  const Job& job_;
  std::unordered_map<std::uint64_t, std::string> places_; // of calls, by the address behind them
};

} // namespace umwelt::job
