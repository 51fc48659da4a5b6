// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/host_load.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace umwelt::engine
{

namespace
{

std::string contents(const std::string& path)
{
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

std::int64_t waited_for_processor(std::string_view schedstat)
{
  std::istringstream text{std::string(schedstat)};
  std::int64_t ran = 0;
  std::int64_t waited = 0;
  return text >> ran >> waited ? waited : 0;
}

ProcessorTime processor_time(std::string_view stat)
{
  // user nice system idle iowait irq softirq steal; guest and guest_nice are part of the first two
  constexpr int steal = 7;
  std::istringstream text{std::string(stat)};
  std::string cpu;
  ProcessorTime time;
  text >> cpu;
  for (int i = 0; i <= steal; ++i) {
    double value = 0;
    if (cpu != "cpu" || !(text >> value))
      return {};
    time.all += value;
    time.stolen = value;
  }
  return time;
}

std::int64_t waited_for_processor(pid_t process)
{
  return waited_for_processor(contents(fmt::format("/proc/{}/schedstat", process)));
}

ProcessorTime processor_time()
{
  return processor_time(contents("/proc/stat"));
}

} // namespace umwelt::engine
