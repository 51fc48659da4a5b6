// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of ranks before which the run stands still (--break).
//
//   rank=R:FUNCTION[:N]   before the N-th call (default 1) that rank R makes of a function of MPI, or of the program or
//                         its libraries, by its symbol
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/node_plan.h"

namespace umwelt::plan
{

struct BreakPoint {
  std::string text;       // the option and its value, for messages
  std::uint32_t rank = 0; // in the run
  std::string function;
  std::uint64_t count = 1;
  std::uint32_t number = 0; // of the function, by RegionFunctions
};

// Throws UsageError, naming `option` as the user wrote it.
BreakPoint parse_break(std::string_view option, std::string_view text);

// With numbers of functions. Throws UsageError: there is no such rank.
std::vector<BreakPoint> plan_breaks(std::vector<BreakPoint> breaks, std::size_t ranks, RegionFunctions& functions);

// Some are at functions of MPI.
bool has_mpi(const std::vector<BreakPoint>& breaks);

} // namespace umwelt::plan
