// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/fat_tree.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "platforms/topologies/draw.h"

namespace umwelt::platform
{

void FatTree::check(const std::string& object, const Form& form)
{
  const auto levels = [&](const char* key, const Shape& shape) {
    if (shape.size() != form.down.size())
      throw std::invalid_argument(fmt::format(
          "{}: parameter {}: expected a number for each of the {} levels of down={}, got {}. Correct one of them.",
          object, key, form.down.size(), shape_text(form.down), shape_text(shape)));
  };
  levels("up", form.up);
  levels("cables", form.cables);
  std::uint64_t nodes = 1;
  for (const std::uint32_t down : form.down)
    nodes = product(nodes, down);
  std::uint64_t cables = 0;
  std::uint64_t below = nodes; // vertices of the level below
  for (std::size_t l = 0; l < form.down.size(); ++l) {
    const std::uint64_t here = product(below, product(form.up[l], form.cables[l]));
    cables = std::max(here, cables + here); // the sum, or the largest number
    below = product(below / form.down[l], form.up[l]);
    for (const auto& [key, ports] : {std::pair("down", product(form.down[l], form.cables[l])),
                                     std::pair("up", product(form.up[l], form.cables[l]))})
      if (ports > most_ports)
        throw std::invalid_argument(
            fmt::format("{}: parameter {}: expected at most {} ports of a switch to one side, got {} on level {}. "
                        "Correct the value.",
                        object, key, most_ports, ports, l + 1));
  }
  check_size(object, nodes, cables);
}

std::vector<FatTree::Level> FatTree::levels_of(const Form& form)
{
  std::uint64_t nodes = 1;
  for (const std::uint32_t down : form.down)
    nodes *= down;
  std::vector<Level> levels{{1, 1, 0, static_cast<std::uint32_t>(nodes)}};
  for (std::size_t l = 0; l < form.down.size(); ++l) {
    const Level& last = levels.back();
    Level level{last.below * form.down[l], last.roots * form.up[l], last.first + last.count, 0};
    level.count = static_cast<std::uint32_t>(nodes / level.below * level.roots);
    levels.push_back(level);
  }
  return levels;
}

Graph FatTree::make_graph(const Form& form)
{
  const std::vector<Level> levels = levels_of(form);
  const std::uint32_t nodes = levels.front().count;
  Graph graph(nodes, levels.back().first + levels.back().count - nodes);
  for (std::size_t l = 1; l < levels.size(); ++l) {
    const Level& below = levels[l - 1];
    const Level& above = levels[l];
    for (std::uint64_t child = 0; child < below.count; ++child) {
      const std::uint64_t tree = child / below.roots / form.down[l - 1];
      for (std::uint32_t up = 0; up < form.up[l - 1]; ++up) {
        const std::uint64_t parent = tree * above.roots + child % below.roots + below.roots * up;
        for (std::uint32_t cable = 0; cable < form.cables[l - 1]; ++cable)
          graph.connect(static_cast<Vertex>(below.first + child), static_cast<Vertex>(above.first + parent),
                        l == 1 ? CableKind::node : CableKind::local);
      }
    }
  }
  graph.finish();
  return graph;
}

FatTree::FatTree(Form form) : Topology(make_graph(form)), form_(std::move(form)), levels_(levels_of(form_))
{
}

std::uint64_t FatTree::port(std::size_t level, Vertex from, Vertex to, unsigned way) const
{
  const std::uint32_t ports = form_.up[level - 1] * form_.cables[level - 1];
  switch (form_.routing) {
  case Routing::s_mod_k:
    return from / levels_[level - 1].roots % ports;
  case Routing::random:
    return draw(ports, form_.seed, from, to, 2 * level + way);
  default:
    return to / levels_[level - 1].roots % ports;
  }
}

Path FatTree::route(Vertex from, Vertex to) const
{
  Path path;
  append(
      from, to, [&](std::size_t level, unsigned way) { return port(level, from, to, way); }, path);
  return path;
}

bool FatTree::detour(Vertex from, Vertex to, std::uint64_t draw, Path& path) const
{
  if (form_.routing == Routing::random)
    return false;
  append_drawn(from, to, draw, path);
  return true;
}

bool FatTree::redraw(Vertex from, Vertex to, std::uint64_t draw, Path& path) const
{
  if (form_.routing != Routing::random)
    return false;
  append_drawn(from, to, draw, path);
  return true;
}

// The nodes' own cables stay those of route(): the NIC has chosen the first one before a switch can choose.
void FatTree::append_drawn(Vertex from, Vertex to, std::uint64_t draw, Path& path) const
{
  append(
      from, to,
      [&](std::size_t level, unsigned way) -> std::uint64_t {
        if (level == 1)
          return port(level, from, to, way);
        return platform::draw(form_.up[level - 1] * form_.cables[level - 1], draw, from, to, 2 * level + way);
      },
      path);
}

template <class Port> void FatTree::append(Vertex from, Vertex to, Port port, Path& path) const
{
  std::size_t top = 1;
  while (from / levels_[top].below != to / levels_[top].below)
    ++top;
  const auto vertex = [&](std::size_t level, Vertex node, std::uint64_t root) {
    return static_cast<Vertex>(levels_[level].first + node / levels_[level].below * levels_[level].roots + root);
  };
  std::uint64_t root = 0; // which of the switches above the same nodes
  Vertex at = from;
  for (std::size_t l = 1; l <= top; ++l) {
    const std::uint64_t chosen = port(l, 0);
    root += levels_[l - 1].roots * (chosen % form_.up[l - 1]);
    const Vertex next = vertex(l, from, root);
    path.push_back({graph().between(at, next)[chosen / form_.up[l - 1]], 0});
    at = next;
  }
  for (std::size_t l = top; l > 0; --l) {
    root %= levels_[l - 1].roots;
    const Vertex next = vertex(l - 1, to, root);
    path.push_back({graph().between(at, next)[port(l, 1) / form_.up[l - 1]], 0});
    at = next;
  }
}

std::size_t FatTree::level_of(SwitchIndex index) const
{
  std::size_t level = 1;
  while (graph().nodes() + index >= levels_[level].first + levels_[level].count)
    ++level;
  return level;
}

std::string FatTree::level_name(std::size_t level) const
{
  static constexpr std::array<const char*, 3> names{"leaf", "spine", "core"};
  return form_.down.size() <= names.size() ? names[level - 1] : fmt::format("level{}.", level);
}

std::string FatTree::switch_name(SwitchIndex index) const
{
  const std::size_t level = level_of(index);
  return fmt::format("{}{}", level_name(level), graph().nodes() + index - levels_[level].first);
}

// Halves that leave the trees below level l whole are parted by the cables between levels l-1 and l; the narrowest
// level counts.
std::optional<Bisection> FatTree::known_bisection() const
{
  const std::uint64_t half = graph().nodes() / 2;
  if (graph().nodes() % 2 != 0)
    return std::nullopt;
  Bisection best{{0, ~std::uint64_t{0}, 0}, "the narrowest level of PGFT(h; d; u; p), E. Zahavi, 2010"};
  for (std::size_t l = 1; l < levels_.size(); ++l) {
    if (half % levels_[l - 1].below != 0)
      return std::nullopt;
    const std::uint64_t cut = half / levels_[l - 1].below * levels_[l].roots * form_.cables[l - 1];
    if (cut < best.cables[0] + best.cables[1])
      best.cables = l == 1 ? std::array<std::uint64_t, 3>{cut, 0, 0} : std::array<std::uint64_t, 3>{0, cut, 0};
  }
  return best;
}

Topology::Position FatTree::position(SwitchIndex index) const
{
  const std::size_t level = level_of(index);
  const double across = graph().nodes() + index - levels_[level].first + 0.5;
  return {across / levels_[level].count, 1 - static_cast<double>(level) / static_cast<double>(form_.down.size())};
}

std::string FatTree::part(SwitchIndex index) const
{
  const std::size_t level = level_of(index);
  return form_.down.size() <= 3 ? level_name(level) + " switches" : fmt::format("level {}", level);
}

} // namespace umwelt::platform
