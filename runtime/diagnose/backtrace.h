// SPDX-License-Identifier: LGPL-2.1-or-later
// Backtraces through rank code, with libunwind.
#pragma once

#include <csignal>
#include <string>

#include <ucontext.h>

namespace umwelt::diagnose
{

// One indented line per frame, innermost first: "    #0 function+0x12 (object)". Frames of Umwelt itself at the inner
// end are left out. Called on the runtime's side.
std::string backtrace_here();                            // of the calling simulated thread
std::string backtrace_of(const ucontext_t& interrupted); // of the code a signal interrupted

} // namespace umwelt::diagnose
