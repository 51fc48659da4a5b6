// SPDX-License-Identifier: LGPL-2.1-or-later
// The collectives that can be tuned: those that collbench measures (program/calls.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace umwelt::tune
{

// What a library looks up its rules by: the bytes of a call's count as they are, or times the number of ranks.
// Nothing: sizes are not told apart, because the library does not look at them, or because ranks of one call may see
// different ones; then they would take different algorithms, and hang.
enum class Looks : std::uint8_t { nothing, at_bytes, at_bytes_of_all_ranks };

struct Function {
  std::string_view name;
  unsigned openmpi_id;   // in files of rules: COLLTYPE of Open MPI's coll_base_functions.h, 4.0 and 4.1
  Looks openmpi;         // in coll_tuned_decision_dynamic.c of Open MPI 4.1.4
  Looks mpich;           // in get_avg_msgsize() and get_total_msgsize() of MPICH 4.0.2's csel.c
  std::string_view caps; // as in names of MPICH's functions
  unsigned long_buffers; // of the two that collbench has: how many hold a block for each rank
  bool sized = true;     // takes a count at all
};

std::span<const Function> functions();
// Throws UsageError with the nearest one.
const Function& known_function(std::string_view name);

// Open MPI's algorithms that cut vectors into segments, and those that begin several chains: coll_tuned_*_decision.c.
// The library does not tell which they are.
bool takes_segments(std::string_view function, std::string_view algorithm);
bool takes_fanout(std::string_view function, std::string_view algorithm);

} // namespace umwelt::tune
