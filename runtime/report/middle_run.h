// SPDX-License-Identifier: LGPL-2.1-or-later
// Of what `umwelt run --repeat` wrote, the run that stands for all.
#pragma once

#include <cstddef>

#include <nlohmann/json.hpp>

namespace umwelt::report
{

// Index in `runs` of the one whose simulated time is in the middle; of those that came to their end, if there are any.
std::size_t middle_of(const nlohmann::ordered_json& runs);

// The run itself, or the one in the middle of those of --repeat.
const nlohmann::ordered_json& middle_run(const nlohmann::ordered_json& report);

} // namespace umwelt::report
