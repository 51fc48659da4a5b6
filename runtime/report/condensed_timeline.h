// SPDX-License-Identifier: LGPL-2.1-or-later
// `timeline` of a report, for the page: at most some hundred rows and columns, shares of time as characters.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace umwelt::report
{

// "rows": a string for each state, a character for each bin: code 35 + 90 times the share of the bin, without '\\',
// so 92 and more are one higher. "together": ranks of a row, whose mean it is.
nlohmann::ordered_json condensed_timeline(const nlohmann::ordered_json& timeline);

} // namespace umwelt::report
