// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt help --man`: the manual page umwelt(1), from what the command itself knows of its commands and options.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/cli/command.h"
#include "runtime/cli/options.h"

namespace umwelt::cli
{

// In roff with the macros of man(7). `version`: as the foot of the page shows it.
std::string manual(std::span<const CommandEntry> commands, std::span<const OptionGroup> groups,
                   std::string_view version);

} // namespace umwelt::cli
