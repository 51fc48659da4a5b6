// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/torus.h"

#include <algorithm>

#include "platforms/topologies/draw.h"

namespace umwelt::platform
{

namespace
{

bool has_wrap(bool wraps, std::uint32_t size)
{
  return wraps && size > 2;
}

} // namespace

void Torus::check(const std::string& object, const Form& form)
{
  std::uint64_t switches = 1;
  for (const std::uint32_t size : form.sizes)
    switches = product(switches, size);
  const std::uint64_t nodes = product(switches, form.hosts);
  check_size(object, nodes, product(form.rails, product(std::max(switches, nodes), form.sizes.size() + 1)));
}

Graph Torus::make_graph(const Form& form)
{
  const std::uint32_t switches = switches_of(form.sizes);
  Graph graph = with_nodes(switches, form.hosts);
  std::uint32_t stride = 1;
  for (const std::uint32_t size : form.sizes) {
    for (SwitchIndex one = 0; one < switches; ++one) {
      const bool last = one / stride % size == size - 1;
      if (!last)
        graph.connect(graph.nodes() + one, graph.nodes() + one + stride, CableKind::local);
      else if (has_wrap(form.wraps, size))
        graph.connect(graph.nodes() + one, graph.nodes() + one - stride * (size - 1), CableKind::local);
    }
    stride *= size;
  }
  graph.finish();
  return graph;
}

Torus::Torus(const Form& form)
    : GridTopology(make_graph(form), form.sizes, form.hosts,
                   {form.routing, form.seed, form.wraps ? 2U : 1U, form.rails}),
      wraps_(form.wraps)
{
}

void Torus::append_minimal(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t base, Path& path) const
{
  const bool random = choice().routing == Routing::random;
  const bool backwards = random && draw(2, choice().seed, flow.from, flow.to, 1) == 1;
  if (backwards)
    base += choice().virtual_channels;
  const Shape target = coordinates(to);
  Shape at = coordinates(from);
  SwitchIndex here = from;
  for (std::size_t step = 0; step < at.size(); ++step) {
    const std::size_t i = backwards ? at.size() - 1 - step : step;
    const std::uint32_t size = sizes()[i];
    bool rising = target[i] > at[i];
    if (has_wrap(wraps_, size)) {
      const std::uint32_t ahead = (target[i] + size - at[i]) % size;
      rising = 2 * ahead < size ||
               (2 * ahead == size && !(random && draw(2, choice().seed, flow.from, flow.to, 2 + i) == 1));
    }
    std::uint32_t dateline = 0;
    while (at[i] != target[i]) {
      const std::uint32_t next = rising ? (at[i] + 1) % size : (at[i] + size - 1) % size;
      if (rising ? next < at[i] : next > at[i])
        dateline = 1;
      const SwitchIndex there = moved(here, i, at[i], next);
      append(here, there, base + dateline, path);
      here = there;
      at[i] = next;
    }
  }
}

std::optional<Bisection> Torus::bisection_of_plane() const
{
  const std::uint32_t longest = *std::max_element(sizes().begin(), sizes().end());
  if (longest % 2 != 0)
    return std::nullopt;
  const std::uint64_t rows = switches() / longest;
  return Bisection{{0, has_wrap(wraps_, longest) ? 2 * rows : rows, 0},
                   "across the longest dimension, W. Dally, B. Towles, 2004, section 5"};
}

// The first two dimensions span the picture; others shift a switch a little.
Topology::Position Torus::place_in_plane(SwitchIndex index) const
{
  const Shape at = coordinates(index);
  if (at.size() == 1)
    return wraps_ ? on_circle(index, sizes()[0]) : Position{(index + 0.5) / sizes()[0], 0.5};
  double shift = 0;
  double scale = 1;
  for (std::size_t i = 2; i < at.size(); ++i) {
    scale /= sizes()[i];
    shift += at[i] * scale;
  }
  return {(at[0] + 0.15 + 0.7 * shift) / sizes()[0], (at[1] + 0.15 + 0.7 * shift) / sizes()[1]};
}

} // namespace umwelt::platform
