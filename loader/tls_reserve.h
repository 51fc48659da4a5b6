// SPDX-License-Identifier: LGPL-2.1-or-later
// Room for the thread-local variables of a program in a namespace. Code of an executable finds them at fixed negative
// offsets from %fs, where this process keeps those of its own executable. The runtime therefore holds an unused array
// at the very end of its thread-local block; the shim puts the program's variables there
// (preload/namespace/program_tls.c). Every thread of the runtime has one, so it is small.
#pragma once

#include <cstddef>

namespace umwelt::loader
{

inline constexpr std::size_t tls_reserve_bytes = 8 * 1024;
inline constexpr std::size_t tls_reserve_alignment = 64;

// False if the array does not end at %fs, so that a program would overwrite variables of the runtime: a mistake in how
// the executable was linked. Null in executables that do not link the array.
[[gnu::weak]] bool tls_reserve_is_last();

} // namespace umwelt::loader
