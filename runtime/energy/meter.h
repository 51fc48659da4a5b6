// SPDX-License-Identifier: LGPL-2.1-or-later
// Adds up what nodes draw while a job runs: joules by node, rank, activity and phase, and the power of the machine over
// time.
//
// Ranks tell what they did when they have done it, so what is told is not in the order of time: a burst in a worker
// process is told when it ends. Edges (a core becomes busy, is free again) are kept until settle() says that nothing
// earlier can come, then taken in order. The same run gives the same sums to the last bit, however its ranks are spread
// over processes.
//
// Between two edges a node's power is constant. Who gets it: what it draws idle belongs to its ranks in equal parts;
// what it draws besides belongs to the busy cores, the same for each but for what their activities take, and from a
// core to the threads that share it in equal parts. Integrals over time of what a busy core gets, by activity, make an
// edge cost the same whatever the number of cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/energy/power.h"

namespace umwelt::energy
{

using sim::SimTime;

class Meter
{
public:
  // From `at` on the node draws so much.
  using Observer = std::function<void(SimTime at, std::uint32_t node, double watts)>;

  // `power` outlives it, and knows nodes. `states`: in which each node begins. The observer may be empty.
  Meter(const Power& power, const std::vector<std::uint8_t>& states, Observer observer);

  // --- in any order, as long as nothing is before what was settled ---
  void rank_begins(std::size_t rank, std::uint32_t node, SimTime at);
  void rank_ends(std::size_t rank, std::uint32_t node, SimTime at);
  // A thread of the rank did that on the core.
  void did(std::size_t rank, std::uint32_t node, unsigned core, Activity activity, SimTime from, SimTime until);
  void state(std::uint32_t node, std::uint8_t state, SimTime at);
  // The rank is in phase `phase`, a number from 0 on; it begins in 0.
  void phase(std::size_t rank, std::uint32_t node, std::size_t phase, SimTime at);

  // So much is kept that it is worth while to settle.
  [[nodiscard]] bool full() const { return edges_.size() >= room_; }
  // Nothing before `until` comes any more.
  void settle(SimTime until);

  // --- the end ---
  struct Node {
    double joules = 0;
    double unclaimed = 0; // of that: while it had no rank
    double peak = 0;      // watts
    bool used = false;    // has had ranks
  };
  struct Rank {
    double idle = 0; // its part of what the node draws idle
    std::vector<double> activities;
    std::vector<double> phases; // idle included
    [[nodiscard]] double joules() const;
  };
  struct Sums {
    std::vector<Node> nodes;
    std::vector<Rank> ranks;
    double joules = 0; // of all nodes
    double peak = 0;   // watts, of all nodes at a time
    SimTime peak_at = 0;
  };
  // Up to then; whatever is told to be later is left out. Nothing comes after this.
  Sums finish(SimTime end);

private:
  enum class What : std::uint8_t { ends, phase, state, rank_begins, begins, rank_ends }; // at a time, in this order
  struct Edge {
    SimTime at = 0;
    What what = What::ends;
    std::uint16_t core = 0;
    std::uint32_t node = 0;
    std::uint32_t rank = 0;
    std::uint32_t value = 0; // activity, state, phase
    bool operator<(const Edge& other) const
    {
      return std::tie(at, what, core, node, rank, value) <
             std::tie(other.at, other.what, other.core, other.node, other.rank, other.value);
    }
  };
  struct Busy {
    std::uint32_t rank = 0;
    Activity activity = 0;
    bool operator==(const Busy&) const = default;
  };
  struct Core {
    std::vector<Busy> busy;
    Activity activity = 0;   // that counts, if it is busy: the one that takes most
    long double settled = 0; // NodeState::integrals of that, when its threads last got their parts
  };
  struct NodeState {
    SimTime at = 0; // up to then all is added up
    double watts = 0;
    std::size_t state = 0;
    std::vector<std::uint32_t> counts;  // of busy cores, by what counts on them
    std::vector<double> rates;          // watts that one such core gets,
    std::vector<long double> integrals; // and over time, joules
    long double idle = 0;               // joules that a rank has got of what the node draws idle
    std::uint32_t ranks = 0;
    bool used = false;
    bool touched = false;
    std::vector<Core> cores;
    long double joules = 0;
    long double unclaimed = 0;
    double peak = 0;
  };
  struct RankState {
    std::uint32_t node = 0;
    bool alive = false;
    std::size_t phase = 0;
    long double settled = 0; // NodeState::idle when it last got its part
    long double idle = 0;
    std::vector<long double> activities;
    std::vector<long double> phases;
  };

  RankState& rank_of(std::uint32_t rank);
  void take_until(SimTime until);
  void take(const Edge& edge);
  void advance(NodeState& node, SimTime at) const;
  // What the nodes with edges at that time draw from it on.
  void draw(SimTime at);
  [[nodiscard]] double watts_of(const NodeState& node, std::uint32_t index) const;
  // The core's threads get their parts; it is free until chosen for again.
  void settle_core(NodeState& node, Core& core);
  void choose(std::uint32_t index, Core& core);
  static void settle_idle(const NodeState& node, RankState& rank);
  static void give(RankState& rank, long double joules);

  const Power& power_;
  Observer observer_;
  static constexpr std::size_t smallest_room = 1 << 16;
  std::vector<Edge> edges_;
  std::size_t room_ = smallest_room;
  std::vector<NodeState> nodes_;
  std::vector<RankState> ranks_;
  SimTime now_ = 0;                    // of the edges that are taken
  std::vector<std::uint32_t> touched_; // nodes with edges at that time
  long double watts_ = 0;              // of all nodes
  double peak_ = 0;
  SimTime peak_at_ = 0;
};

} // namespace umwelt::energy
