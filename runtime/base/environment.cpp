// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/environment.h"

#include <cstdlib>

namespace umwelt
{

std::optional<std::string> process_environment(const std::string& name)
{
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

} // namespace umwelt
