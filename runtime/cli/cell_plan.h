// SPDX-License-Identifier: LGPL-2.1-or-later
// Which ranks live in the runtime's own process and which in which cell: a process of up to 15 ranks, the link-map namespaces
// that glibc has for them. A program that is not position-independent (ET_EXEC) has its one place in a process, so each of its
// ranks needs one to itself; so do ranks that are to have the same addresses.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/cli/options.h"

namespace umwelt::cli
{

struct CellProgram {
  std::string name;  // for messages
  std::string alone; // why each rank needs a process for itself, as in "program NAME ...", if it does
};

struct CellPlan {
  // Ranks in ascending order, cells by their first rank, every rank in exactly one. Empty: every rank in the runtime's process.
  std::vector<std::vector<unsigned>> cells;
  std::vector<std::string> notes; // one line each
};

// `jobs`: bursts computed at the same time, at least 1, and as many cells if there are any; `program_of_rank`: indices into
// `programs`. Throws UsageError if the ranks cannot be spread as wished.
CellPlan plan_cells(const CellWishes& wishes, unsigned jobs, std::span<const unsigned> program_of_rank,
                    std::span<const CellProgram> programs);

} // namespace umwelt::cli
