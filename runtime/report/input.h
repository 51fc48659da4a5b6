// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading what `umwelt run --report` wrote.
#pragma once

#include <string>

#include "runtime/report/page.h"

namespace umwelt::report
{

// Throws UsageError if the file is not a report, or one of a newer Umwelt.
Run read_report(const std::string& path);

} // namespace umwelt::report
