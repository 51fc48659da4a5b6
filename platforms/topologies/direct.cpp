// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/direct.h"

#include "platforms/topologies/draw.h"

namespace umwelt::platform
{

Graph DirectTopology::with_nodes(std::uint32_t switches, std::uint32_t hosts)
{
  Graph graph(switches * hosts, switches);
  for (Vertex node = 0; node < graph.nodes(); ++node)
    graph.connect(node, graph.nodes() + node / hosts, CableKind::node);
  return graph;
}

Path DirectTopology::route(Vertex from, Vertex to) const
{
  const SwitchIndex first = from / hosts_;
  const SwitchIndex last = to / hosts_;
  Path path{{graph().leaving(from).front(), 0}};
  if (first != last && choice_.routing == Routing::valiant)
    append_valiant(first, last, {from, to}, random_bits(choice_.seed, from, to), path);
  else if (first != last)
    append_minimal(first, last, {from, to}, 0, path);
  path.push_back({graph().leaving(to).front() ^ 1U, 0}); // the other direction of the destination's cable
  return path;
}

bool DirectTopology::detour(Vertex from, Vertex to, std::uint64_t draw, Path& path) const
{
  if (choice_.routing == Routing::valiant || choice_.routing == Routing::random)
    return false;
  const SwitchIndex first = from / hosts_;
  const SwitchIndex last = to / hosts_;
  path.push_back({graph().leaving(from).front(), 0});
  if (first != last)
    append_valiant(first, last, {from, to}, random_bits(draw, from, to), path);
  path.push_back({graph().leaving(to).front() ^ 1U, 0});
  return true;
}

void DirectTopology::append_valiant(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t random, Path& path) const
{
  const SwitchIndex middle = scaled(random, graph().switches());
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

} // namespace umwelt::platform
