// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/kernel_calls.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>
#include <utility>

#include "preload/abi/gate.h"
#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"
#include "runtime/engine/floating_point.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/rank_host/descriptors.h"
#include "runtime/rank_host/rank_host.h"
#include "runtime/rank_host/slices.h"

namespace umwelt::rank_host
{

namespace
{

using Way = kernels::Calls::Way;

// Time of the rank, but for the burst under way.
std::int64_t clock_of(const Rank& rank)
{
  return rank.gate.clock.now_ps + rank.gate.clock.debt_ps;
}

std::vector<entries::Wanted> wanted(const kernels::Calls& calls)
{
  std::vector<entries::Wanted> result;
  for (const auto& function : calls.functions())
    result.push_back({function.symbol, function.object, function.address, function.optional});
  return result;
}

kernels::CallRegisters registers_of(const EnteredFrame& frame)
{
  kernels::CallRegisters registers{
      {frame.rdi, frame.rsi, frame.rdx, frame.rcx, frame.r8, frame.r9}, {}, frame.stack.data()};
  for (std::size_t i = 0; i < frame.vector.size(); ++i)
    registers.vector[i] = frame.vector[i][0];
  return registers;
}

} // namespace

KernelCalls::KernelCalls(RankHost& rank_host, std::shared_ptr<const kernels::Kernels> kernels)
    : rank_host_(rank_host), calls_(std::move(kernels)), entries_(wanted(calls_))
{
  if (calls_.wants_profile())
    profiler_ = std::make_unique<Profiler>();
}

void KernelCalls::take_over(Thread& thread)
{
  const Rank& rank = thread.rank;
  std::string wrong =
      can_enter_functions() ? "" : "kernels need a processor with XSAVE. Next step: leave --kernels out";
  try {
    for (const std::string& text : entries_.take_over(*rank.loader->debug(), rank.loader->objects()))
      wrong += (wrong.empty() ? "" : "\n  ") + text;
  } catch (const std::system_error& error) {
    wrong = error.what();
  }
  for (const int descriptor : entries_.take_descriptors())
    descriptor_owners()[descriptor] = UMW_OWN_DESCRIPTOR;
  if (!wrong.empty())
    rank_host_.end_misused(thread, wrong);
  watch_linker(rank.loader->change_notice());
}

// A linker calls an empty function whenever its list of objects has changed (r_debug::r_brk), for debuggers.
void KernelCalls::watch_linker(std::uintptr_t place)
{
  std::array<unsigned char, 4 * entries::call_bytes> code{};
  if (place == 0 || linkers_.contains(place + entries::call_bytes) || code_.read(place, code) != code.size())
    return;
  std::string why;
  if (entries::MovedCode::of(code, place, why) && code_.write(place, entries::call_of_slot()))
    linkers_.insert(place + entries::call_bytes);
}

void KernelCalls::lead(const Thread& thread, bool child)
{
  const auto entry = reinterpret_cast<std::uintptr_t>(child ? &umwelt_function_entry_of_child : &umwelt_function_entry);
  std::memcpy(reinterpret_cast<void*>(thread.thread_pointer + entries::entry_slot), &entry, sizeof entry);
}

unsigned KernelCalls::rank_number(const Rank& rank)
{
  return rank.gate.owner;
}

kernels::Place KernelCalls::place_of(const Rank& rank)
{
  const umw_gate& gate = rank.gate;
  const int per_socket = std::max(1, gate.cores / std::max(1, gate.sockets));
  return {static_cast<std::uint32_t>(gate.node), static_cast<std::uint32_t>(gate.core / per_socket),
          static_cast<std::uint32_t>(gate.core), rank_number(rank)};
}

void KernelCalls::enter(Thread& thread, EnteredFrame& frame)
{
  Rank& rank = thread.rank;
  frame.skipped = 1;
  if (linkers_.contains(frame.called_from)) {
    if (rank.loader->debug()->r_state == r_debug::RT_CONSISTENT) {
      take_over(thread);
      if (Slices* const slices = rank_host_.slices())
        slices->take_over_time_stamps(rank);
    }
    return;
  }
  const unsigned function = enter_original(frame)->wanted;
  const auto here = reinterpret_cast<std::uintptr_t>(&frame.return_address);
  forget_left(thread, here);
  const bool mark = calls_.is_mark(function);
  if (!mark && in_kernel(thread))
    return;
  rank_host_.pause_burst(rank);
  const kernels::CallRegisters registers = registers_of(frame);
  kernels::Calls::Call call;
  std::string wrong;
  try {
    call = calls_.begin(function, place_of(rank), registers);
  } catch (const UsageError& error) {
    wrong = error.what();
  }
  if (!wrong.empty())
    rank_host_.end_misused(thread, wrong);
  call.time = static_cast<sim::SimTime>(static_cast<double>(call.time) / rank.gate.clock.pace);
  if (call.way == Way::skip) {
    rank.gate.clock.debt_ps += call.time;
    tell_power(rank, call, call.time);
    (call.result_in_vector ? frame.vector[0][0] : frame.rax) = call.result;
    frame.skipped = 1;
  } else {
    thread.kernels.push_back(
        {here, std::exchange(frame.return_address, reinterpret_cast<std::uintptr_t>(&umwelt_function_return)),
         std::move(call), clock_of(rank)});
  }
  if (mark)
    trace(thread, thread.kernels.back().call, true);
  rank_host_.resume_burst(rank);
  if (mark)
    tell(thread, thread.kernels.back().call, false);
  else if (frame.skipped != 0)
    settle(thread);
}

void KernelCalls::settle(Thread& thread)
{
  const umw_gate& gate = thread.rank.gate;
  if (gate.shares_memory == 0 || gate.clock.debt_ps <= gate.clock.most_debt_ps)
    return;
  umw_args_umw_clock_settle arguments{};
  rank_host_.call(thread, UMW_OP_umw_clock_settle, &arguments);
}

void KernelCalls::tell_power(Rank& rank, const kernels::Calls::Call& call, sim::SimTime time) const
{
  if (const int number = calls_.kernel_of(call).power; number >= 0) {
    rank.gate.kernel_ps[number] += time;
    rank.gate.kernels_used |= 1U << static_cast<unsigned>(number);
  }
}

void KernelCalls::tell(Thread& thread, const kernels::Calls::Call& call, bool came_back)
{
  if (!calls_.kernel_of(call).told)
    return;
  umw_args_umw_mpi_passed arguments{0, *call.mark, came_back, 0};
  rank_host_.call(thread, UMW_OP_umw_mpi_passed, &arguments);
}

void KernelCalls::trace(Thread& thread, const kernels::Calls::Call& call, bool enters)
{
  if (const kernels::Kernel& kernel = calls_.kernel_of(call); kernel.traced)
    rank_host_.trace_function(thread, *call.mark - UMW_MPI_FUNCTIONS, kernel.name, enters);
}

std::uintptr_t KernelCalls::leave(Thread& thread, std::uint64_t result)
{
  Rank& rank = thread.rank;
  rank_host_.pause_burst(rank); // of one that is modelled, nothing
  const KernelUnderWay kernel = std::move(thread.kernels.back());
  thread.kernels.pop_back();
  sim::SimTime taken = clock_of(rank) - kernel.began;
  if (kernel.call.way == Way::model && kernel.call.time > taken) {
    rank.gate.clock.debt_ps += kernel.call.time - taken;
    taken = kernel.call.time;
  }
  tell_power(rank, kernel.call, taken);
  calls_.end(kernel.call, rank_number(rank), taken, result);
  if (kernel.call.mark)
    trace(thread, kernel.call, false);
  rank_host_.resume_burst(rank);
  if (kernel.call.mark)
    tell(thread, kernel.call, true);
  else
    settle(thread);
  return kernel.return_address;
}

void KernelCalls::ticked(const Thread& thread, std::uintptr_t pc)
{
  if (profiler_)
    profiler_->tick(thread.rank, pc);
}

void KernelCalls::tell_totals(Thread& thread)
{
  if (profiler_)
    for (const std::string& text : kernels::profile_texts(profiler_->take(thread.rank))) {
      umw_args_umw_kernel_totals arguments{0, text.c_str()};
      rank_host_.request(thread, UMW_OP_umw_kernel_totals, &arguments);
    }
  const std::vector<kernels::Totals>* const called = calls_.totals(rank_number(thread.rank));
  std::vector<kernels::Totals> totals =
      called != nullptr ? *called : std::vector<kernels::Totals>(calls_.kernels().size());
  look_up(totals);
  for (const std::string& text : kernels::totals_texts(totals)) {
    umw_args_umw_kernel_totals arguments{0, text.c_str()};
    rank_host_.request(thread, UMW_OP_umw_kernel_totals, &arguments);
  }
}

void KernelCalls::look_up(std::vector<kernels::Totals>& totals)
{
  for (std::size_t i = 0; i < calls_.functions().size(); ++i)
    if (const auto kernel = calls_.kernel_of(i); kernel && entries_.is_there(static_cast<unsigned>(i)))
      totals[*kernel].exists = true;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (totals[i].exists || !calls_.kernels()[i].is_expected)
      continue;
    const auto [known, is_new] = nearest_.try_emplace(i);
    if (is_new) {
      if (names.empty())
        names = entries_.known_names();
      known->second = plausible(calls_.kernels()[i].name, names);
    }
    totals[i].nearest = known->second;
  }
}

const entries::Entries::Entry* KernelCalls::enter_original(EnteredFrame& frame) const
{
  const entries::Entries::Entry* const entry = entries_.find(frame.called_from);
  frame.skipped = entry == nullptr ? 1 : 0; // the linker's
  if (entry != nullptr)
    frame.called_from = entry->original;
  return entry;
}

void KernelCalls::forget_left(Thread& thread, std::uintptr_t stack)
{
  while (!thread.kernels.empty() && thread.kernels.back().frame <= stack) {
    if (const kernels::Calls::Call& call = thread.kernels.back().call; call.mark)
      RankHost::here().kernel_calls()->trace(thread, call, false);
    thread.kernels.pop_back();
  }
}

bool KernelCalls::in_kernel(const Thread& thread)
{
  return std::any_of(thread.kernels.begin(), thread.kernels.end(),
                     [](const KernelUnderWay& one) { return !one.call.mark; });
}

bool KernelCalls::is_modelled(const Thread& thread)
{
  return std::any_of(thread.kernels.begin(), thread.kernels.end(),
                     [](const KernelUnderWay& one) { return one.call.way == Way::model; });
}

// --- entered from the rank's side ------------------------------------------------------------------------------------

namespace
{

// Does something for the running thread, on the runtime's side.
template <class Act> void cross(Act act)
{
  const engine::Crossing crossing;
  const engine::OwnFloatingPoint floating;
  RankHost& rank_host = RankHost::here();
  Thread& thread = *rank_host.running();
  rank_host.give_up_count(thread);
  act(*rank_host.kernel_calls(), thread);
}

} // namespace

extern "C" __attribute__((used, visibility("hidden"))) void umwelt_entered(EnteredFrame* frame)
{
  cross([frame](KernelCalls& calls, Thread& thread) { calls.enter(thread, *frame); });
}

// The child has the runtime's memory, but is no part of the simulation.
extern "C" __attribute__((used, visibility("hidden"))) void umwelt_entered_in_child(EnteredFrame* frame)
{
  RankHost::here().kernel_calls()->enter_original(*frame);
}

extern "C" __attribute__((used, visibility("hidden"))) void umwelt_returned(ReturnedFrame* frame)
{
  cross([frame](KernelCalls& calls, Thread& thread) { frame->return_address = calls.leave(thread, frame->rax); });
}

} // namespace umwelt::rank_host
