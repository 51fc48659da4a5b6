// SPDX-License-Identifier: LGPL-2.1-or-later
// The file that `umwelt kernels` writes.
#pragma once

#include <memory>

#include "runtime/job/job.h"
#include "runtime/observe/result_file.h"
#include "runtime/observe/statistics.h"
#include "runtime/plan/options.h"
#include "runtime/plan/plan.h"

namespace umwelt::launch
{

// Whether it can be written. A file that was there is not replaced unasked, since kernels files are edited by hand.
// Throws UsageError or std::invalid_argument. Does nothing in an ordinary run.
void check_kernels_file(const plan::RunOptions& options);
// Null in an ordinary run.
std::unique_ptr<observe::ResultFile> open_kernels_file(const plan::RunOptions& options);
// False: it has not been written, as has been said then.
bool finish_kernels_file(observe::ResultFile& file, const plan::Plan& plan, const job::Job& job,
                         const observe::JobRecord& record);

} // namespace umwelt::launch
