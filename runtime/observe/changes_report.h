// SPDX-License-Identifier: LGPL-2.1-or-later
// What nodes had, and what they had instead from some time on: the part of summary and report.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "runtime/observe/statistics.h"

namespace umwelt::observe
{

// Lines of the summary; none where all was as at the beginning, and the same on all nodes.
std::string change_lines(const JobRecord& job);
// Keys of the report, `models` and `cpus`, likewise.
void add_changes(nlohmann::ordered_json& json, const JobRecord& job);

} // namespace umwelt::observe
