// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ranks that spin on memory without any call. On their own processors they would see what the NIC writes; here nothing else
// runs until they cross the gate. A timer of the thread's CPU time looks at the running rank every few milliseconds: one
// whose general and vector registers and stack are the same, look after look, in a stretch of code of a few instructions, is
// not computing, and only a write of somebody else can change that. It is parked like one that polls (job/polling.h), in the
// signal handler on its own stack, until something reaches its memory.
//
// What it misses: a spin that counts its rounds (it is left alone, as a computation), and it takes for a spin a loop whose
// only variables are in global memory: that one goes on when nothing else is left to do, a few times.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <ucontext.h>

namespace umwelt::job
{

class Job;
class Rank;

class SpinWatch
{
public:
  // For the calling thread, which runs all ranks. The job outlives it. At most one at a time.
  explicit SpinWatch(Job& job);
  ~SpinWatch();
  SpinWatch(const SpinWatch&) = delete;
  SpinWatch& operator=(const SpinWatch&) = delete;

private:
  static constexpr std::size_t looks = 5;       // that make a spin
  static constexpr std::size_t known_looks = 2; // where one has been found before

  struct Look {
    std::array<std::uint64_t, 16> registers; // r8-r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp
    std::uint64_t instruction;
    std::uint64_t memory; // of vector registers and stack, as a hash
  };
  static void on_tick(int signal, siginfo_t* information, void* context);
  static bool same(const Look& a, const Look& b);
  [[nodiscard]] static Look look(const ucontext_t& context);
  // Adds a look at the running rank; true: it spins.
  bool spins(const Rank& rank, const ucontext_t& context);
  void look_again(bool soon); // or at the usual pace

  Job& job_;
  timer_t timer_{}; // of CPU time
  timer_t again_{}; // of wall clock, after a spin
  std::array<Look, looks> seen_{};
  std::size_t count_ = 0;
  bool soon_ = false;
  std::array<std::uint64_t, 64> sites_{}; // instructions of the latest spins
  std::size_t site_ = 0;
  std::uint64_t burst_ = 0;    // the rank's clock.burst_start of these looks
  std::uint64_t computed_ = 0; // ticks up to which it may have computed
  std::uint64_t last_ = 0;     // ticks of the last look
};

} // namespace umwelt::job
