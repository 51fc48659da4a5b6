// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernel shows a signal handler of the thread it has interrupted, and lets it change: registers, flags,
// vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ucontext.h>

namespace umwelt::rank_host
{

constexpr greg_t trap_flag = 0x100;

// Resume flag, and the trap flag itself: not the program's.
constexpr greg_t program_flags = ~(greg_t{0x10000} | trap_flag);

// Of floating point and vectors, as the kernel saves them: what is compared of them.
constexpr std::size_t most_extended = 4096;

inline std::uintptr_t pc_of(const ucontext_t& context)
{
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}

// On: the thread goes on for one instruction.
inline void set_trap_flag(ucontext_t& context, bool on)
{
  greg_t& flags = context.uc_mcontext.gregs[REG_EFL];
  flags = on ? flags | trap_flag : flags & ~trap_flag;
}

// By how much a register has changed, which may hold anything: as the processor subtracts.
inline std::int64_t change_of(greg_t before, greg_t now)
{
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(before));
}

// Bytes of the vector state behind context.uc_mcontext.fpregs, at most most_extended.
[[nodiscard]] std::size_t extended_bytes(const ucontext_t& context);

} // namespace umwelt::rank_host
