// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt run --help`, `umwelt kernels --help`.
#pragma once

#include <span>
#include <string>

#include "runtime/cli/options.h"

namespace umwelt::cli
{

std::string run_help(std::span<const OptionGroup> groups);
std::string kernels_help(std::span<const OptionGroup> groups);

} // namespace umwelt::cli
