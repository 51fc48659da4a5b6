// SPDX-License-Identifier: LGPL-2.1-or-later
// All runs for one MPI library: each choice for each function on each number of ranks.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/tune/measurements.h"
#include "runtime/tune/mpi.h"
#include "runtime/tune/options.h"

namespace umwelt::tune
{

// How collbench is run with a library.
struct Bench {
  std::string umwelt;
  std::string program;
};

// What `collbench --algorithms` prints. Throws std::runtime_error or UsageError with what the run has said if it fails:
// so wrong options are known before the first measurement.
std::string ask(const Bench& bench, const Options& options);

// Does not throw if runs fail, but for Stopped (processes.h).
std::vector<Group> measure(const Mpi& mpi, const Bench& bench, const Options& options);

// What calls take with the file that was written, beside what the rules promise.
struct Verification {
  std::size_t points = 0;
  std::size_t equal = 0;
  double worst = 0; // the largest difference, relative to what was measured
  std::string where;
  std::vector<std::string> failures; // runs that did not end well
};
Verification verify(const Mpi& mpi, const std::string& file, std::span<const Group> groups, const Bench& bench,
                    const Options& options);

// The lines of collbench as times and problems of a series. `code`: with which the run has ended; sizes without a line
// then have what it said as their problem.
void read_outcome(Series& series, std::span<const std::uint64_t> sizes, int code, const std::string& output,
                  const std::string& errors);

} // namespace umwelt::tune
