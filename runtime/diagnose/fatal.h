// SPDX-License-Identifier: LGPL-2.1-or-later
// What can still be said when a signal has come in the runtime's own code. It may have interrupted malloc, so nothing
// here allocates or takes a lock, but for end_with_backtrace(), which counts on that to go wrong.
#pragma once

#include <string_view>

#include <ucontext.h>

namespace umwelt::diagnose
{

// To standard error, with write(2).
void write_raw(std::string_view text);
// One line per frame, "    #0 object+0x12", to the descriptor. Frames of Umwelt are not left out.
void write_raw_backtrace(int fd, const ucontext_t& interrupted);
// Writes backtrace_of() to standard error and ends the process with the code. Names are looked up with malloc: if that
// does not come back within `report_timeout` seconds, or fails itself, the backtrace is the raw one.
[[noreturn]] void end_with_backtrace(const ucontext_t& interrupted, int code, unsigned report_timeout = 10);

} // namespace umwelt::diagnose
