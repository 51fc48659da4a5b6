// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/analysis/drawing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "platforms/network.h"

namespace umwelt::platform
{

namespace
{

constexpr std::uint32_t most_vertices = 700; // of which each is shown
constexpr std::uint32_t most_named = 64;     // switches with their names beside them
constexpr std::size_t most_parts = 48;       // otherwise, neighbouring ones together
constexpr double size = 1000;
constexpr double margin = 60;
constexpr const char* head = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {0}" font-family="sans-serif">
<title>{1}</title>
<style>line{{stroke-width:1}} .node{{stroke:#bbb}} .local{{stroke:#48a}} .global{{stroke:#c63}}</style>
<text x="10" y="24" font-size="18">{1}</text>
)";

struct Point {
  double x = 0;
  double y = 0;
};

class Picture
{
public:
  explicit Picture(const Platform& platform)
      : network_(*platform.network()), topology_(*network_.topology), graph_(topology_.graph())
  {
    text_ = fmt::format(fmt::runtime(head), size + 2 * margin,
                        fmt::format("{}: {} nodes, {} switches", platform.name(), network_.nodes, graph_.switches()));
  }

  std::string whole()
  {
    place();
    for (ChannelIndex i = 0; i < graph_.channels().size(); i += 2) {
      const Channel& channel = graph_.channels()[i];
      if (!network_.absent(channel.from) && !network_.absent(channel.to))
        line(points_[channel.from], points_[channel.to], cable_kind_names[static_cast<std::size_t>(channel.kind)],
             topology_.channel_name(i, network_.prefix));
    }
    for (Vertex vertex = graph_.nodes(); vertex < graph_.vertices() && graph_.switches() <= most_named; ++vertex)
      text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\">{}</text>\n", points_[vertex].x + 8,
                           points_[vertex].y - 6, topology_.vertex_name(vertex, network_.prefix));
    for (Vertex vertex = 0; vertex < graph_.vertices(); ++vertex)
      if (!network_.absent(vertex))
        circle(points_[vertex], vertex < graph_.nodes() ? 3 : 6, vertex < graph_.nodes() ? "#777" : "#136",
               topology_.vertex_name(vertex, network_.prefix));
    return text_ + "</svg>\n";
  }

  std::string summary()
  {
    const std::vector<std::size_t> part = parts();
    std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> between;
    std::vector<std::uint64_t> nodes(names_.size());
    for (ChannelIndex i = 0; i < graph_.channels().size(); i += 2) {
      const Channel& channel = graph_.channels()[i];
      const std::size_t to = part[channel.to - graph_.nodes()]; // cables of nodes begin at the node
      if (channel.kind != CableKind::node)
        ++between[std::minmax(part[channel.from - graph_.nodes()], to)];
      else if (!network_.absent(channel.from))
        ++nodes[to];
    }
    for (const auto& [ends, cables] : between)
      if (ends.first != ends.second)
        line(on_circle(ends.first), on_circle(ends.second), "local", fmt::format("{} cables", cables));
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const Point at = on_circle(i);
      const auto inner = between.find({i, i});
      circle(at, 12, "#136", names_[i]);
      text_ +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" text-anchor=\"middle\">{}: {} switches, {} "
                      "cables within, {} of nodes</text>\n",
                      at.x, at.y + 24, names_[i], switches_[i], inner == between.end() ? 0 : inner->second, nodes[i]);
    }
    return text_ + "</svg>\n";
  }

private:
  // Switches where the topology says, nodes in an arc below the switch of their first cable.
  void place()
  {
    points_.resize(graph_.vertices());
    std::vector<std::uint32_t> total(graph_.switches());
    std::vector<std::uint32_t> placed(graph_.switches());
    const auto switch_of = [&](Vertex node) {
      return graph_.channels()[graph_.leaving(node).front()].to - graph_.nodes();
    };
    for (Vertex node = 0; node < network_.nodes; ++node)
      ++total[switch_of(node)];
    for (SwitchIndex index = 0; index < graph_.switches(); ++index) {
      const Topology::Position at = topology_.position(index);
      points_[graph_.nodes() + index] = {margin + at.x * size, margin + at.y * size};
    }
    for (Vertex node = 0; node < network_.nodes; ++node) {
      const SwitchIndex home = switch_of(node);
      const double angle = std::numbers::pi * (placed[home]++ + 0.5) / total[home];
      const double radius = 14 + std::min(total[home], 24U);
      points_[node] = {points_[graph_.nodes() + home].x + radius * std::cos(angle),
                       points_[graph_.nodes() + home].y + radius * std::sin(angle)};
    }
  }

  // For each switch its part; several parts are one if there are too many.
  std::vector<std::size_t> parts()
  {
    std::map<std::string, std::size_t> known;
    std::vector<std::string> all;
    std::vector<std::size_t> part;
    for (SwitchIndex index = 0; index < graph_.switches(); ++index) {
      const std::string name = topology_.part(index);
      const auto [found, fresh] = known.try_emplace(name, all.size());
      if (fresh)
        all.push_back(name);
      part.push_back(found->second);
    }
    const std::size_t together = (all.size() + most_parts - 1) / most_parts;
    for (std::size_t i = 0; i < all.size(); i += together)
      names_.push_back(together == 1 ? all[i]
                                     : fmt::format("{} to {}", all[i], all[std::min(i + together, all.size()) - 1]));
    switches_.resize(names_.size());
    for (std::size_t& one : part)
      ++switches_[one /= together];
    return part;
  }

  [[nodiscard]] Point on_circle(std::size_t index) const
  {
    const double angle = 2 * std::numbers::pi * static_cast<double>(index) / static_cast<double>(names_.size());
    return {margin + size / 2 * (1 + 0.9 * std::sin(angle)), margin + size / 2 * (1 - 0.9 * std::cos(angle))};
  }

  void line(Point from, Point to, const char* style, const std::string& title)
  {
    text_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"><title>{}</title></line>\n", style,
        from.x, from.y, to.x, to.y, title);
  }
  void circle(Point at, int radius, const char* colour, const std::string& title)
  {
    text_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"><title>{}</title></circle>\n", at.x,
                         at.y, radius, colour, title);
  }

  const Network& network_;
  const Topology& topology_;
  const Graph& graph_;
  std::string text_;
  std::vector<Point> points_;           // by vertex
  std::vector<std::string> names_;      // of parts
  std::vector<std::uint64_t> switches_; // in them
};

} // namespace

std::string drawing(const Platform& platform)
{
  if (platform.network() == nullptr)
    throw std::invalid_argument(
        fmt::format("platform {}: expected one of `umwelt platforms` to draw, got a file, of which only the routes are "
                    "known, not the shape. Leave out --draw.",
                    platform.name()));
  Picture picture(platform);
  const Graph& graph = platform.network()->topology->graph();
  return graph.vertices() <= most_vertices ? picture.whole() : picture.summary();
}

} // namespace umwelt::platform
