// SPDX-License-Identifier: LGPL-2.1-or-later
// Parallel-ports generalised fat trees of h levels, PGFT(h; d1..dh; u1..uh; p1..ph): a switch of level l has d_l
// neighbours below, whatever is below it has u_l neighbours on level l, p_l cables lead to each (E. Zahavi, "D-Mod-K
// routing providing non-blocking traffic for shift permutations on real life fat trees", 2010; SimGrid's FAT_TREE). A
// tree is pruned where less goes up than comes from below.
//
// Routes go up to the lowest level that source and destination have in common, then down. No channel that leads up
// follows one that leads down, so that no circle of waiting arises with a single virtual channel.
//   d_mod_k   the port upwards from level l-1 is floor(destination / (u_1 .. u_(l-1))) mod (u_l p_l)
//   s_mod_k   the same with the source
//   random    each port drawn, per flow
#pragma once

#include "platforms/topologies/routing.h"
#include "platforms/topologies/shape.h"
#include "platforms/topologies/topology.h"

namespace umwelt::platform
{

class FatTree final : public Topology
{
public:
  struct Form {
    Shape down;
    Shape up;
    Shape cables;
    Routing routing = Routing::d_mod_k;
    std::uint64_t seed = 0;
  };
  // Throws std::invalid_argument (`object`: "platform fat_tree") if the lists differ in length or the tree is too
  // large.
  static void check(const std::string& object, const Form& form);

  explicit FatTree(Form form);

  [[nodiscard]] Path route(Vertex from, Vertex to) const override;
  // As long a way, through other ports above the node's own switch.
  bool detour(Vertex from, Vertex to, std::uint64_t draw, Path& path) const override;
  bool redraw(Vertex from, Vertex to, std::uint64_t draw, Path& path) const override;
  // leaf, spine and core from below in trees of three levels and less, level1. and so on in higher ones.
  [[nodiscard]] std::string switch_name(SwitchIndex index) const override;
  [[nodiscard]] std::optional<Bisection> known_bisection() const override;
  [[nodiscard]] Position position(SwitchIndex index) const override;
  [[nodiscard]] std::string part(SwitchIndex index) const override;

private:
  struct Level {
    std::uint64_t below = 1; // nodes below one of its switches: d_1 .. d_l
    std::uint64_t roots = 1; // switches of it above the same nodes: u_1 .. u_l
    Vertex first = 0;        // its vertices; level 0: the nodes
    std::uint32_t count = 0;
  };
  static std::vector<Level> levels_of(const Form& form);
  static Graph make_graph(const Form& form);
  [[nodiscard]] std::size_t level_of(SwitchIndex index) const;
  [[nodiscard]] std::string level_name(std::size_t level) const;
  // Port towards level l of a message, counted over all cables upwards; `way` tells up from down.
  [[nodiscard]] std::uint64_t port(std::size_t level, Vertex from, Vertex to, unsigned way) const;
  // A way with drawn ports.
  void append_drawn(Vertex from, Vertex to, std::uint64_t draw, Path& path) const;
  // The route whose ports are port(level, way).
  template <class Port> void append(Vertex from, Vertex to, Port port, Path& path) const;

  Form form_;
  std::vector<Level> levels_;
};

} // namespace umwelt::platform
