// SPDX-License-Identifier: LGPL-2.1-or-later
// A function that can be called with any arguments: it notes the registers as they are when it is entered, calls a hook
// while the caller's arguments in memory are still there, and returns the same bits in rax and xmm0.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "runtime/kernels/call_registers.h"
#include "runtime/kernels/signature.h"

namespace umwelt::kernels::test
{

// Cast it to the type of the function that is to be called.
using AnyFunction = void (*)();
AnyFunction entry();

// For all calls of entry() from now on.
void on_entry(std::function<void(const CallRegisters&)> hook);
void return_bits(std::uint64_t bits);

// What the signature reads in the calls that `calls` makes, of the last one.
std::vector<double> read_in(const Signature& signature, const std::function<void()>& calls);

template <typename Function> Function* entry_as()
{
  return reinterpret_cast<Function*>(entry());
}

} // namespace umwelt::kernels::test
