// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a rank's bursts begin and end, and what of them is not the program's.
#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/rank_host/kernel_calls.h"
#include "runtime/rank_host/path_ends.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::rank_host
{

namespace
{

// Between looks at the clock: what is shorter has nothing that could be cold.
constexpr double shortest_path = 100.0 * sim::nanosecond;
// That others interrupt, until it is charged: more than it takes to be interrupted (0.2 ms on a busy virtual machine).
constexpr double longest_held = 2.0 * sim::millisecond;

// Where in the program the thread is, in the file's own terms: what the stack shows first, up to some frames of
// libraries. 0: nowhere.
__attribute__((no_sanitize("address"))) std::uintptr_t place_in_program(const Thread& thread)
{
  constexpr std::size_t most = 64; // words
  const auto [bottom, top] = thread.stack_words();
  const auto* word = reinterpret_cast<const std::uint64_t*>(thread.first_depth - thread.depth);
  if (word < bottom) // a stack that the program has made
    return 0;
  for (const auto* const end = std::min(top, word + most); word < end; ++word)
    for (const loader::AddressRange& code : thread.rank.code)
      if (*word - code.begin < code.end - code.begin)
        return *word - code.begin + 1;
  return 0;
}

} // namespace

void RankHost::begin_burst(Thread& thread)
{
  const Rank& rank = thread.rank;
  if (rank.directory != current_directory_) [[unlikely]]
    use_directory_of(rank);
  if (rank.file_mask != current_file_mask_) [[unlikely]]
    use_file_mask(rank.file_mask);
  rank.gate.kernel_tid = thread.kernel_id;
  rank.gate.clock.burst_start = cpu_.begin() - std::exchange(thread.held, 0);
  rank.gate.paused = thread.paused ? UMW_PAUSED_THROUGHOUT : 0;
}

Burst RankHost::end_burst(Thread& thread)
{
  umw_gate& gate = thread.rank.gate;
  const std::int32_t paused = std::exchange(gate.paused, 0);
  thread.paused = paused != 0;
  if (thread.paused) [[unlikely]]
    gate.clock.burst_start = paused == UMW_PAUSED ? cpu_.exclude(gate.clock.burst_start, gate.paused_at) : cpu_.begin();
  Burst burst = end_path(thread);
  burst.paused = paused == UMW_PAUSED_THROUGHOUT;
  if (thread.charged != 0) {
    thread.rank.gate.clock.debt_ps -= std::exchange(thread.charged, 0);
    burst += std::exchange(thread.settled, {});
  }
  return burst;
}

void RankHost::settle_path(Thread& thread)
{
  Rank& rank = thread.rank;
  umw_clock& clock = rank.gate.clock;
  const PathEnd here = look_at_clock(place_in_program(thread), thread.depth);
  thread.to = here;
  const Burst path = end_path(thread);
  const auto charge = static_cast<SimTime>(static_cast<double>(cpu_.charge(clock, path, true)) / clock.speed);
  thread.settled += path;
  thread.charged += charge;
  clock.debt_ps += charge;
  thread.from = here;
  clock.path_ticks = static_cast<std::uint64_t>(shortest_path * cpu_.ticks_per_ps());
  clock.burst_start = cpu_.begin();
}

void RankHost::hold_burst(Thread& thread)
{
  const umw_gate& gate = thread.rank.gate;
  const std::uint64_t begin = gate.clock.burst_start;
  const auto longest = static_cast<std::uint64_t>(longest_held * cpu_.ticks_per_ps());
  if (!path_times_ || thread.from == 0 || gate.paused != 0 || KernelCalls::is_modelled(thread) ||
      engine::BurstMeter::ticks() - begin > longest)
    return;
  const SimTime measured = cpu_.measure(begin);
  thread.held = 1 + static_cast<std::uint64_t>(static_cast<double>(measured) * cpu_.ticks_per_ps());
}

Burst RankHost::end_path(Thread& thread)
{
  if (thread.held != 0) [[unlikely]]
    return {};
  if (KernelCalls::is_modelled(thread)) [[unlikely]] {
    thread.from = thread.to = 0;
    counted_.reset();
    return {};
  }
  const SimTime measured = cpu_.measure(thread.rank.gate.clock.burst_start);
  if (!path_times_)
    return {measured};
  const PathEnd from = std::exchange(thread.from, 0);
  const PathEnd to = std::exchange(thread.to, 0);
  if (const std::uint64_t steps = std::exchange(thread.counted_in_vain, 0); steps > 0)
    path_times_->cannot_count(from, to, steps);
  if (const std::optional<Count> count = std::exchange(counted_, std::nullopt))
    return path_times_->charge_counted(from, to, *count);
  return path_times_->charge(from, to, measured);
}

void RankHost::pause_burst(Rank& rank)
{
  umw_clock& clock = rank.gate.clock;
  if (!Cpu::measures(clock) || (running() != nullptr && KernelCalls::is_modelled(*running())))
    return;
  const SimTime burst = cpu_.charge(clock, {cpu_.measure(clock.burst_start)}, true);
  clock.debt_ps += static_cast<SimTime>(static_cast<double>(burst) / clock.speed);
}

void RankHost::resume_burst(Rank& rank)
{
  rank.gate.clock.burst_start = cpu_.begin();
}

} // namespace umwelt::rank_host
