// SPDX-License-Identifier: LGPL-2.1-or-later
// Collectives of MPI whose time is a model's (--collectives).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/mpi/collective_models.h"
#include "runtime/plan/options.h"

namespace umwelt::plan
{

// What the option was given. Throws UsageError for what cannot be.
std::string parse_collectives(std::string_view option, const std::string& text);

// Null if all are those of the MPI library.
std::shared_ptr<const mpi::CollectiveModels> collective_models(const RunOptions& options);

} // namespace umwelt::plan
