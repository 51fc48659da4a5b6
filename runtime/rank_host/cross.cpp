// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/cross.h"

#include <cstddef>
#include <span>

#include "runtime/engine/floating_point.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::rank_host
{

namespace
{

// What calls preserve, as umwelt_cross leaves it on the stack; behind it are the return address and the callers.
constexpr std::size_t preserved_registers = 6;

// Where the thread stands. Two calls with the same registers and the same stack are the same, but for what lies
// elsewhere in memory.
__attribute__((no_sanitize("address"))) std::uint64_t state_of(const Thread& thread, const std::uint64_t* registers)
{
  const auto [bottom, top] = thread.stack_words();
  const bool own_stack = registers >= bottom && registers < top; // else one that the program has made
  std::uint64_t state = 0;
  for (const std::uint64_t* word = registers; word < (own_stack ? top : registers + preserved_registers); ++word) {
    state = (state ^ *word) * 0x9e3779b97f4a7c15;
    state ^= state >> 32;
  }
  return state;
}

} // namespace

// Whether the burst that begins is to be counted: then the trap flag is set.
extern "C" __attribute__((used, visibility("hidden"))) bool
umwelt_crossed(umw_gate* gate, std::uint32_t operation, void* arguments, const std::uint64_t* registers)
{
  engine::Crossing crossing;
  const engine::OwnFloatingPoint floating;
  RankHost& rank_host = RankHost::here();
  Thread& thread = *rank_host.running();
  if (gate->shows_state == 1) [[unlikely]]
    gate->poll_state = state_of(thread, registers);
  const auto place = reinterpret_cast<std::uintptr_t>(registers);
  if (thread.first_depth == 0) [[unlikely]]
    thread.first_depth = place;
  thread.depth = thread.first_depth - place;
  rank_host.call(thread, operation, arguments);
  crossing.watch_syscalls(rank_host.dispatches(thread.rank));
  return rank_host.begin_count(thread);
}

extern "C" __attribute__((naked)) void umwelt_cross(umw_gate*, std::uint32_t, void*)
{
  asm("push %r15\n\t.cfi_adjust_cfa_offset 8\n\t"
      "push %r14\n\t.cfi_adjust_cfa_offset 8\n\t"
      "push %r13\n\t.cfi_adjust_cfa_offset 8\n\t"
      "push %r12\n\t.cfi_adjust_cfa_offset 8\n\t"
      "push %rbp\n\t.cfi_adjust_cfa_offset 8\n\t"
      "push %rbx\n\t.cfi_adjust_cfa_offset 8\n\t"
      "mov %rsp, %rcx\n\t"
      "sub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\t"
      "call umwelt_crossed\n\t"
      "add $56, %rsp\n\t.cfi_adjust_cfa_offset -56\n\t"
      "test %al, %al\n\t"
      "jne 1f\n\t"
      "ret\n"
      "1:\n\t"
      "pushfq\n\t.cfi_adjust_cfa_offset 8\n\t"
      "orq $0x100, (%rsp)\n\t" // the trap flag
      "popfq\n\t.cfi_adjust_cfa_offset -8\n\t"
      "ret");
}

} // namespace umwelt::rank_host
