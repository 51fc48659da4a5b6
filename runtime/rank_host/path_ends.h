// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a path of a program begins and ends (path_times.h): by what a call was, what it brought or asks for, and how
// deep the stack was. The same in all ranks, whose code and stacks lie elsewhere.
#pragma once

#include <cstdint>

#include "runtime/rank_host/path_times.h"

namespace umwelt::rank_host
{

// A call has come back: of an operation (preload/abi/gate.h) with these arguments, at so many bytes of stack.
[[nodiscard]] PathEnd path_begins(std::uint32_t operation, const void* arguments, std::uintptr_t depth);
// Likewise, and the other end: the program has looked at the clock, at that place of its code.
[[nodiscard]] PathEnd look_at_clock(std::uintptr_t place, std::uintptr_t depth);
// A call is made. `polls`: empty ones that the shim has answered on the way there.
[[nodiscard]] PathEnd path_ends(std::uint32_t operation, const void* arguments, std::uintptr_t depth,
                                std::uint64_t polls);

} // namespace umwelt::rank_host
