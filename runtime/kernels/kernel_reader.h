// SPDX-License-Identifier: LGPL-2.1-or-later
// One item of the list `kernels` of a kernels file.
#pragma once

#include <cstdint>

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/section.h"

namespace umwelt::kernels
{

// `section`: of the item, with `what` yet empty. Throws UsageError.
Kernel read_kernel(Section section, std::uint64_t seed);

} // namespace umwelt::kernels
