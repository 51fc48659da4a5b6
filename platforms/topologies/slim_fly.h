// SPDX-License-Identifier: LGPL-2.1-or-later
// Slim Fly (M. Besta, T. Hoefler, "Slim Fly: a cost effective low-diameter network topology", 2014): 2 q^2 routers, the
// graphs of B. McKay, M. Miller and J. Siran (1998) over the field of q = 4w + d elements, d one of -1, 0, 1. No router
// is more than two hops from another one.
//
//   minimal  over the neighbour in common; of several one by the destination
//   valiant  over a drawn router
//   random   of several neighbours in common one drawn per flow
// Virtual channels: one per hop, so that they only rise (Besta, Hoefler, section 4.3).
#pragma once

#include "platforms/topologies/direct.h"

namespace umwelt::platform
{

class SlimFly final : public DirectTopology
{
public:
  struct Form {
    std::uint32_t q = 5;
    std::uint32_t hosts = 1; // of a router
    Routing routing = Routing::minimal;
    std::uint64_t seed = 0;
    std::uint32_t rails = 1;
  };
  // Throws std::invalid_argument (`object`: "platform slimfly") if there is no such field, or it is too large.
  static void check(const std::string& object, const Form& form);
  // Cables of a router to other ones: (3q - d) / 2.
  static std::uint32_t degree(std::uint32_t q);

  explicit SlimFly(const Form& form);

private:
  [[nodiscard]] std::string name_in_plane(SwitchIndex index) const override; // "router0.x.y" or "router1.m.c"
  [[nodiscard]] Position place_in_plane(SwitchIndex index) const override;
  [[nodiscard]] std::string part_of_plane(SwitchIndex index) const override;
  static Graph make_graph(const Form& form);
  void append_minimal(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t base, Path& path) const override;

  Form form_;
};

} // namespace umwelt::platform
