// SPDX-License-Identifier: LGPL-2.1-or-later
// Dragonfly (J. Kim, W. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", 2008): g
// groups of a routers, all routers of a group with a cable to each other, p nodes and h global cables on each router.
// Any two groups have the same number of cables between them, as many as the ports allow; ports that remain are empty.
//
// Which router has the cable to which group:
//   palm_tree  port j of group i leads to group i - 1 - j (C. Camarero, E. Vallejo, R. Beivide, "Topological
//              characterization of Hamming and dragonfly networks and its implications on routing", 2014)
//   random     the ports of each group are shuffled first, by the seed
//
//   minimal    within the group of the source, over a global cable, within that of the destination; of several cables
//              one with the fewest hops, of those by the destination
//   valiant    over a drawn group between those two
//   random     as minimal, of several cables one drawn per flow
// Virtual channels: one more after each global cable (Kim et al., section 4).
#pragma once

#include "platforms/topologies/direct.h"

namespace umwelt::platform
{

class Dragonfly final : public DirectTopology
{
public:
  enum class Arrangement : std::uint8_t { palm_tree, random };
  struct Form {
    std::uint32_t groups = 0;
    std::uint32_t routers = 0; // of a group
    std::uint32_t global = 0;  // cables of a router to other groups
    std::uint32_t hosts = 0;   // of a router
    Arrangement arrangement = Arrangement::palm_tree;
    Routing routing = Routing::minimal;
    std::uint64_t seed = 0;
    std::uint32_t rails = 1;
  };
  // Throws std::invalid_argument (`object`: "platform dragonfly") if the groups have not enough ports to reach each
  // other, or it is too large.
  static void check(const std::string& object, const Form& form);

  explicit Dragonfly(const Form& form);

private:
  [[nodiscard]] std::string name_in_plane(SwitchIndex index) const override; // "router3 of group1" is "router1.3"
  [[nodiscard]] Position place_in_plane(SwitchIndex index) const override;
  [[nodiscard]] std::string part_of_plane(SwitchIndex index) const override;

  // The routers at the ends of a cable between two groups.
  struct Ends {
    SwitchIndex from = 0;
    SwitchIndex to = 0;
  };
  static std::uint32_t cables_between(const Form& form);
  static Graph make_graph(const Form& form);
  static Ends ends(const Form& form, const std::vector<std::uint32_t>& ports, std::uint32_t from, std::uint32_t to,
                   std::uint32_t cable);
  static std::vector<std::uint32_t> arrange(const Form& form);
  // From a router to another group, over one cable; returns the router there.
  SwitchIndex leave(SwitchIndex from, std::uint32_t group, SwitchIndex to, Flow flow, std::uint32_t virtual_channel,
                    Path& path) const;
  void append_minimal(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t base, Path& path) const override;
  void append_valiant(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t random, Path& path) const override;

  Form form_;
  std::vector<std::uint32_t> ports_; // of group i: port j of the arrangement is ports_[i * a * h + j] in truth
};

} // namespace umwelt::platform
