// SPDX-License-Identifier: LGPL-2.1-or-later
// What the MPI library of a program is to be told, by its environment.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "loader/program.h"
#include "runtime/launch/installation.h"
#include "runtime/plan/options.h"
#include "runtime/plan/placement.h"
#include "runtime/plan/plan.h"

namespace umwelt::launch
{

// What the program is linked to, and what that is.
std::vector<std::string> sonames(const loader::Program& program);

// Adds it to the environment of the program, which is the `index`th of the command line; the placement may be empty: it
// is not known yet. Throws UsageError, loader::Refusal.
void add_mpi_settings(plan::ProgramPlan& plan, const plan::RunOptions& options, std::size_t index,
                      const plan::Placement& placement, const Installation& installation,
                      std::vector<std::string>& notes);

} // namespace umwelt::launch
