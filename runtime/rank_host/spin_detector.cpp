// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/spin_detector.h"

#include <algorithm>
#include <cstring>

namespace umwelt::rank_host
{

namespace
{

constexpr unsigned most_steps = 320;         // 1 us each on bare metal, 9 us under nested virtualisation
constexpr unsigned most_further_steps = 480; // of code that has come back once
constexpr unsigned proof = 8;                // times round the loop with nothing changed
constexpr unsigned least_proof = 2;          // of a long one
constexpr unsigned enough_steps = 128;       // in all those times
constexpr std::uintptr_t largest_loop = 128; // bytes to either side

bool is_pause(const unsigned char* code)
{
  return code[0] == 0xf3 && code[1] == 0x90;
}

} // namespace

bool SpinDetector::is_near_pause(std::uintptr_t pc)
{
  constexpr std::uintptr_t page = 4096;
  const std::uintptr_t begin = std::max(pc & ~(page - 1), pc - largest_loop);
  const std::uintptr_t end = std::min((pc & ~(page - 1)) + page, pc + largest_loop) - 1;
  for (std::uintptr_t at = begin; at < end; ++at)
    if (is_pause(reinterpret_cast<const unsigned char*>(at)))
      return true;
  return false;
}

void SpinDetector::begin(const ucontext_t& context)
{
  steps_ = periods_ = 0;
  pauses_.clear();
  anchor_ = 0;
  anchored_ = only_pause_ = false;
  loop_.clear();
  remember(context);
}

void SpinDetector::remember(const ucontext_t& context)
{
  std::memcpy(state_.registers, context.uc_mcontext.gregs, sizeof state_.registers);
  state_.registers[REG_EFL] &= program_flags;
  state_.extended_bytes = extended_bytes(context);
  std::memcpy(state_.extended.data(), context.uc_mcontext.fpregs, state_.extended_bytes);
}

bool SpinDetector::as_remembered(const ucontext_t& context) const
{
  const greg_t* now = context.uc_mcontext.gregs;
  for (int i = REG_R8; i <= REG_RIP; ++i)
    if (now[i] != state_.registers[i])
      return false;
  return (now[REG_EFL] & program_flags) == state_.registers[REG_EFL] &&
         std::memcmp(state_.extended.data(), context.uc_mcontext.fpregs, state_.extended_bytes) == 0;
}

bool SpinDetector::is_below_remembered(const ucontext_t& context) const
{
  const greg_t* now = context.uc_mcontext.gregs;
  return std::lexicographical_compare(now, now + REG_RIP, state_.registers, state_.registers + REG_RIP);
}

SpinDetector::Finding SpinDetector::step(const ucontext_t& context)
{
  const std::uintptr_t pc = pc_of(context);
  if (++steps_ > (periods_ > 0 ? most_steps + most_further_steps : most_steps))
    return Finding::no_loop;
  if (waits(context)) {
    anchor_ = 0;
    loop_.push_back(pc);
    return Finding::pause;
  }
  if (only_pause_) {
    loop_.push_back(pc);
    return Finding::nothing_yet;
  }
  if (as_remembered(context)) {
    const auto length = static_cast<unsigned>(loop_.size() + 1);
    if (++periods_ < std::clamp(enough_steps / length, least_proof, proof))
      return Finding::nothing_yet;
    periods_ = proof;
    if (anchored_)
      return Finding::comes_back;
    loop_.push_back(pc);
    anchor_ = *std::min_element(loop_.begin(), loop_.end());
  }
  // Where in its loop a tick happened to find it must not show. It may come to the anchor more than once each time
  // round (as who looks at several variables in turn does): the one with the lowest registers counts.
  if (pc == anchor_ && (!anchored_ || is_below_remembered(context))) {
    anchored_ = true;
    remember(context);
    periods_ = proof - 1;
  }
  if (periods_ > 0)
    return Finding::nothing_yet;
  loop_.push_back(pc);
  if ((steps_ & (steps_ - 1)) == 0) { // the first state may have been on the way into the loop (Brent's algorithm)
    loop_.clear();
    remember(context);
  }
  return Finding::nothing_yet;
}

bool SpinDetector::waits(const ucontext_t& context)
{
  const std::uintptr_t pc = pc_of(context);
  const auto* code = reinterpret_cast<const unsigned char*>(pc);
  if (!is_pause(code))
    return false;
  auto found = std::find_if(pauses_.begin(), pauses_.end(), [pc](const Pause& pause) { return pause.pc == pc; });
  if (found == pauses_.end())
    found = pauses_.insert(found, Pause{pc, 0, {}, {}});
  Pause& pause = *found;
  ++pause.times;
  const greg_t* registers = context.uc_mcontext.gregs;
  Registers round{};
  for (std::size_t i = 0; i < round.size(); ++i)
    round[i] = change_of(pause.registers[i], registers[i]);
  pause.round = pause.times < 3 || round == pause.round ? round : Registers{};
  std::copy_n(registers, pause.registers.size(), pause.registers.begin());
  // Of several in a loop the lowest, wherever a tick found the thread; unless it has left that loop.
  const bool lower_comes = std::any_of(pauses_.begin(), pauses_.end(),
                                       [pc](const Pause& other) { return other.pc < pc && other.times + 1 >= proof; });
  if (pause.times < proof || (pause.times == proof && lower_comes))
    return false;
  round_ = pause.round;
  return true;
}

const std::vector<std::uintptr_t>& SpinDetector::complete_loop()
{
  if (!anchored_) // then it is
    loop_.push_back(static_cast<std::uintptr_t>(state_.registers[REG_RIP]));
  return loop_;
}

bool SpinDetector::was_in_loop() const
{
  return steps_ <= (proof + 5) * loop_.size();
}

} // namespace umwelt::rank_host
