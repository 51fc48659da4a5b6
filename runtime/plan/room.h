// SPDX-License-Identifier: LGPL-2.1-or-later
// Where there is room for ranks that start while others run (MPI_Comm_spawn), and how much. Slots of a rank that has
// ended are free again.
//
// - With hosts: their slots, as mpirun counts them.
// - With --universe N: N ranks at a time, placed as if they had been there from the start.
// - Without either: a node that has no rank takes one, as at the start; when there is none left, those that have fewest
//   take more, up to their cores. -N is of the ranks at the start.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan/hosts.h"
#include "runtime/plan/options.h"
#include "runtime/plan/placement.h"

namespace umwelt::plan
{

class Room
{
public:
  // `placement`: of the ranks there are; all outlive it.
  Room(const RunOptions& run, const Placement& placement);

  // MPI_UNIVERSE_SIZE.
  [[nodiscard]] unsigned universe() const { return universe_; }

  struct Wish {
    unsigned ranks = 1;
    unsigned program = 0;    // what RankPlace is to say
    std::vector<Host> hosts; // only on these; none: on all
    bool by_node = false;    // round robin, as --map-by node
    std::optional<unsigned> per_node;
  };
  // Places for them, with numbers among those of the node. Throws UsageError if there is no room; then nothing is
  // taken.
  std::vector<RankPlace> take(std::span<const Wish> wishes);
  void give(const RankPlace& place);

private:
  struct Node {
    NodeSeats seats;
    std::vector<unsigned> cores; // first of each rank's
  };
  using Nodes = std::vector<Node>;
  [[nodiscard]] std::vector<std::size_t> nodes_of(const Wish& wish) const;
  void place(const Wish& wish, Nodes& nodes, std::vector<RankPlace>& places) const;
  [[nodiscard]] unsigned free_core(const Node& node) const;
  [[noreturn]] void no_room(unsigned wanted, unsigned found, bool named) const;

  const RunOptions& run_;
  const Placement& placement_;
  bool hosts_;  // the run has some
  bool beyond_; // nodes take more than their limit
  unsigned universe_;
  unsigned taken_ = 0;
  Nodes nodes_;
};

} // namespace umwelt::plan
