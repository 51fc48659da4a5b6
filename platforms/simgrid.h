// SPDX-License-Identifier: LGPL-2.1-or-later
// The process's one SimGrid engine. SimGrid is a singleton: everything that needs it (platforms, the flow model) asks
// here.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace simgrid::s4u
{
class Engine;
} // namespace simgrid::s4u

namespace umwelt::platform
{

// Creates the engine at the first call, with our settings: only warnings logged, full-duplex links that do not disturb
// each other, no TCP window, no correction factors, and a precision below the nanosecond.
simgrid::s4u::Engine& simgrid_engine();

// Destroys the engine with everything in it, if there is one. Only one platform can be loaded at a time: its destructor
// calls this so that another may follow. Not to be called from inside a SimGrid actor.
void release_simgrid();

struct Rehearsal {
  std::string problem; // what went wrong; empty: nothing
  std::string result;  // of the attempt
};

// Runs `attempt` in a child process. What went wrong there is the text of an exception, or the first error SimGrid
// printed before it aborted or crashed. SimGrid reports some errors in platform files by exceptions, others by abort()
// or worse, and leaves a half-loaded platform behind in either case.
Rehearsal rehearse(const std::function<std::string()>& attempt);

// From inside an attempt, signal handlers included: it went wrong, for this reason.
[[noreturn]] void abandon(std::string_view reason);

} // namespace umwelt::platform
