// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers for people: three or four significant digits and a unit.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/time.h"

namespace umwelt::observe
{

std::string show_time(sim::SimTime time);     // "0", "1.234 us", "12.34 s"
std::string show_seconds(double seconds);     // "0.52 s", "61.2 s", "1:02:03"
std::string show_bytes(std::uint64_t bytes);  // "0 B", "1023 B", "1.50 KiB"
std::string show_count(std::uint64_t number); // "999999", "1.23 M"
std::string show_rate(double per_second);     // "201 k/s"

} // namespace umwelt::observe
