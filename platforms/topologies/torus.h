// SPDX-License-Identifier: LGPL-2.1-or-later
// Tori and meshes of any dimension (W. Dally, B. Towles, "Principles and practices of interconnection networks", 2004):
// switch (x, y, ...) has a cable to the next one in each dimension; in a torus the last one has one to the first,
// unless these are neighbours already. Switch and node numbers count the first dimension fastest, as SimGrid's TORUS.
//
//   dimension_order  the first dimension first, the shorter way round each (of two equal ones that of rising numbers)
//   valiant          over a drawn switch
//   random           the first dimension first, or the last one, drawn per flow (O1TURN: D. Seo, A. Ali, W. Lim, N.
//                    Rafique, M. Thottethodi, 2005)
// Virtual channels: 1 per order of dimensions, in tori 2: after the cable between last and first, a message goes on in
// the second one (dateline; Dally, Seitz, 1987).
#pragma once

#include "platforms/topologies/grid.h"

namespace umwelt::platform
{

class Torus final : public GridTopology
{
public:
  struct Form {
    Shape sizes;
    bool wraps = true; // a torus; else a mesh
    std::uint32_t hosts = 1;
    Routing routing = Routing::dimension_order;
    std::uint64_t seed = 0;
    std::uint32_t rails = 1;
  };
  // Throws std::invalid_argument (`object`: "platform torus") if it is too large.
  static void check(const std::string& object, const Form& form);

  explicit Torus(const Form& form);

private:
  [[nodiscard]] std::optional<Bisection> bisection_of_plane() const override;
  [[nodiscard]] Position place_in_plane(SwitchIndex index) const override;
  static Graph make_graph(const Form& form);
  void append_minimal(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t base, Path& path) const override;

  bool wraps_;
};

} // namespace umwelt::platform
