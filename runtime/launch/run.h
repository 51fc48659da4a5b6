// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt run`, from options to exit code.
#pragma once

#include <string>
#include <vector>

#include "runtime/launch/restart.h"
#include "runtime/launch/wrappers.h"
#include "runtime/plan/options.h"

namespace umwelt::launch
{

// First start: checks everything that can be checked (throws UsageError, loader::Refusal), lets wrappers run, then
// starts again. Returns an exit code if there is nothing to simulate. `arguments`: the command line it was parsed from,
// without argv[0].
int prepare(const plan::RunOptions& options, const std::vector<std::string>& arguments,
            const Repetition& repetition = {});

// Second start: runs the job. Does not return to the C library: its exit would run destructors of the ranks' libraries.
// `arguments`: as above.
[[noreturn]] void run(plan::RunOptions options, const Wrappers& wrappers, const std::vector<std::string>& arguments);

} // namespace umwelt::launch
