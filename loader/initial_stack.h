// SPDX-License-Identifier: LGPL-2.1-or-later
// The initial stack of a process: argc, argv, envp, auxiliary vector (psABI x86-64, "Process Initialization").
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace umwelt::loader
{

struct AuxiliaryEntry {
  unsigned long type;
  std::uintptr_t value;
};

// `argv`, `envp`: with or without the null pointer at the end. `own`: what is not as in this process.
std::vector<std::uintptr_t> initial_stack(std::span<char* const> argv, std::span<char* const> envp,
                                          std::span<const AuxiliaryEntry> own);

// Where a program's stack may end on the stack of the caller, who goes on using it while it waits, as do signal
// handlers; `bottom`: of that stack. The memory becomes such as the kernel gives a process: ld.so makes it executable,
// by PROT_GROWSDOWN of mprotect(2), when an object asks for that (trampolines of nested functions). Throws
// std::system_error.
std::uintptr_t make_stack(void* bottom);

} // namespace umwelt::loader
