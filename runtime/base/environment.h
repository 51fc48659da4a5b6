// SPDX-License-Identifier: LGPL-2.1-or-later
// Environment variables by name: this process's, or others that a test or a rank has.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace umwelt
{

using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

std::optional<std::string> process_environment(const std::string& name);

} // namespace umwelt
