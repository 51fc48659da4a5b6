// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt explain`: a run in words.
#pragma once

#include <string>

namespace umwelt::report
{

// What stands out in that report, and what to try, for the terminal; or as JSON. Throws UsageError as read_report().
std::string explain_command(const std::string& path, bool json);

} // namespace umwelt::report
