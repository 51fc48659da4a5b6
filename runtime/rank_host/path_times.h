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
// - A path is counted from its `first_seen`th burst on, when it makes up a noticeable part of the time of all of them.
//   Until then its bursts are charged as measured, in the proportion in which those of other paths are charged less
//   than measured: of those between two looks at the clock, before which no other rank has run, or of those between
//   calls. What is longer than `longest`, makes system calls or cannot be stepped through is charged as
//   measured.
// - How much of a burst cold caches are, this machine tells: by how much bursts that have been counted take longer here
//   than they are charged (1 to 4 us with 16 ranks on a core of a virtual machine that shares its caches).
//   A path is taken for a long one only by what lies beyond that.
// - A burst that has taken far longer than its path usually does, and by more than cold caches cost, has done something
//   else besides, or was disturbed by the host, which neither the CPU's clock nor a count of the kernel shows. Such
//   disturbances hit all paths alike (1 % of the time of a quiet machine, 5 % of one whose ticks take 25 us), so what
//   makes up a larger part of the time of a path than it does of others is its own: it is added, with what was left out
//   before. What was left out for good is told with the result.
// - Paths are the same in all ranks of a process, which learn together: they are told by the calls, what came and what
//   was asked for, and by how deep the stack is, not by addresses.
// - A path is counted again when it has been passed some times as often, and when it begins to take another time. It is
//   charged the mean, so that paths whose counts vary are right on average; how much they vary is the doubt that is
//   told with the result. Counts that vary by more than half are those of several paths that look alike: each burst is
//   charged the part of its own time that their mean is of what they take on average.
// - Counting is slow, so it has a budget that grows with the bursts. A path that has never been counted may go beyond,
// for
//   a small part of its time.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/rank_host/burst.h"

namespace umwelt::rank_host
{

// What step_count.h has counted of a burst.
struct Count {
  sim::SimTime time = 0; // what that takes on the simulated node
  std::uint64_t steps = 0;
};

// Where a path begins or ends; 0: nowhere that could be told from others.
using PathEnd = std::uint64_t;
constexpr PathEnd a_look = 2; // in all of looks at the clock, and no others

class PathTimes
{
public:
  static constexpr sim::SimTime longest = 10 * sim::microsecond;
  static constexpr std::uint64_t most_steps = 5'000; // of one burst; with more it is not short, or waits for others
  static constexpr std::uint64_t first_seen = 8;

  // Whether the burst that begins there is to be counted. True a few times only: it may end elsewhere.
  [[nodiscard]] bool wants_count(PathEnd from);
  // A burst has ended that was measured so.
  [[nodiscard]] Burst charge(PathEnd from, PathEnd to, sim::SimTime measured);
  // The same of one that was counted.
  [[nodiscard]] Burst charge_counted(PathEnd from, PathEnd to, const Count& count);
  // A burst that began there could not be counted, which has taken so many steps to see: it is too long, or the kernel
  // or a trap takes part. When that comes again its path is measured for good.
  void cannot_count(PathEnd from, PathEnd to, std::uint64_t steps);

private:
  // Of bursts whose path has been counted, on average, ps:
  struct Others {
    double charged = 0;
    double measured = 0;

    // ps, the most that cold caches add to a burst on this machine, as far as it is known.
    [[nodiscard]] double coldest() const;
  };
  struct Path {
    Others* others = nullptr; // of its kind
    std::uint64_t seen = 0;
    std::uint64_t next_count = first_seen;
    std::uint64_t counted_at = 0; // how often it had been seen then
    double typical = 0;           // ps, measured
    double at_count = 0;          // what that was when it was counted last,
    double when_asked = 0;        // and when it was asked for
    double total = 0;             // ps, measured, of
    std::uint64_t timed = 0;      // bursts that were short
    double counts = 0;            // how often it was counted, at most `memory`,
    double mean = 0;              // ps by the instructions counted,
    double variance = 0;          // of these
    double steps = 0;             // the last time
    double besides = 0;           // ps, beyond what bursts of the path usually take;
    double left_out = 0;          // of these: not charged
    unsigned in_vain = 0;         // so many could not be counted

    [[nodiscard]] bool is_countable() const;

    [[nodiscard]] bool is_steady() const;
    // Its bursts take longer or shorter than once: perhaps it is another path by now.
    [[nodiscard]] bool has_moved(double since) const;
  };
  // The longest that a burst has taken beyond what is usual, and where.
  struct Longest {
    double beyond = 0;
    const Path* path = nullptr;
  };
  struct Due {
    std::uint64_t path = 0;
    unsigned tries = 0;
    std::uint64_t steps = 0;  // that one is likely to take,
    bool is_worth_it = false; // whatever others have taken
  };

  [[nodiscard]] static std::uint64_t key(PathEnd from, PathEnd to);
  [[nodiscard]] bool affordable(const Due& due) const;
  // Of a burst whose path has not been counted, ps: as much shorter than measured as those are that have been.
  [[nodiscard]] static double like_others(const Path& path, double measured);
  // Its bursts would be longer than `longest` on a machine of its own, too.
  [[nodiscard]] static bool is_long(const Path& path);
  // A burst of that path has taken so much longer than others: what of that is to be charged.
  [[nodiscard]] double own_part(Path& path, double beyond);
  // The part of the time of other paths than this that is taken for the host's.
  [[nodiscard]] double hosts_share(const Path& but) const;
  // The path of a burst that is over and need not be counted again now.
  [[nodiscard]] Path& counted(PathEnd from, PathEnd to);

  std::unordered_map<std::uint64_t, Path> paths_;
  std::vector<const Path*> known_;        // that have been counted
  std::array<Longest, 2> longest_beyond_; // of two paths
  std::unordered_map<PathEnd, Due> due_;  // what is to be counted of what begins there
  double total_ = 0;                      // ps, of all short bursts, measured
  Others between_calls_;
  Others between_looks_;
  std::uint64_t bursts_ = 0;
  std::uint64_t steps_ = 0;
};

} // namespace umwelt::rank_host
