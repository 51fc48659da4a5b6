// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts the instructions of a burst: the processor's trap flag is set as a call comes back, and each instruction traps
// until the next call is made. Some 2 us per instruction, none of which the program sees: after each, its clock stands
// where it would if the burst had run at the pace of the paths (path_times.h).
//
// A string instruction (`rep movsb`) traps after every element; it counts as the vector instructions that would do the
// same. A burst with a system call is not counted: what the kernel does in it is not seen.
#pragma once

#include <cstdint>

#include <ucontext.h>

namespace umwelt::rank_host
{

struct Thread;

class StepCount
{
public:
  // `ticks`: of the time stamp counter, per instruction.
  explicit StepCount(double ticks) : ticks_(ticks) {}

  // The burst that the thread is about to begin; who calls sets the trap flag.
  void begin(Thread& thread);
  [[nodiscard]] bool under_way() const { return thread_ != nullptr; }
  // An instruction of the burst has been executed. Clears the trap flag when there is nothing left to count.
  void step(ucontext_t& context);
  // It is not to be counted after all.
  void spoil() { spoilt_ = true; }
  // The burst has ended. Its instructions; 0: they could not be counted.
  [[nodiscard]] std::uint64_t end();
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

private:
  [[nodiscard]] std::uint64_t counted() const;

  const double ticks_;
  Thread* thread_ = nullptr;
  bool spoilt_ = false;
  std::uint64_t instructions_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t elements_ = 0; // bytes that a string instruction has moved
  std::uintptr_t last_ = 0;
  std::uintptr_t page_ = 0; // known to be there
};

} // namespace umwelt::rank_host
