// SPDX-License-Identifier: LGPL-2.1-or-later
// Simulated signals that have been sent to a thread or a process and not yet been taken, signal(7).
#pragma once

#include <csignal>
#include <cstdint>
#include <vector>

namespace umwelt::job
{

using SignalSet = std::uint64_t; // bit n - 1: signal n, as the kernel has it
constexpr int last_signal = 64;
constexpr SignalSet all_signals = ~SignalSet{0};

constexpr SignalSet set_of(int signal)
{
  return SignalSet{1} << (signal - 1);
}

class Pending
{
public:
  // A standard signal is pending once; real-time signals queue up. False: it was there already.
  bool add(const siginfo_t& information);
  [[nodiscard]] SignalSet signals() const { return signals_; }
  // The one with the lowest number, the oldest first. False: none of `wanted` is pending.
  bool take(SignalSet wanted, siginfo_t& information);
  void discard(SignalSet unwanted);
  // Whether the signal of a timer is among them.
  [[nodiscard]] bool has_timer(int id) const;

private:
  void update();

  std::vector<siginfo_t> queue_;
  SignalSet signals_ = 0;
};

} // namespace umwelt::job
