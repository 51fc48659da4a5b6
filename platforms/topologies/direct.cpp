// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/direct.h"

#include <fmt/format.h>

#include "platforms/topologies/draw.h"

namespace umwelt::platform
{

DirectTopology::DirectTopology(const Graph& plane, std::uint32_t hosts, Choice choice)
    : Topology(planes(plane, choice.rails)), hosts_(hosts), switches_(plane.switches()),
      channels_(static_cast<std::uint32_t>(plane.channels().size())), choice_(choice)
{
}

// Channel c of the first plane is c + r * channels_ of plane r.
Graph DirectTopology::planes(const Graph& plane, std::uint32_t rails)
{
  Graph graph(plane.nodes(), plane.switches() * rails);
  const auto channels = plane.channels();
  for (std::uint32_t rail = 0; rail < rails; ++rail) {
    const auto moved = [&](Vertex vertex) {
      return vertex < plane.nodes() ? vertex : vertex + rail * plane.switches();
    };
    for (std::size_t i = 0; i < channels.size(); i += 2)
      graph.connect(moved(channels[i].from), moved(channels[i].to), channels[i].kind);
  }
  graph.finish();
  return graph;
}

void DirectTopology::into_plane(Flow flow, std::span<Hop> path) const
{
  constexpr std::uint64_t of_rails = 0xffffffff; // no topology draws by this number
  const std::uint32_t rail = choice_.routing == Routing::random
                                 ? draw(choice_.rails, choice_.seed, flow.from, flow.to, of_rails)
                                 : flow.to % choice_.rails;
  for (Hop& hop : path)
    hop.channel += rail * channels_;
}

Graph DirectTopology::with_nodes(std::uint32_t switches, std::uint32_t hosts)
{
  Graph graph(switches * hosts, switches);
  for (Vertex node = 0; node < graph.nodes(); ++node)
    graph.connect(node, graph.nodes() + node / hosts, CableKind::node);
  return graph;
}

// The nodes' own cables, and between their switches what `between` appends.
template <class Between> void DirectTopology::append_route(Flow flow, Between between, Path& path) const
{
  const SwitchIndex first = flow.from / hosts_;
  const SwitchIndex last = flow.to / hosts_;
  const std::size_t begin = path.size();
  path.push_back({graph().leaving(flow.from).front(), 0});
  if (first != last)
    between(first, last);
  path.push_back({graph().leaving(flow.to).front() ^ 1U, 0}); // the other direction of the destination's cable
  into_plane(flow, std::span(path).subspan(begin));
}

Path DirectTopology::route(Vertex from, Vertex to) const
{
  const Flow flow{from, to};
  Path path;
  append_route(
      flow,
      [&](SwitchIndex first, SwitchIndex last) {
        if (choice_.routing == Routing::valiant)
          append_valiant(first, last, flow, random_bits(choice_.seed, from, to), path);
        else
          append_minimal(first, last, flow, 0, path);
      },
      path);
  return path;
}

bool DirectTopology::detour(Vertex from, Vertex to, std::uint64_t draw, Path& path) const
{
  if (choice_.routing == Routing::valiant || choice_.routing == Routing::random)
    return false;
  const Flow flow{from, to};
  append_route(
      flow,
      [&](SwitchIndex first, SwitchIndex last) {
        append_valiant(first, last, flow, random_bits(draw, from, to), path);
      },
      path);
  return true;
}

// What is drawn depends on where the flow comes from; so it is as if it came from elsewhere.
bool DirectTopology::redraw(Vertex from, Vertex to, std::uint64_t draw, Path& path) const
{
  if (choice_.routing != Routing::random)
    return false;
  append_route(
      {from, to},
      [&](SwitchIndex first, SwitchIndex last) {
        append_minimal(first, last, {random_bits(draw, from, to), to}, 0, path);
      },
      path);
  return true;
}

void DirectTopology::append_valiant(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t random, Path& path) const
{
  const SwitchIndex middle = scaled(random, switches_);
  if (middle != from)
    append_minimal(from, middle, flow, 0, path);
  if (middle != to)
    append_minimal(middle, to, flow, choice_.virtual_channels, path);
}

void DirectTopology::append(SwitchIndex from, SwitchIndex to, std::uint32_t virtual_channel, Path& path,
                            std::uint32_t parallel) const
{
  const auto channels = graph().between(vertex(from), vertex(to));
  path.push_back({channels[parallel % channels.size()], virtual_channel});
}

std::string DirectTopology::switch_name(SwitchIndex index) const
{
  const std::string name = name_in_plane(index % switches_);
  return choice_.rails == 1 ? name : fmt::format("rail{}.{}", index / switches_, name);
}

std::string DirectTopology::part(SwitchIndex index) const
{
  const std::string name = part_of_plane(index % switches_);
  return choice_.rails == 1 ? name : fmt::format("rail {}, {}", index / switches_, name);
}

// Planes have nothing but the nodes in common: halves of these cut each of them.
std::optional<Bisection> DirectTopology::known_bisection() const
{
  std::optional<Bisection> known = bisection_of_plane();
  if (known)
    for (std::uint64_t& cables : known->cables)
      cables *= choice_.rails;
  return known;
}

// Planes beside each other.
Topology::Position DirectTopology::position(SwitchIndex index) const
{
  Position place = place_in_plane(index % switches_);
  const SwitchIndex plane = index / switches_;
  if (choice_.rails > 1)
    place.x = (static_cast<double>(plane) + 0.05 + 0.9 * place.x) / choice_.rails;
  return place;
}

} // namespace umwelt::platform
