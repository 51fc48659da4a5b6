// SPDX-License-Identifier: LGPL-2.1-or-later
// A memory descriptor: memory of this process for the operations it initiates (Portals 4.3, 3.10).
#pragma once

#include <cstdint>

#include "runtime/portals/data/memory.h"

namespace umwelt::portals
{

struct MemoryDescriptor {
  ptl_handle_any_t handle = PTL_INVALID_HANDLE;
  Region region;
  unsigned options = 0;
  ptl_handle_eq_t eq = PTL_EQ_NONE;
  ptl_handle_ct_t ct = PTL_CT_NONE;
  std::uint32_t in_use = 0; // operations that will still read or write the memory
};

} // namespace umwelt::portals
