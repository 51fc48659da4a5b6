// SPDX-License-Identifier: LGPL-2.1-or-later
// What the user says of kernels (--kernels, or `umwelt kernels`), as far as the other options allow it.
#pragma once

#include <memory>

#include "runtime/kernels/kernels_file.h"
#include "runtime/plan/options.h"

namespace umwelt::plan
{

// Null if there are none. Throws UsageError for what cannot be.
// `marked`: functions whose calls have to be told.
std::shared_ptr<kernels::Kernels> read_kernels(const RunOptions& options, const RegionFunctions& marked);

} // namespace umwelt::plan
