// SPDX-License-Identifier: LGPL-2.1-or-later
// What a kernels file says of the durations of one kernel: `duration` or `pieces`, `parameters`, `noise`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/model.h"
#include "runtime/kernels/section.h"

namespace umwelt::kernels
{

// `variables`: those of the kernel; `unknown` is said of other names. Throws UsageError.
Model read_model(Section& section, const std::string& kernel, const std::vector<std::string>& variables,
                 std::string_view unknown, std::uint64_t seed);

} // namespace umwelt::kernels
