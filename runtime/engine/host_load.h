// SPDX-License-Identifier: LGPL-2.1-or-later
// How busy this machine is with other things than us: who measures what programs compute must know.
#pragma once

#include <cstdint>
#include <string_view>

#include <sys/types.h>

namespace umwelt::engine
{

// Of all processors, since the machine was booted.
struct ProcessorTime {
  double stolen = 0; // that another virtual machine had, in some unit of time
  double all = 0;    // in the same
};

// For how long the main thread of a process, which may have ended but has not been waited for, was ready to run and had
// to wait for a processor, ns (Documentation/scheduler/sched-stats.rst of Linux). 0 where the kernel does not count it.
[[nodiscard]] std::int64_t waited_for_processor(pid_t process);
// proc(5), /proc/stat; zeros where it is not there.
[[nodiscard]] ProcessorTime processor_time();

// The same of the files' contents.
[[nodiscard]] std::int64_t waited_for_processor(std::string_view schedstat);
[[nodiscard]] ProcessorTime processor_time(std::string_view stat);

} // namespace umwelt::engine
