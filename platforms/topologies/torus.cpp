// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/torus.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "platforms/topologies/draw.h"

namespace umwelt::platform
{

namespace
{

bool has_wrap(const Torus::Form& form, std::uint32_t size)
{
  return form.wraps && size > 2;
}

} // namespace

Shape coordinates(std::uint32_t index, const Shape& sizes)
{
  Shape at;
  for (const std::uint32_t size : sizes) {
    at.push_back(index % size);
    index /= size;
  }
  return at;
}

std::string coordinates_name(std::uint32_t index, const Shape& sizes)
{
  return fmt::format("switch{}", fmt::join(coordinates(index, sizes), "."));
}

void Torus::check(const std::string& object, const Form& form)
{
  std::uint64_t switches = 1;
  for (const std::uint32_t size : form.sizes)
    switches = product(switches, size);
  const std::uint64_t nodes = product(switches, form.hosts);
  check_size(object, nodes, product(std::max(switches, nodes), form.sizes.size() + 1));
}

Graph Torus::make_graph(const Form& form)
{
  std::uint32_t switches = 1;
  for (const std::uint32_t size : form.sizes)
    switches *= size;
  Graph graph = with_nodes(switches, form.hosts);
  std::uint32_t stride = 1;
  for (const std::uint32_t size : form.sizes) {
    for (SwitchIndex one = 0; one < switches; ++one) {
      const bool last = one / stride % size == size - 1;
      if (!last)
        graph.connect(graph.nodes() + one, graph.nodes() + one + stride, CableKind::local);
      else if (has_wrap(form, size))
        graph.connect(graph.nodes() + one, graph.nodes() + one - stride * (size - 1), CableKind::local);
    }
    stride *= size;
  }
  graph.finish();
  return graph;
}

Torus::Torus(Form form)
    : DirectTopology(make_graph(form), form.hosts, {form.routing, form.seed, form.wraps ? 2U : 1U}),
      form_(std::move(form))
{
}

void Torus::append_minimal(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t base, Path& path) const
{
  const bool random = choice().routing == Routing::random;
  const bool backwards = random && draw(2, choice().seed, flow.from, flow.to, 1) == 1;
  if (backwards)
    base += choice().virtual_channels;
  const Shape target = coordinates(to, form_.sizes);
  Shape at = coordinates(from, form_.sizes);
  Shape strides{1};
  for (const std::uint32_t size : form_.sizes)
    strides.push_back(strides.back() * size);
  SwitchIndex here = from;
  for (std::size_t step = 0; step < at.size(); ++step) {
    const std::size_t i = backwards ? at.size() - 1 - step : step;
    const std::uint32_t size = form_.sizes[i];
    bool rising = target[i] > at[i];
    if (has_wrap(form_, size)) {
      const std::uint32_t ahead = (target[i] + size - at[i]) % size;
      rising = 2 * ahead < size ||
               (2 * ahead == size && !(random && draw(2, choice().seed, flow.from, flow.to, 2 + i) == 1));
    }
    std::uint32_t dateline = 0;
    while (at[i] != target[i]) {
      const std::uint32_t next = rising ? (at[i] + 1) % size : (at[i] + size - 1) % size;
      if (rising ? next < at[i] : next > at[i])
        dateline = 1;
      const SwitchIndex there = here - at[i] * strides[i] + next * strides[i];
      append(here, there, base + dateline, path);
      here = there;
      at[i] = next;
    }
  }
}

std::string Torus::switch_name(SwitchIndex index) const
{
  return coordinates_name(index, form_.sizes);
}

std::optional<Bisection> Torus::known_bisection() const
{
  const std::uint32_t longest = *std::max_element(form_.sizes.begin(), form_.sizes.end());
  if (longest % 2 != 0)
    return std::nullopt;
  const std::uint64_t rows = graph().switches() / longest;
  return Bisection{{0, has_wrap(form_, longest) ? 2 * rows : rows, 0},
                   "across the longest dimension, W. Dally, B. Towles, 2004, section 5"};
}

// The first two dimensions span the picture; others shift a switch a little.
Topology::Position Torus::position(SwitchIndex index) const
{
  const Shape at = coordinates(index, form_.sizes);
  if (at.size() == 1)
    return form_.wraps ? on_circle(index, form_.sizes[0]) : Position{(index + 0.5) / form_.sizes[0], 0.5};
  double shift = 0;
  double scale = 1;
  for (std::size_t i = 2; i < at.size(); ++i) {
    scale /= form_.sizes[i];
    shift += at[i] * scale;
  }
  return {(at[0] + 0.15 + 0.7 * shift) / form_.sizes[0], (at[1] + 0.15 + 0.7 * shift) / form_.sizes[1]};
}

std::string Torus::part(SwitchIndex index) const
{
  return fmt::format("{} {}", form_.sizes.size() == 1 ? "switch" : "slice", coordinates(index, form_.sizes).back());
}

} // namespace umwelt::platform
