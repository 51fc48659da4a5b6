// SPDX-License-Identifier: LGPL-2.1-or-later
// The JSON of what the page of a report shows besides its figures.
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/observe/details.h"

namespace umwelt::observe
{

// Members `run`, `links`, `timeline`, `critical_path`. `run` has the time of the start: it differs from run to run.
// `simulated`: how long it took.
nlohmann::ordered_json details_json(const Details& details, sim::SimTime simulated);

} // namespace umwelt::observe
