// SPDX-License-Identifier: LGPL-2.1-or-later
// What to do about a deadlock: one next step for each kind of place where threads wait.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace umwelt::job
{

struct WaitingThread {
  int rank;
  bool is_main;          // the rank's main thread
  std::string_view call; // Thread::last_call
  bool wakes_by_itself;  // has a time-out, and has seen it come in vain
};

// "Next step: ...". Threads that wake by themselves, and helper threads that wait for a descriptor (libevent's loop in
// every MPI library), are not why the others wait; they are only named if there is nobody else.
std::string next_steps(const std::vector<WaitingThread>& threads);

} // namespace umwelt::job
