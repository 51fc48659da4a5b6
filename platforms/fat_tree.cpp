// SPDX-License-Identifier: LGPL-2.1-or-later
// `fat_tree` in the formal notation PGFT(h; d; u; p), and `bxi`, the one of two levels that grows with the run: `leaf`
// nodes per leaf switch, every leaf switch cabled once to each of `spines` spine switches, that is PGFT(2; leaf,
// leaves; rails, spines; 1, 1).
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "platforms/assembly.h"
#include "platforms/builders.h"
#include "platforms/topologies/fat_tree.h"

namespace umwelt::platform
{

namespace
{

constexpr std::array routings{Routing::d_mod_k, Routing::s_mod_k, Routing::random};

struct BxiTree : Machine {
  std::uint64_t leaf = 24;   // half of a 48-port BXI switch: as many cables up as down
  std::uint64_t spines = 24; // likewise
  Cable node;
  Cable spine;
  std::string routing = "d_mod_k";
  std::uint64_t seed = 0;

  template <class Visitor> void visit(Visitor& v)
  {
    v.count("leaf", leaf, "nodes per leaf switch");
    v.count("spines", spines, "spine switches");
    v.bandwidth("bw", node.bandwidth, "of a cable between node and leaf, per direction");
    v.time("lat", node.latency, "of a cable between node and leaf, with its share of the switch");
    v.bandwidth("spine_bw", spine.bandwidth, "of a cable between leaf and spine, per direction");
    v.time("spine_lat", spine.latency, "of a cable between leaf and spine, with its share of the switches");
    visit_machine(v);
    v.text("routing", routing, "d_mod_k, s_mod_k or random");
    v.count("seed", seed, "of random routes");
  }
};

struct AnyTree : Machine, Cables {
  std::string formal; // empty: as down, up and cables say
  std::string down = "16x16";
  std::string up = "1x16";
  std::string cables; // empty: single ones
  std::string routing = "d_mod_k";
  std::uint64_t seed = 0;

  template <class Visitor> void visit(Visitor& v)
  {
    v.text("pgft", formal,
           "all of the shape: h;d1xd2x..;u1xu2x..;p1xp2x.. or, first of all, (h;d1,d2..;u1,u2..;p1,p2..)");
    v.text("down", down, "neighbours below a switch, level by level from the nodes on (d1xd2x..)");
    v.text("up", up, "neighbours of each of these on that level (u1xu2x..)");
    v.text("cables", cables, "parallel cables to each (p1xp2x..); empty: one");
    v.text("routing", routing, "d_mod_k, s_mod_k or random");
    v.count("seed", seed, "of random routes");
    visit_cables(v);
    visit_machine(v);
  }
};

constexpr std::string_view formal_example =
    "For example: (2;16,16;1,16;1,1), two levels of switches with 16 neighbours below them, each with 16 above it.";

// Levels, and three lists of so many numbers.
void read_formal(const std::string& object, const std::string& text, FatTree::Form& form)
{
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ';')
      parts.emplace_back();
    else if (c != ' ')
      parts.back() += c == ',' ? 'x' : c; // of either notation
  }
  std::uint64_t levels = 0;
  if (parts.size() != 4 || !parse_count(parts[0], levels))
    throw std::invalid_argument(
        fmt::format("{}: expected h;d1xd2x..;u1xu2x..;p1xp2x.. as pgft, got '{}'. {}", object, text, formal_example));
  form.down = parse_shape(object, "pgft (d)", parts[1], 1);
  form.up = parse_shape(object, "pgft (u)", parts[2], 1);
  form.cables = parse_shape(object, "pgft (p)", parts[3], 1);
  if (form.down.size() != levels)
    throw std::invalid_argument(fmt::format("{}: parameter pgft: expected h numbers in each list, {}, got {} in {}. {}",
                                            object, levels, form.down.size(), shape_text(form.down), formal_example));
}

void refuse_shape_twice(const std::string& object, const Parameters& parameters)
{
  for (const char* key : {"down", "up", "cables"})
    if (parameters.values().contains(key))
      throw std::invalid_argument(
          fmt::format("{}: expected the shape once, got both pgft and {}. Leave one of them out.", object, key));
}

} // namespace

std::vector<ParameterInfo> bxi_parameters()
{
  return list_parameters<BxiTree>();
}
std::vector<ParameterInfo> fat_tree_parameters()
{
  return list_parameters<AnyTree>();
}

std::unique_ptr<Platform> build_bxi(const Request& request, const Parameters& parameters)
{
  const std::string object = "platform bxi";
  const auto tree = read_parameters<BxiTree>(parameters, object);
  check_range(object, "leaf", tree.leaf, 1, most_ports);
  check_range(object, "spines", tree.spines, 1, most_ports);
  const std::uint32_t wanted = request.nodes == 0 ? 1 : request.nodes;
  const std::uint64_t leaves = (wanted + tree.leaf - 1) / tree.leaf;
  const std::uint32_t rails = rails_of(object, tree);
  check_size(object, wanted, product(rails, leaves * (tree.leaf + tree.spines)));
  FatTree::Form form;
  if (leaves == 1) // needs no spine, and no more ports than the run has nodes
    form = {{wanted}, {rails}, {1}};
  else
    form = {{static_cast<std::uint32_t>(tree.leaf), static_cast<std::uint32_t>(leaves)},
            {rails, static_cast<std::uint32_t>(tree.spines)},
            {1, 1}};
  form.routing = parse_routing(object, tree.routing, routings);
  form.seed = tree.seed;
  return assemble(request, "bxi", {std::make_shared<FatTree>(std::move(form)), "bxi", {tree.node, tree.spine}, wanted},
                  tree);
}

std::unique_ptr<Platform> build_fat_tree(const Request& request, const Parameters& parameters)
{
  const std::string object = "platform fat_tree";
  const auto tree = read_parameters<AnyTree>(parameters, object);
  FatTree::Form form;
  if (!tree.formal.empty()) {
    refuse_shape_twice(object, parameters);
    read_formal(object, tree.formal, form);
  } else {
    form.down = parse_shape(object, "down", tree.down, 1);
    form.up = parse_shape(object, "up", tree.up, 1);
    form.cables = tree.cables.empty() ? Shape(form.down.size(), 1) : parse_shape(object, "cables", tree.cables, 1);
  }
  if (const std::uint32_t rails = rails_of(object, tree); rails > 1) {
    if (form.up.front() > 1)
      throw std::invalid_argument(fmt::format(
          "{}: parameter rails: expected u1 = 1, since both mean cables of a node, got u1 = {} and rails = {}. Leave "
          "rails out, or make u1 1.",
          object, form.up.front(), rails));
    form.up.front() = rails;
  }
  form.routing = parse_routing(object, tree.routing, routings);
  form.seed = tree.seed;
  FatTree::check(object, form);
  return assemble(request, "fat_tree", {std::make_shared<FatTree>(std::move(form)), "node", {tree.node, tree.local}, 0},
                  tree);
}

} // namespace umwelt::platform
