// SPDX-License-Identifier: LGPL-2.1-or-later
// Room for the thread-local variables of a loaded program. Code of an executable finds them at fixed negative offsets from
// %fs, where this process keeps those of its own executable. The runtime therefore holds a large unused array at the very
// end of its thread-local block; the shim puts the program's variables there (preload/program_tls.c).
#pragma once

#include <cstddef>

namespace umwelt::loader
{

inline constexpr std::size_t tls_reserve_bytes = 256 * 1024;

// False if the array does not end at %fs, so that a program would overwrite variables of the runtime: a mistake in how
// the executable was linked.
bool tls_reserve_is_last();

} // namespace umwelt::loader
