// SPDX-License-Identifier: LGPL-2.1-or-later
// The parameters of the platforms that `--platform` knows by name, each with its default and its meaning.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/base/parameters.h"

namespace umwelt::platform
{

// `spec` may have parameters behind the name. Empty if there is no such platform.
std::vector<ParameterInfo> parameters_of(std::string_view spec);

} // namespace umwelt::platform
