// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/hyperx.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "platforms/topologies/draw.h"

namespace umwelt::platform
{

void HyperX::check(const std::string& object, const Form& form)
{
  std::uint64_t switches = 1;
  std::uint64_t ports = 0;
  for (const std::uint32_t size : form.sizes) {
    switches = product(switches, size);
    ports += product(size - 1, form.parallel);
  }
  check_range(object, "ports of a switch (dims, links and hosts)", ports + form.hosts, 1, most_ports);
  const std::uint64_t nodes = product(switches, form.hosts);
  check_size(object, nodes, product(form.rails, product(switches, ports + form.hosts)));
}

Graph HyperX::make_graph(const Form& form)
{
  const std::uint32_t switches = switches_of(form.sizes);
  Graph graph = with_nodes(switches, form.hosts);
  std::uint32_t stride = 1;
  for (const std::uint32_t size : form.sizes) {
    for (SwitchIndex one = 0; one < switches; ++one)
      for (std::uint32_t ahead = 1; ahead < size - one / stride % size; ++ahead)
        for (std::uint32_t cable = 0; cable < form.parallel; ++cable)
          graph.connect(graph.nodes() + one, graph.nodes() + one + ahead * stride, CableKind::local);
    stride *= size;
  }
  graph.finish();
  return graph;
}

HyperX::HyperX(const Form& form)
    : GridTopology(make_graph(form), form.sizes, form.hosts, {form.routing, form.seed, 1, form.rails}),
      parallel_(form.parallel)
{
}

void HyperX::append_minimal(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t base, Path& path) const
{
  const Shape at = coordinates(from);
  const Shape target = coordinates(to);
  std::vector<std::size_t> order(at.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool random = choice().routing == Routing::random;
  if (random) // R. Durstenfeld's shuffle, 1964
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[draw(static_cast<std::uint32_t>(i), choice().seed, flow.from, flow.to, i)]);
  SwitchIndex here = from;
  std::uint32_t hop = 0;
  for (const std::size_t i : order) {
    if (at[i] == target[i])
      continue;
    const SwitchIndex there = moved(here, i, at[i], target[i]);
    append(here, there, random ? hop++ : base, path,
           random ? draw(parallel_, choice().seed, flow.from, flow.to, order.size() + 1 + i)
                  : flow.to / choice().rails);
    here = there;
  }
}

std::optional<Bisection> HyperX::bisection_of_plane() const
{
  const bool even = std::all_of(sizes().begin(), sizes().end(), [](auto size) { return size % 2 == 0; });
  if (!even)
    return std::nullopt;
  const std::uint64_t least = *std::min_element(sizes().begin(), sizes().end());
  const std::uint64_t between = switches() * least / 4 * parallel_;
  if (const std::uint64_t nodes = graph().nodes() / 2; nodes < between)
    return Bisection{{nodes, 0, 0}, "the cables of half of the nodes are fewer than those between the switches"};
  return Bisection{{0, between, 0}, "across the shortest dimension, J. Ahn et al., 2009"};
}

} // namespace umwelt::platform
