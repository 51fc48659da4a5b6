// SPDX-License-Identifier: LGPL-2.1-or-later
// The files that a run writes: report, its page, and trace.
#pragma once

#include <memory>
#include <string>

#include "runtime/observe/result_file.h"
#include "runtime/observe/statistics.h"
#include "runtime/plan/plan.h"

namespace umwelt::launch
{

// One line for the user, unless they want none.
void note(const plan::RunOptions& options, const std::string& text);

// Throws UsageError or std::invalid_argument if one of them cannot be written.
void check_results(const plan::RunOptions& options);

// Opens what the user has asked to be written, before the start: the trace of `plan`, and the report (or null).
std::unique_ptr<observe::ResultFile> open_results(plan::Plan& plan);

// Writes what is left of report and trace. False: one of them is not whole, as has been said then.
bool finish_results(const plan::Plan& plan, observe::ResultFile* report, const observe::JobRecord& record,
                    bool deterministic);

} // namespace umwelt::launch
