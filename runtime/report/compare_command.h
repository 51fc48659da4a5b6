// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt compare FILE FILE... [--html PAGE]`
#pragma once

#include <span>
#include <string>

#include "runtime/report/page.h"

namespace umwelt::report
{

// Figures of each run and how they changed against the first, what was different, and which functions of MPI changed
// most.
std::string comparison_text(std::span<const Run> runs);

// What is to be printed. With `page`, it is written, and the text only says so.
std::string compare_command(std::span<const std::string> paths, const std::string& page);

} // namespace umwelt::report
