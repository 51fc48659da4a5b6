// SPDX-License-Identifier: LGPL-2.1-or-later
// The end of a run: a summary for people and a report for programs.
#pragma once

#include <string>

#include "runtime/observe/statistics.h"

namespace umwelt::observe
{

// Several lines: what ran, simulated and wall-clock time, a table of the ranks (up to 16, beyond that minimum, median
// and maximum of each column), message sizes, kernels.
std::string summary(const JobRecord& job);

// JSON, version 1. Key order is stable; times are whole picoseconds of simulated time. Everything that depends on the
// simulating machine is in the object "host", which `deterministic` leaves out: two runs with --cpu none then give the
// same bytes.
std::string report_json(const JobRecord& job, bool deterministic = false);

} // namespace umwelt::observe
