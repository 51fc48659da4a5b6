// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt report FILE [-o PAGE]`
#pragma once

#include <string>

namespace umwelt::report
{

// What is said about the page that was written. `output` may be empty: beside the report, .html for .json.
std::string report_command(const std::string& path, const std::string& output);

} // namespace umwelt::report
