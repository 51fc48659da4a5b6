// SPDX-License-Identifier: LGPL-2.1-or-later
// Where threads of ranks arrive that enter a function whose entry is patched (runtime/entries), and where they arrive
// when such a function returns, if that is wanted: on the rank's side, on the rank's stack, in the middle of whatever
// the compiler keeps in registers.
#pragma once

#include <array>
#include <cstdint>

namespace umwelt::rank_host
{

// What the entry has left on the stack: registers that may hold arguments (System V ABI, AMD64 supplement, 3.2.3), and
// behind them the caller's stack. The function, or its caller, finds all registers again as they were but for the
// result of a call that is skipped: a compiler that knows both may keep in any of them what the function leaves alone
// (-fipa-ra).
struct EnteredFrame {
  std::array<std::array<std::uint64_t, 2>, 8> vector; // xmm0 to xmm7; the first is what a skipped call returns
  std::uint64_t rbx;                                  // the entry's own use of it
  std::uint64_t skipped;                              // to be filled in: 0, the function is entered
  std::uint64_t rax, rdi, rsi, rdx, rcx, r8, r9, r10, r11;
  std::uint64_t called_from;          // in the patched entry; to be filled in: where the function is entered
  std::uint64_t return_address;       // of the function
  std::array<std::uint64_t, 1> stack; // its arguments in memory
};

struct ReturnedFrame {
  std::uint64_t rbx;
  std::uint64_t rax, rdi, rsi, rdx, rcx, r8, r9, r10, r11;
  std::uint64_t return_address; // to be filled in
};

// Whether this machine can do all that.
bool can_enter_functions();

extern "C" {
// Called by patched entries.
void umwelt_function_entry();
// Likewise, in a process made by fork(): nothing but the function.
void umwelt_function_entry_of_child();
// In place of a return address.
void umwelt_function_return();

// Fill in the frame.
void umwelt_entered(EnteredFrame* frame);
void umwelt_entered_in_child(EnteredFrame* frame);
void umwelt_returned(ReturnedFrame* frame);
}

} // namespace umwelt::rank_host
