// SPDX-License-Identifier: LGPL-2.1-or-later
// What the user says of memory that may be forgotten (--fold, --fold-budget).
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/fold/rules.h"
#include "runtime/plan/options.h"

namespace umwelt::plan
{

// For a run of so many ranks; null if there is no rule. Throws UsageError for what cannot be.
std::shared_ptr<const fold::Rules> read_folding(const RunOptions& options, std::size_t ranks);

} // namespace umwelt::plan
