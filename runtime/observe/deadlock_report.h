// SPDX-License-Identifier: LGPL-2.1-or-later
// Why a run could not go on, in the report.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runtime/observe/statistics.h"

namespace umwelt::observe
{

// {"waits": [{"rank", "host", "call", "place", "since_ps", "for": [ranks]}], "cycle": [ranks], "next_step"}
nlohmann::ordered_json deadlock_json(const JobRecord& job);

} // namespace umwelt::observe
