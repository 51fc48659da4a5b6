// SPDX-License-Identifier: LGPL-2.1-or-later
// System calls that every run needs, and that the seccomp filter of a container may refuse.
#pragma once

#include <string>
#include <vector>

namespace umwelt::plan
{

// Makes each of them once. Those that fail, as "memfd_create(2), memory that processes share: Operation not permitted".
std::vector<std::string> refused_calls();

// Why no run can begin, and what to do; `refused` is not empty.
std::string refused_calls_text(const std::vector<std::string>& refused);

} // namespace umwelt::plan
