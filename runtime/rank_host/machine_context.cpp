// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/machine_context.h"

#include <algorithm>
#include <cstring>

namespace umwelt::rank_host
{

std::size_t extended_bytes(const ucontext_t& context)
{
  struct Software { // arch/x86/include/uapi/asm/sigcontext.h, struct _fpx_sw_bytes
    std::uint32_t magic;
    std::uint32_t extended_size;
    std::uint64_t features;
    std::uint32_t state_size;
  } software{};
  constexpr std::uint32_t magic = 0x46505853;
  constexpr std::size_t legacy = 512;
  constexpr std::size_t software_offset = 464;
  std::memcpy(&software, reinterpret_cast<const char*>(context.uc_mcontext.fpregs) + software_offset, sizeof software);
  return std::min<std::size_t>(software.magic == magic ? software.state_size : legacy, most_extended);
}

} // namespace umwelt::rank_host
