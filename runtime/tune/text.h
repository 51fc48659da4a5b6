// SPDX-License-Identifier: LGPL-2.1-or-later
// Figures and names as tables, plots and messages show them.
#pragma once

#include <cstdint>
#include <string>

namespace umwelt::tune
{

std::string bytes_text(std::uint64_t bytes); // "8 B", "1000 B", "64 KiB": exact
std::string time_text(std::int64_t ns);      // "2.796 us", "1.250 ms"

} // namespace umwelt::tune
