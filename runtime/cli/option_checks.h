// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "runtime/plan/options.h"

namespace umwelt::cli
{

// What options say of each other, once all have been read: throws UsageError for those that contradict, and gives the
// trace the format that its name says.
void check_job(plan::RunOptions& run);

} // namespace umwelt::cli
