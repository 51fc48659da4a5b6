// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel's view of signals in a process that carries ranks. Faults of a rank go to its own handler if it has one
// and end it otherwise; faults on the runtime's side end everything with a message that says so; the user's signals and
// the time-out end the job in good order.
#pragma once

#include <cstdint>

#include "runtime/engine/stack.h"

namespace umwelt::rank_host
{

class RankHost;

class Signals
{
public:
  explicit Signals(RankHost& rank_host);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Single steps that nobody asked for do no harm from now on, before there is a RankHost, and after (loader/BUGS.md).
  static void tolerate_stray_traps();
  // Whether it is on the stack that faults are dealt with on. There is one of it, so nobody may be left standing there.
  [[nodiscard]] static bool on_stack(std::uintptr_t address);

private:
  engine::Stack stack_;
};

} // namespace umwelt::rank_host
