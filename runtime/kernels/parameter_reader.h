// SPDX-License-Identifier: LGPL-2.1-or-later
// The `parameters` of a kernel in a kernels file.
#pragma once

#include <span>
#include <string>

#include "runtime/kernels/place_parameters.h"
#include "runtime/kernels/section.h"

namespace umwelt::kernels
{

// `variables`: names that are taken. Throws UsageError.
PlaceParameters read_place_parameters(Section section, std::span<const std::string> variables);

} // namespace umwelt::kernels
