// SPDX-License-Identifier: LGPL-2.1-or-later
// A report without what no chart shows, as small as the page needs it: columns instead of objects for each rank,
// sums where there are more cells than a screen has dots. Figures that are kept are those of the report.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace umwelt::report
{

// Of one run. What is not as a report has it is left out.
nlohmann::ordered_json condensed(const nlohmann::ordered_json& report);

// Of what --repeat wrote: the run in the middle, with the spread of all as `repetitions`.
nlohmann::ordered_json condensed_repetitions(const nlohmann::ordered_json& report);

} // namespace umwelt::report
