// SPDX-License-Identifier: LGPL-2.1-or-later
// Registers as the first instruction of a function finds them: what arguments are passed in (System V ABI, AMD64
// supplement, 3.2.3). runtime/rank_host/kernel_calls.h fills them in, signature.h reads arguments out of them.
#pragma once

#include <array>
#include <cstdint>

namespace umwelt::kernels
{

struct CallRegisters {
  std::array<std::uint64_t, 6> general; // rdi, rsi, rdx, rcx, r8, r9
  std::array<std::uint64_t, 8> vector;  // low halves of xmm0 to xmm7
  const std::uint64_t* stack;           // the first argument in memory: behind the return address
};

} // namespace umwelt::kernels
