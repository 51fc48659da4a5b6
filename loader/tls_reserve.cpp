// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/tls_reserve.h"

#include <cstdint>

// Linkers place this section behind all others of thread-local data ("common" variables of the old days).
asm(".pushsection .tcommon,\"awT\",@nobits\n\t"
    ".balign 64\n\t"
    ".type umwelt_tls_reserve, @object\n\t"
    ".size umwelt_tls_reserve, 8192\n"
    "umwelt_tls_reserve:\n\t"
    ".zero 8192\n\t"
    ".popsection");

namespace umwelt::loader
{

static_assert(tls_reserve_bytes == 8192 && tls_reserve_alignment == 64, "above");

bool tls_reserve_is_last()
{
  std::uintptr_t thread_pointer = 0;
  std::uintptr_t begin = 0;
  asm("mov %%fs:0, %0" : "=r"(thread_pointer));
  asm("lea umwelt_tls_reserve@tpoff(%1), %0" : "=r"(begin) : "r"(thread_pointer));
  return begin + tls_reserve_bytes == thread_pointer;
}

} // namespace umwelt::loader
