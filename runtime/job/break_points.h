// SPDX-License-Identifier: LGPL-2.1-or-later
// Which calls of ranks the run is to stand still before (--break; plan/break_points.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan/break_points.h"

namespace umwelt::job
{

class BreakPoints
{
public:
  // They outlive it.
  explicit BreakPoints(const std::vector<plan::BreakPoint>& points) : points_(points), calls_(points.size(), 0) {}

  [[nodiscard]] bool any() const { return !points_.empty(); }
  // Sets the bits of the functions of MPI (umw_mpi_function) whose calls by that rank have to be told.
  void watch(std::size_t rank, std::span<std::uint64_t> functions) const;
  // The rank calls the function. Which of them that is; null: none.
  const plan::BreakPoint* called(std::size_t rank, std::uint32_t function);
  // A line for each that the run has not come to.
  [[nodiscard]] std::vector<std::string> not_reached() const;

private:
  const std::vector<plan::BreakPoint>& points_;
  std::vector<std::uint64_t> calls_;
};

} // namespace umwelt::job

// Where a debugger can stop: the run stands still before a call of this rank of the run, as `text` says; the thread is
// the rank's, with what it has called above it. The executable exports it, so the name is there when it is stripped.
extern "C" void umw_rank_stopped(int rank, const char* text);
