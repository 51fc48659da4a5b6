// SPDX-License-Identifier: LGPL-2.1-or-later
// Tools that watch another program: debuggers, tracers, checkers of memory. As a rank's program such a tool would be
// what is simulated, and what it starts would run natively beside the simulation, or not at all. So they are refused,
// with the way round that works, before anything starts. Inside a script that waits for them they are not: there they
// watch the process that stands in for the rank (wrappers.h), which does no harm.
#pragma once

#include <string>
#include <vector>

namespace umwelt::launch
{

// Throws UsageError if `argv` is such a tool and has a program to watch. Otherwise (gdb --version) it is a program like
// any other. Names are looked up as by loader::locate_program.
void refuse_tracer(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                   const std::string& directory);

} // namespace umwelt::launch
