// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/cpu_policy.h"

#include <fmt/format.h>

namespace umwelt::engine
{

std::string CpuPolicy::text() const
{
  switch (kind) {
  case Kind::none:
    return "none";
  case Kind::fixed:
    return fmt::format("fixed={}", fixed / sim::nanosecond);
  case Kind::scaled:
    return fmt::format("scale={}", scale);
  case Kind::measured:
    break;
  }
  return "measured";
}

} // namespace umwelt::engine
