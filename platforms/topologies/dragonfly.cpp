// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/dragonfly.h"

#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "platforms/topologies/draw.h"
#include "platforms/topologies/shape.h"

namespace umwelt::platform
{

void Dragonfly::check(const std::string& object, const Form& form)
{
  const std::uint64_t ports = product(form.routers, form.global);
  if (form.groups > ports + 1)
    throw std::invalid_argument(fmt::format(
        "{}: parameter groups: expected at most routers * global + 1 = {}, since each group has a cable to each other "
        "one, got {}. Take fewer groups, or more routers or global cables.",
        object, ports + 1, form.groups));
  const std::uint64_t routers = product(form.groups, form.routers);
  const std::uint64_t nodes = product(routers, form.hosts);
  check_size(object, nodes,
             product(form.rails, product(routers, form.hosts + std::uint64_t{form.routers} / 2 + form.global)));
}

std::uint32_t Dragonfly::cables_between(const Form& form)
{
  return form.groups == 1 ? 0 : form.routers * form.global / (form.groups - 1);
}

std::vector<std::uint32_t> Dragonfly::arrange(const Form& form)
{
  const std::uint32_t each = form.routers * form.global;
  std::vector<std::uint32_t> ports(std::size_t{form.groups} * each);
  for (std::uint32_t group = 0; group < form.groups; ++group) {
    const auto begin = ports.begin() + static_cast<std::ptrdiff_t>(group) * each;
    std::iota(begin, begin + each, 0U);
    if (form.arrangement == Arrangement::random) // R. Durstenfeld's shuffle, 1964
      for (std::uint32_t i = each; i > 1; --i)
        std::swap(begin[i - 1], begin[draw(i, form.seed, group, i)]);
  }
  return ports;
}

Dragonfly::Ends Dragonfly::ends(const Form& form, const std::vector<std::uint32_t>& ports, std::uint32_t from,
                                std::uint32_t to, std::uint32_t cable)
{
  const auto router = [&](std::uint32_t group, std::uint32_t other) {
    const std::uint32_t away = (group + form.groups - other) % form.groups; // 1 .. g-1
    // Each cable between the same groups has a block of g-1 ports.
    const std::size_t port = std::size_t{cable} * (form.groups - 1) + away - 1;
    return group * form.routers + ports[std::size_t{group} * form.routers * form.global + port] / form.global;
  };
  return {router(from, to), router(to, from)};
}

Graph Dragonfly::make_graph(const Form& form)
{
  Graph graph = with_nodes(form.groups * form.routers, form.hosts);
  for (std::uint32_t group = 0; group < form.groups; ++group)
    for (std::uint32_t one = 0; one < form.routers; ++one)
      for (std::uint32_t other = one + 1; other < form.routers; ++other)
        graph.connect(graph.nodes() + group * form.routers + one, graph.nodes() + group * form.routers + other,
                      CableKind::local);
  const std::vector<std::uint32_t> ports = arrange(form);
  for (std::uint32_t one = 0; one < form.groups; ++one)
    for (std::uint32_t other = one + 1; other < form.groups; ++other)
      for (std::uint32_t cable = 0; cable < cables_between(form); ++cable) {
        const Ends routers = ends(form, ports, one, other, cable);
        graph.connect(graph.nodes() + routers.from, graph.nodes() + routers.to, CableKind::global);
      }
  graph.finish();
  return graph;
}

Dragonfly::Dragonfly(const Form& form)
    : DirectTopology(make_graph(form), form.hosts, {form.routing, form.seed, 2, form.rails}), form_(form),
      ports_(arrange(form))
{
}

SwitchIndex Dragonfly::leave(SwitchIndex from, std::uint32_t group, SwitchIndex to, Flow flow,
                             std::uint32_t virtual_channel, Path& path) const
{
  const std::uint32_t own = from / form_.routers;
  const std::uint32_t cables = cables_between(form_);
  const std::uint32_t first = choice().routing == Routing::random
                                  ? draw(cables, choice().seed, flow.from, flow.to, group)
                                  : chooser(to, flow) % cables;
  Ends best;
  std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t i = 0; i < cables; ++i) {
    const Ends routers = ends(form_, ports_, own, group, (first + i) % cables);
    const std::uint32_t hops = (routers.from == from ? 0U : 1U) + (routers.to == to ? 0U : 1U);
    if (hops < fewest) {
      fewest = hops;
      best = routers;
    }
  }
  if (best.from != from)
    append(from, best.from, virtual_channel, path);
  append(best.from, best.to, virtual_channel, path);
  return best.to;
}

void Dragonfly::append_minimal(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t base, Path& path) const
{
  const std::uint32_t target = to / form_.routers;
  SwitchIndex here = from;
  if (from / form_.routers != target)
    here = leave(from, target, to, flow, base++, path);
  if (here != to)
    append(here, to, base, path);
}

void Dragonfly::append_valiant(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t random, Path& path) const
{
  const std::uint32_t own = from / form_.routers;
  const std::uint32_t target = to / form_.routers;
  if (own == target || form_.groups < 3)
    return append_minimal(from, to, flow, 0, path);
  std::uint32_t middle = scaled(random, form_.groups - 2); // neither of the two
  if (middle >= std::min(own, target))
    ++middle;
  if (middle >= std::max(own, target))
    ++middle;
  append_minimal(leave(from, middle, to, flow, 0, path), to, flow, 1, path);
}

std::string Dragonfly::name_in_plane(SwitchIndex index) const
{
  return fmt::format("router{}.{}", index / form_.routers, index % form_.routers);
}

Topology::Position Dragonfly::place_in_plane(SwitchIndex index) const
{
  const Position group = on_circle(index / form_.routers, form_.groups);
  const Position router = on_circle(index % form_.routers, form_.routers);
  const double size = 1.5 / (form_.groups + 3);
  return {group.x * (1 - size) + router.x * size, group.y * (1 - size) + router.y * size};
}

std::string Dragonfly::part_of_plane(SwitchIndex index) const
{
  return fmt::format("group {}", index / form_.routers);
}

} // namespace umwelt::platform
