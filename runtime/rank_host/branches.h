// SPDX-License-Identifier: LGPL-2.1-or-later
// Straight code and the branches that end it: a thread that stands before a branch can be put where that leads.
#pragma once

#include <cstdint>
#include <span>

#include <ucontext.h>

#include "runtime/rank_host/code_memory.h"

namespace umwelt::rank_host
{

struct StraightCode {
  enum class End : std::uint8_t {
    branch,
    string,      // repeated string instruction
    system_call, // or another way into the kernel: a breakpoint
    unreadable,
    none // of what could be read
  };
  std::uint64_t instructions = 0; // before the end
  std::uintptr_t bytes = 0;       // of these
  End end = End::none;
};

// That begins with these bytes.
[[nodiscard]] StraightCode straight_code(std::span<const unsigned char> code);

// The thread stands before a branch with this code: does what it does. False, and nothing done: it is one that the
// thread has to execute itself.
[[nodiscard]] bool take_branch(ucontext_t& context, std::span<const unsigned char> code, const CodeMemory& memory);

} // namespace umwelt::rank_host
