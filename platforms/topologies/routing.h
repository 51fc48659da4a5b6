// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of the ways in which a route is chosen; which of them a topology has, it says itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace umwelt::platform
{

enum class Routing : std::uint8_t {
  d_mod_k,         // by the destination (E. Zahavi, 2010)
  s_mod_k,         // by the source
  dimension_order, // one dimension after the other (H. Sullivan, T. Bashkow, 1977)
  minimal,         // one shortest route, the same for all flows between two switches
  valiant,         // over a random switch (or group) in between (L. Valiant, 1982)
  random,          // one of the shortest routes per flow, drawn (ECMP by flow)
};

std::string_view routing_name(Routing routing);

// Throws std::invalid_argument if `text` is none of `possible`, the routings of `object` ("platform torus").
Routing parse_routing(const std::string& object, std::string_view text, std::span<const Routing> possible);

} // namespace umwelt::platform
