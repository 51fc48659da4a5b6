// SPDX-License-Identifier: LGPL-2.1-or-later
// HyperX (J. Ahn, N. Binkert, A. Davis, M. McLaren, R. Schreiber, "HyperX: topology, routing, and packaging of
// efficient large-scale networks", 2009): switches are points of a grid, and each has a cable (or several) to all
// others of its row in each dimension. With equal sizes it is a flattened butterfly (J. Kim, W. Dally, D. Abts, 2007),
// with one dimension a full mesh.
//
//   dimension_order  the first dimension first; one virtual channel
//   valiant          over a drawn switch; two
//   random           the dimensions in an order drawn per flow; one virtual channel per hop, so that they only rise
// Of parallel cables the destination chooses one, with `random` the flow.
#pragma once

#include "platforms/topologies/grid.h"

namespace umwelt::platform
{

class HyperX final : public GridTopology
{
public:
  struct Form {
    Shape sizes;
    std::uint32_t parallel = 1; // cables between two neighbours
    std::uint32_t hosts = 1;
    Routing routing = Routing::dimension_order;
    std::uint64_t seed = 0;
    std::uint32_t rails = 1;
  };
  // Throws std::invalid_argument (`object`: "platform hyperx") if it is too large.
  static void check(const std::string& object, const Form& form);

  explicit HyperX(const Form& form);

private:
  [[nodiscard]] std::optional<Bisection> bisection_of_plane() const override;
  static Graph make_graph(const Form& form);
  void append_minimal(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t base, Path& path) const override;

  std::uint32_t parallel_;
};

} // namespace umwelt::platform
