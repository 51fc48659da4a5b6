// SPDX-License-Identifier: LGPL-2.1-or-later
// How a system call of System V IPC blocks its caller.
#pragma once

#include "runtime/base/time.h"

namespace umwelt::sysv
{

// Of one call that waits. wake() may be called by another's call meanwhile.
class Waiting
{
public:
  virtual ~Waiting() = default;
  enum class End { woken, deadline, signal };
  virtual End wait(sim::SimTime deadline) = 0;
  virtual void wake(Waiting& by) = 0;
};

} // namespace umwelt::sysv
