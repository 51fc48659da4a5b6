// SPDX-License-Identifier: LGPL-2.1-or-later
// What `umwelt tune collectives` prints and draws.
#pragma once

#include <span>
#include <string>

#include "runtime/tune/campaign.h"
#include "runtime/tune/measurements.h"
#include "runtime/tune/mpi.h"

namespace umwelt::tune
{

// By size: the best choice and its time, that of the library's own decision, and what is gained. Below, what was left
// out and why; and what the file says, if it cannot tell sizes apart.
std::string table(const Mpi& mpi, const Group& group);

std::string verification_text(const Mpi& mpi, const Verification& verification);

// For gnuplot: a panel for each function and number of ranks, a curve for each algorithm. Of one with segments or
// chains, the best of these.
std::string plot_script(const std::string& library, std::span<const Group> groups);

} // namespace umwelt::tune
