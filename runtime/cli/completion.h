// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt completion bash`: what bash offers for a word of `umwelt`, from what the command itself knows of its commands
// and options.
#pragma once

#include <span>
#include <string>

#include "runtime/cli/command.h"
#include "runtime/cli/options.h"

namespace umwelt::cli
{

// Names that a value may have, by the option that takes it (as OptionEntry::names has it).
struct ValueNames {
  std::string option;
  std::vector<std::string> names;
};

// A script for bash to source; it needs nothing else.
std::string bash_completion(std::span<const CommandEntry> commands, std::span<const OptionGroup> groups,
                            std::span<const ValueNames> names);

} // namespace umwelt::cli
