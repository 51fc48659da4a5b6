// SPDX-License-Identifier: LGPL-2.1-or-later
// The user (Ctrl-C, kill) or the clock (--timeout) wants the run to end. Asked for in a signal handler, where only what
// is async-signal-safe may be done, signal-safety(7): what was interrupted is noted, and the main loop does the rest
// when it comes round. That takes as long as a busy machine makes it, so the process is only given up when nothing has
// moved for `progress_timeout`.
#pragma once

#include <csignal>
#include <ctime>

#include <ucontext.h>

namespace umwelt::job
{

struct Thread;

class Interruption
{
public:
  explicit Interruption(bool has_timeout) : has_timeout_(has_timeout) {}

  // --- async-signal-safe ---
  // A signal has come. True: it is the first. `interrupted`: a thread of a rank whose code it interrupted at `context`,
  // or null. Ends the process if it is asked again, or the clock comes again, and nothing has moved for too long.
  bool ask(int signal, const Thread* interrupted, const ucontext_t* context);

  [[nodiscard]] bool asked() const { return signal_ != 0; }
  [[nodiscard]] int signal() const { return signal_; } // the first
  [[nodiscard]] bool is_timeout() const { return signal_ == SIGALRM && has_timeout_; }
  [[nodiscard]] int exit_code() const;
  [[nodiscard]] const Thread* interrupted() const { return interrupted_; }
  [[nodiscard]] const ucontext_t& context() const { return context_; }
  // The run is on its way to its end.
  void moves();

private:
  [[noreturn]] void give_up() const;

  const bool has_timeout_;
  volatile std::sig_atomic_t signal_ = 0;
  const Thread* interrupted_ = nullptr;
  ucontext_t context_{};
  timespec moved_{}; // CLOCK_MONOTONIC
};

} // namespace umwelt::job
