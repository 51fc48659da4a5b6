// SPDX-License-Identifier: LGPL-2.1-or-later
// The same job several times (--repeat N): one run after the other, each in a process of its own with a seed of its
// own, then the median and an interval (observe/repetitions.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/launch/restart.h"
#include "runtime/plan/options.h"

namespace umwelt::launch
{

// Runs it options.repeat times; returns an exit code. The first run that does not end well is the last one. Each run
// is begun by prepare() in a process of its own, from which this returns or throws as prepare() does. `arguments`: as
// for prepare().
int repeat(const plan::RunOptions& options, const std::vector<std::string>& arguments);

// What the options of a job mean for one run of several: its seed, where its report goes, what it prints.
[[nodiscard]] plan::RunOptions options_of(const Repetition& repetition, plan::RunOptions options);

} // namespace umwelt::launch
