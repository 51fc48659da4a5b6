// SPDX-License-Identifier: LGPL-2.1-or-later
// How long a short burst takes on a machine of its own.
//
// What a burst takes here depends on who ran before it: ranks share a core, and each finds caches, TLB and branch
// predictors full of the others (three times as long with 16 ranks as with 2). What it executes does not depend on
// that. So a short burst is known by its path, from where the last call came back to where the next one is made, and
// charged for the instructions of that path: they are counted, step by step, the few times that are enough to know
// them (step_count.h), and each takes what an instruction of a communication library takes on the simulated node
// (`instruction`, net_models/node/parameters.h). That is the same whatever else runs here, and however many ranks.
//
// - A path counts from its `first_seen`th burst on. Before that, and for whatever is longer than `longest`, makes
//   system calls or cannot be stepped through, the burst is charged as measured.
// - A burst that has taken far longer than its path usually does has done something else besides, which is added.
// - Paths are the same in all ranks of a process, which learn together: they are told by the calls, what came and what
//   was asked for, and by how deep the stack is, not by addresses.
// - A path is counted again when it has been passed four times as often, and when it begins to take another time. It is
//   charged the mean, so that paths whose counts vary are right on average; how much they vary is the doubt that is
//   told with the result.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "runtime/base/time.h"
#include "runtime/rank_host/burst.h"

namespace umwelt::rank_host
{

// Where a path begins or ends; 0: nowhere that could be told from others.
using PathEnd = std::uint64_t;

class PathTimes
{
public:
  // `per_instruction`: ps.
  explicit PathTimes(double per_instruction) : per_instruction_(per_instruction) {}

  static constexpr sim::SimTime longest = 10 * sim::microsecond;
  static constexpr std::uint64_t most_steps = 20'000; // of one burst, which is longer than `longest` if it has more
  static constexpr unsigned first_seen = 8;

  // Whether the burst that begins there is to be counted. True a few times only: it may end elsewhere.
  [[nodiscard]] bool wants_count(PathEnd from);
  // A burst has ended that was measured so.
  [[nodiscard]] Burst charge(PathEnd from, PathEnd to, sim::SimTime measured);
  // The same of one that was counted.
  [[nodiscard]] Burst charge_counted(PathEnd from, PathEnd to, std::uint64_t instructions);
  // A burst that began there could not be counted, which has taken so many steps to see: it is too long, or the kernel
  // or a trap takes part.
  void cannot_count(PathEnd from, PathEnd to, std::uint64_t steps);

private:
  struct Path {
    std::uint64_t seen = 0;
    std::uint64_t next_count = first_seen;
    std::uint64_t counted_at = 0; // how often it had been seen then
    double typical = 0;           // ps, measured
    double at_count = 0;          // what that was when it was counted last
    double counts = 0;            // how often that was, at most `memory`,
    double mean = 0;              // instructions,
    double variance = 0;          // of these
    bool uncountable = false;
  };

  [[nodiscard]] Path& path(PathEnd from, PathEnd to);
  [[nodiscard]] bool affordable() const;

  const double per_instruction_;
  std::unordered_map<std::uint64_t, Path> paths_;
  std::unordered_map<PathEnd, unsigned> due_; // paths from there are to be counted, with so many tries
  std::uint64_t bursts_ = 0;
  std::uint64_t steps_ = 0;
};

} // namespace umwelt::rank_host
