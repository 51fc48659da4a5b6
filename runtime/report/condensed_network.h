// SPDX-License-Identifier: LGPL-2.1-or-later
// `links` of a report, for the page: all of them in sum, over time those that a chart shows.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace umwelt::report
{

nlohmann::ordered_json condensed_links(const nlohmann::ordered_json& links);

} // namespace umwelt::report
