// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of kernels (--kernels): a thread that enters one is asked what it wants of it, and told what becomes of it.
//
// Skipped calls return at once. All others run, and come back by way of a return address of ours, since what they call
// themselves is part of them: only the outermost kernel of a thread counts (but for those whose calls are only told).
// While one runs whose time is the model's, its bursts count for nothing; when it has returned, the rank is charged
// what is left of the model's time.
//
// A kernel that is left by longjmp(3) or an exception does not return; it is forgotten at the thread's next call from
// above its frame. The unwinder knows nothing of the return address: exceptions end in std::terminate.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/entries/entries.h"
#include "runtime/kernels/calls.h"
#include "runtime/rank_host/code_memory.h"
#include "runtime/rank_host/function_entry.h"
#include "runtime/rank_host/profiler.h"

namespace umwelt::rank_host
{

class RankHost;
struct Rank;
struct Thread;

// A kernel that a thread has entered and not left yet.
struct KernelUnderWay {
  std::uintptr_t frame; // address of its return address,
  std::uintptr_t return_address;
  kernels::Calls::Call call;
  std::int64_t began; // ps, of the rank's clock
};

class KernelCalls
{
public:
  // The RankHost outlives it.
  KernelCalls(RankHost& rank_host, std::shared_ptr<const kernels::Kernels> kernels);

  // What the thread's rank has loaded, now and whenever it loads more. Ends the run where a kernel cannot be patched.
  void take_over(Thread& thread);
  // What functions of the thread call that are patched: those of the simulation, or of a child made by fork(2).
  static void lead(const Thread& thread, bool child);

  // The thread has entered a kernel: what becomes of it.
  void enter(Thread& thread, EnteredFrame& frame);
  // It has returned: its return address.
  std::uintptr_t leave(Thread& thread, std::uint64_t result);
  // Nothing but the function becomes of it; which it is. Null: the linker's, which does nothing.
  const entries::Entries::Entry* enter_original(EnteredFrame& frame) const;
  // The thread makes a call whose frame begins at `stack`: kernels there and below have been left.
  static void forget_left(Thread& thread, std::uintptr_t stack);
  // Whether what the thread computes counts for nothing.
  [[nodiscard]] static bool is_modelled(const Thread& thread);

  // A tick has interrupted the thread there.
  void ticked(const Thread& thread, std::uintptr_t pc);

  // The rank is about to end: what its kernels have come to.
  void tell_totals(Thread& thread);

private:
  [[nodiscard]] static unsigned rank_number(const Rank& rank);
  [[nodiscard]] static kernels::Place place_of(const Rank& rank);

  // The thread is in one, rather than in functions alone whose calls are told.
  [[nodiscard]] static bool in_kernel(const Thread& thread);
  // The rank has spent time in a kernel: what its node draws meanwhile may be the kernel's.
  void tell_power(Rank& rank, const kernels::Calls::Call& call, sim::SimTime time) const;
  void tell(Thread& thread, const kernels::Calls::Call& call, bool came_back);
  // What a model says passes before the program goes on if others see at once what it writes then.
  void settle(Thread& thread);
  void trace(Thread& thread, const kernels::Calls::Call& call, bool enters);
  void watch_linker(std::uintptr_t place);
  // Which kernels exist, and what is most like those that do not.
  void look_up(std::vector<kernels::Totals>& totals);

  RankHost& rank_host_;
  kernels::Calls calls_;
  entries::Entries entries_;
  std::unordered_map<std::size_t, std::string> nearest_; // of kernels that do not exist
  std::unordered_set<std::uintptr_t> linkers_;           // where calls of their r_brk come from
  CodeMemory code_;
  std::unique_ptr<Profiler> profiler_; // null: no profile is wanted
};

} // namespace umwelt::rank_host
