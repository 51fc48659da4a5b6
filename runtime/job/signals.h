// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel's view of signals while a job runs. Faults of a rank go to its own handler if it has one and end it otherwise;
// faults of the runtime itself end everything with a message that says so; the user's signals and the time-out end the
// job in good order.
#pragma once

namespace umwelt::job
{

class Job;

class Signals
{
public:
  explicit Signals(Job& job);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

private:
  void* stack_;
};

} // namespace umwelt::job
