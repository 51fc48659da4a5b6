// SPDX-License-Identifier: LGPL-2.1-or-later
// What a trap or a tick costs, which is not part of the interrupted thread's computing. Measured once, with traps of
// the runtime's own.
#pragma once

#include <cstdint>

namespace umwelt::rank_host
{

struct Thread;

class TrapCost
{
public:
  // Not under a debugger, which would take the traps for its own: then they cost nothing.
  void measure();
  // True: the trap was made by measure(). For the signal handler.
  static bool calibrates();
  // The end of a burst that is not the program's doing. What the kernel needs to get here, and to get back from here
  // the last time, was not computing.
  void interrupt(Thread& thread) const;

private:
  std::uint64_t entry_ = 0; // TSC ticks from an instruction to the handler of its trap
  std::uint64_t exit_ = 0;  // and back
};

} // namespace umwelt::rank_host
