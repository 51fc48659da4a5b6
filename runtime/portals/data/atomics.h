// SPDX-License-Identifier: LGPL-2.1-or-later
// Atomic operations by datatype (Portals 4.3, 3.15, tables of operations and datatypes).
#pragma once

#include <cstddef>

#include "preload/abi/portals4.h"

namespace umwelt::portals::atomics
{

// Largest datatype: complex long double.
inline constexpr std::size_t max_item = 32;

// Bytes of one item; 0 for an unknown datatype.
[[nodiscard]] std::size_t item_size(ptl_datatype_t type);

// Whether PtlAtomic and PtlFetchAtomic, or PtlSwap, take the combination.
[[nodiscard]] bool valid_atomic(ptl_op_t operation, ptl_datatype_t type);
[[nodiscard]] bool valid_swap(ptl_op_t operation, ptl_datatype_t type);
// PTL_CSWAP and its variants and PTL_MSWAP: they take an operand and are limited to one item.
[[nodiscard]] bool uses_operand(ptl_op_t operation);

// Combines whole items of `source` into `target`; trailing bytes that make no item are left alone. `old` (may be null,
// may be `source`) receives what target held. No pointer needs to be aligned.
void apply(ptl_op_t operation, ptl_datatype_t type, void* target, const void* source, const void* operand, void* old,
           std::size_t size);

} // namespace umwelt::portals::atomics
