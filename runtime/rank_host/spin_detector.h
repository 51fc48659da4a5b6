// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether a thread spins, told by letting it go on one instruction at a time (the trap flag).
//
// It does if it executes the same `pause` again and again, maybe with others in between (compilers unroll loops of
// them), or if it comes back to the same instruction with the same registers: then it cannot go anywhere by itself,
// since what it wrote would have to change what it reads. The cycle is found as by Brent's algorithm: the state that
// later ones are compared with is taken anew after 1, 2, 4, 8 ... steps, so that the way into the loop does not matter.
// When it is found, the loop is followed once more for its anchor, an instruction that is the same wherever in the loop
// the tick happened to find the thread.
//
// Used in signal handlers; what it looks at is the context of the thread alone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <ucontext.h>

#include "runtime/rank_host/machine_context.h"

namespace umwelt::rank_host
{

class SpinDetector
{
public:
  enum class Finding : std::uint8_t {
    nothing_yet, // one step more
    no_loop,     // within as many steps as it gets
    pause,       // it waits at the `pause` where it stands
    comes_back,  // it stands at the anchor of a loop in which nothing changes
  };

  // From where the thread stands.
  void begin(const ucontext_t& context);
  // No other loop is looked for.
  void look_for_pause_only() { only_pause_ = true; }
  // It has gone on for an instruction.
  Finding step(const ucontext_t& context);

  // Of a loop that has been found:
  // its instructions, of one with `pause` in the order of steps,
  const std::vector<std::uintptr_t>& complete_loop();
  [[nodiscard]] const std::vector<std::uintptr_t>& loop() const { return loop_; }
  // its first instruction; 0: it has a `pause`,
  [[nodiscard]] std::uintptr_t anchor() const { return anchor_; }
  // by how much each general register changes once round one with `pause`, if always by the same,
  [[nodiscard]] const std::array<std::int64_t, 15>& round() const { return round_; }
  // and whether the thread was in it from the first step on.
  [[nodiscard]] bool was_in_loop() const;

  // Whether there is a `pause`, or what may be one, not far from there; within its page, which is in memory.
  [[nodiscard]] static bool is_near_pause(std::uintptr_t pc);

private:
  struct State { // of a thread between two instructions
    gregset_t registers;
    std::array<unsigned char, most_extended> extended;
    std::size_t extended_bytes;
  };
  using Registers = std::array<std::int64_t, 15>; // as in Breakpoints::Point
  struct Pause {
    std::uintptr_t pc;
    unsigned times;      // that it was met,
    Registers registers; // the last time
    Registers round;     // what they have changed by since the time before, if always the same
  };

  void remember(const ucontext_t& context);
  [[nodiscard]] bool as_remembered(const ucontext_t& context) const;
  [[nodiscard]] bool is_below_remembered(const ucontext_t& context) const;
  [[nodiscard]] bool waits(const ucontext_t& context);

  unsigned steps_ = 0;
  unsigned periods_ = 0;
  State state_{};
  std::vector<std::uintptr_t> loop_; // instructions since state_, once round
  std::uintptr_t anchor_ = 0;        // of a loop that is found out: the first of them
  bool only_pause_ = false;
  bool anchored_ = false;     // state_ is one of those in which it comes there
  std::vector<Pause> pauses_; // that it has met
  Registers round_{};
};

} // namespace umwelt::rank_host
