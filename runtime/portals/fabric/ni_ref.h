// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace umwelt::portals
{

// Names an interface without keeping it alive: Fabric::resolve() gives null once it has been closed, so that messages
// and host writes may outlive the process they belong to.
struct NiRef {
  static constexpr std::uint32_t none = 0xffffffff;
  std::uint32_t slot = none;
  std::uint32_t epoch = 0;
  bool operator==(const NiRef&) const = default;
};

} // namespace umwelt::portals
