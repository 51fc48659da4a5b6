// SPDX-License-Identifier: LGPL-2.1-or-later
// --placement: in which order nodes take ranks. How many a node takes is said elsewhere (-N, slots, --map-by
// ppr:N:node).
//   in_order       the platform's (or the hosts') order, a node after the other: what --map-by slot does
//   round_robin    the same order, a rank at a time: what --map-by node does
//   random[:SEED]  the nodes in an order drawn by SEED (default: --seed); ranks of a node stay together
//   @FILE          a node for each rank, by name or number, one per line; '#' begins a comment
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace umwelt::plan
{

struct RunOptions;

struct NodeOrder {
  enum class Kind : std::uint8_t { as_mapped, in_order, round_robin, random, file };
  Kind kind = Kind::as_mapped;
  std::optional<std::uint64_t> seed; // of random
  std::string where;                 // the option and its value, for messages
  std::vector<std::string> nodes;    // of the file, by rank
};

// Reads the file, too. Throws UsageError, naming `option` as the user wrote it.
NodeOrder parse_node_order(std::string_view option, const std::string& text);

// Once all options are known: what the order means for mapping and ranking. Throws UsageError where they say otherwise.
void apply_node_order(RunOptions& run);

} // namespace umwelt::plan
