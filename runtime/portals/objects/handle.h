// SPDX-License-Identifier: LGPL-2.1-or-later
// The 32 bits of a Portals handle: type (3), interface (2), generation (8), index (19), from the most significant bit.
//
// The specification wants every handle to name its interface (Portals 4.3, 3.6: PtlNIHandle). The constants of the
// reference ABI fix two types: PTL_EQ_NONE is 0x3fffffff and PTL_CT_NONE 0x5fffffff, type 1 and 2 with all other bits
// set; the last index is therefore never used. The generation makes a stale handle fail instead of naming the slot's
// next object. Nothing in a handle depends on the rank, so equal sequences of allocations give equal handles on all
// ranks.
#pragma once

#include <cstdint>

#include "preload/abi/portals4.h"

namespace umwelt::portals
{

enum class ObjectType : std::uint32_t { eq = 1, ct = 2, md = 3, le = 4, me = 5, ni = 6 };

struct Handle {
  static constexpr unsigned index_bits = 19;
  static constexpr unsigned generation_bits = 8;
  static constexpr unsigned interface_bits = 2;
  static constexpr std::uint32_t max_index = (1U << index_bits) - 2;

  ObjectType type;
  std::uint32_t interface;
  std::uint32_t generation;
  std::uint32_t index;

  [[nodiscard]] constexpr ptl_handle_any_t encode() const
  {
    return (static_cast<std::uint32_t>(type) << (interface_bits + generation_bits + index_bits)) |
           (interface << (generation_bits + index_bits)) | (generation << index_bits) | index;
  }

  [[nodiscard]] static constexpr Handle decode(ptl_handle_any_t value)
  {
    return {static_cast<ObjectType>(value >> (interface_bits + generation_bits + index_bits)),
            (value >> (generation_bits + index_bits)) & ((1U << interface_bits) - 1),
            (value >> index_bits) & ((1U << generation_bits) - 1), value & ((1U << index_bits) - 1)};
  }
};

static_assert(Handle::decode(PTL_EQ_NONE).type == ObjectType::eq &&
              Handle::decode(PTL_EQ_NONE).index > Handle::max_index);
static_assert(Handle::decode(PTL_CT_NONE).type == ObjectType::ct &&
              Handle::decode(PTL_CT_NONE).index > Handle::max_index);

} // namespace umwelt::portals
