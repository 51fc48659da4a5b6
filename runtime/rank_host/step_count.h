// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts the instructions of a burst. As a call comes back the processor's trap flag is set, until the thread is out of
// the runtime; from there on it goes from branch to branch: straight code runs up to a breakpoint on the branch that
// ends it, which is executed here (branches.h), and so on until the next call is made. Some 3 us per branch, none of
// which the program sees: after each, its clock stands where it would if the burst had run at the pace of the paths
// (path_times.h).
//
// - What this cannot execute the thread does itself, with the trap flag, which takes some 10 us on a virtual machine.
// - A string instruction (`rep movsb`) would trap after every element: it is executed at once, and its bytes count.
// - A call into the runtime that is none of the simulation's comes back to a breakpoint.
// - A burst with a system call is not counted: what the kernel does in it is not seen. All breakpoints are gone before
//   it is made, so that code which is unmapped, or another process of fork(2), holds none. Nor is one that enters the C
//   library of the process, as ld.so does for its memory where ranks share both (--loader dlmopen): its lock would be
//   held while this here needs memory.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <ucontext.h>

#include "loader/elf_file.h"
#include "runtime/rank_host/branches.h"
#include "runtime/rank_host/code_memory.h"
#include "runtime/rank_host/path_times.h"

namespace umwelt::rank_host
{

struct Thread;

class StepCount
{
public:
  StepCount(const Pace& pace, double ticks_per_ps);

  // The burst that the thread is about to begin; who calls sets the trap flag.
  void begin(Thread& thread);
  [[nodiscard]] bool under_way() const { return thread_ != nullptr; }
  // An instruction of the burst has been executed with the trap flag.
  void step(ucontext_t& context);
  // The thread has met a breakpoint there. False: it is none of this count's.
  bool met(ucontext_t& context, std::uintptr_t pc);
  // It is not to be counted after all: the thread goes on as any other, which may be to wait in a loop for others.
  void spoil();
  // The burst has ended.
  [[nodiscard]] Count end();

private:
  void advance(ucontext_t& context);
  [[nodiscard]] const StraightCode& code_at(std::uintptr_t pc);
  [[nodiscard]] bool execute(ucontext_t& context, StraightCode::End end);
  void step_next(ucontext_t& context);
  bool patch(std::uintptr_t pc);
  void unpatch(std::uintptr_t pc);
  void unpatch_all();
  void tell_clock();
  void add(std::uint64_t instructions, std::uint64_t copied = 0);
  [[nodiscard]] sim::SimTime time() const;

  const Pace pace_;
  const double ticks_per_ps_;
  const CodeMemory memory_;
  const std::vector<loader::AddressRange> c_library_; // of the process
  Thread* thread_ = nullptr;
  bool returned_ = false; // by the branch executed last
  std::uint64_t instructions_ = 0;
  std::uint64_t copied_ = 0; // bytes, by string instructions
  std::uint64_t steps_ = 0;
  std::unordered_map<std::uintptr_t, StraightCode> codes_;    // met in this burst
  std::unordered_map<std::uintptr_t, unsigned char> patches_; // what was there
  // Where the thread is to come next, and what it executes on the way there.
  std::uintptr_t next_ = 0;
  std::uint64_t on_the_way_ = 0;
  StraightCode::End end_ = StraightCode::End::none; // what stands there; none: it comes back to there
};

} // namespace umwelt::rank_host
