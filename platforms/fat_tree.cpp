// SPDX-License-Identifier: LGPL-2.1-or-later
// `fat_tree` in the formal notation, and `bxi`, the one of two levels that grows with the run: `leaf` nodes per leaf
// switch, every leaf switch cabled once to each of `spines` spine switches, that is PGFT(2; leaf, leaves; 1, spines; 1,
// 1).
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
  std::string down = "16x16";
  std::string up = "1x16";
  std::string cables; // empty: single ones
  std::string routing = "d_mod_k";
  std::uint64_t seed = 0;

  template <class Visitor> void visit(Visitor& v)
  {
    v.text("down", down, "neighbours below a switch, level by level from the nodes on (d1xd2x..)");
    v.text("up", up, "neighbours of each of these on that level (u1xu2x..)");
    v.text("cables", cables, "parallel cables to each (p1xp2x..); empty: one");
    v.text("routing", routing, "d_mod_k, s_mod_k or random");
    v.count("seed", seed, "of random routes");
    visit_cables(v);
    visit_machine(v);
  }
};

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
  check_size(object, wanted, leaves * (tree.leaf + tree.spines));
  FatTree::Form form;
  if (leaves == 1) // needs no spine, and no more ports than the run has nodes
    form = {{wanted}, {1}, {1}};
  else
    form = {{static_cast<std::uint32_t>(tree.leaf), static_cast<std::uint32_t>(leaves)},
            {1, static_cast<std::uint32_t>(tree.spines)},
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
  form.down = parse_shape(object, "down", tree.down, 1);
  form.up = parse_shape(object, "up", tree.up, 1);
  form.cables = tree.cables.empty() ? Shape(form.down.size(), 1) : parse_shape(object, "cables", tree.cables, 1);
  form.routing = parse_routing(object, tree.routing, routings);
  form.seed = tree.seed;
  FatTree::check(object, form);
  return assemble(request, "fat_tree", {std::make_shared<FatTree>(std::move(form)), "node", {tree.node, tree.local}, 0},
                  tree);
}

} // namespace umwelt::platform
