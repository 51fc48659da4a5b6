// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/power_trace.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace umwelt::observe
{

PowerTrace::PowerTrace(const std::string& path, std::vector<std::string> nodes)
    : file_("--power-trace", path), nodes_(std::move(nodes))
{
  file_.buffer() += "time_ps,part,watts\n";
}

void PowerTrace::add(sim::SimTime at, const std::string& part, double watts)
{
  fmt::format_to(std::back_inserter(file_.buffer()), "{},{},{}\n", at, part, watts);
  ++lines_;
  file_.flush_if_large();
}

void PowerTrace::finish(sim::SimTime end)
{
  fmt::format_to(std::back_inserter(file_.buffer()), "{},end,0\n", end);
  file_.finish();
}

} // namespace umwelt::observe
