// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/slim_fly.h"

#include <stdexcept>

#include <fmt/format.h>

#include "platforms/topologies/draw.h"
#include "platforms/topologies/galois_field.h"
#include "platforms/topologies/shape.h"

namespace umwelt::platform
{

namespace
{

constexpr std::uint32_t largest_q = 251;

bool is_generator_field(std::uint32_t q)
{
  return q >= 3 && q % 4 != 2 && GaloisField::of(q).has_value();
}

// Which powers of the primitive element are in the sets X and X': the exponents of the first, those of the second are
// one higher.
std::vector<std::uint32_t> exponents(std::uint32_t q)
{
  std::vector<std::uint32_t> result;
  if (q % 4 != 3) { // d = 1 or 0: the even powers
    for (std::uint32_t i = 0; i + 2 <= q; i += 2)
      result.push_back(i);
    return result;
  }
  const std::uint32_t w = (q + 1) / 4;
  for (std::uint32_t i = 0; i + 2 <= 2 * w; i += 2)
    result.push_back(i);
  for (std::uint32_t i = 2 * w - 1; i + 3 <= 4 * w; i += 2)
    result.push_back(i);
  return result;
}

} // namespace

std::uint32_t SlimFly::degree(std::uint32_t q)
{
  return q % 4 == 1 ? (3 * q - 1) / 2 : (3 * q + 1) / 2; // of an even q, 3q / 2
}

void SlimFly::check(const std::string& object, const Form& form)
{
  if (form.q > largest_q || !is_generator_field(form.q)) {
    std::uint32_t near = 3;
    for (std::uint32_t q = 3; q <= largest_q; ++q) {
      const auto distance = [&](std::uint32_t other) { return other < form.q ? form.q - other : other - form.q; };
      if (is_generator_field(q) && distance(q) < distance(near))
        near = q;
    }
    throw std::invalid_argument(
        fmt::format("{}: parameter q: expected a power of a prime from 3 to {}, got {}. The nearest one is {}.", object,
                    largest_q, form.q, near));
  }
  const std::uint64_t routers = product(2, product(form.q, form.q));
  const std::uint64_t nodes = product(routers, form.hosts);
  check_size(object, nodes, product(form.rails, product(routers, form.hosts + std::uint64_t{degree(form.q)} / 2 + 1)));
}

Graph SlimFly::make_graph(const Form& form)
{
  const GaloisField field = *GaloisField::of(form.q);
  const std::uint32_t q = form.q;
  Graph graph = with_nodes(2 * q * q, form.hosts);
  const auto vertex = [&](std::uint32_t half, std::uint32_t a, std::uint32_t b) {
    return graph.nodes() + (half * q + a) * q + b;
  };
  for (std::uint32_t half = 0; half < 2; ++half) {
    for (const std::uint32_t exponent : exponents(q)) {
      const std::uint32_t step = field.powers()[(exponent + half) % (q - 1)];
      for (std::uint32_t a = 0; a < q; ++a)
        for (std::uint32_t b = 0; b < q; ++b)
          if (const std::uint32_t other = field.add(b, step); b < other) // -step is in the set, too
            graph.connect(vertex(half, a, b), vertex(half, a, other), CableKind::local);
    }
  }
  for (std::uint32_t x = 0; x < q; ++x)
    for (std::uint32_t m = 0; m < q; ++m)
      for (std::uint32_t c = 0; c < q; ++c)
        graph.connect(vertex(0, x, field.add(field.times(m, x), c)), vertex(1, m, c), CableKind::local);
  graph.finish();
  return graph;
}

SlimFly::SlimFly(const Form& form)
    : DirectTopology(make_graph(form), form.hosts, {form.routing, form.seed, 2, form.rails}), form_(form)
{
}

void SlimFly::append_minimal(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t base, Path& path) const
{
  if (!graph().between(vertex(from), vertex(to)).empty())
    return append(from, to, base, path);
  std::vector<SwitchIndex> common;
  for (const ChannelIndex channel : graph().leaving(vertex(from)))
    if (const Vertex next = graph().channels()[channel].to;
        next >= graph().nodes() && !graph().between(next, vertex(to)).empty())
      common.push_back(next - graph().nodes());
  const auto count = static_cast<std::uint32_t>(common.size());
  const SwitchIndex middle =
      common[choice().routing == Routing::random ? draw(count, choice().seed, flow.from, flow.to, base)
                                                 : chooser(to, flow) % count];
  append(from, middle, base, path);
  append(middle, to, base + 1, path);
}

std::string SlimFly::name_in_plane(SwitchIndex index) const
{
  return fmt::format("router{}.{}.{}", index / (form_.q * form_.q), index / form_.q % form_.q, index % form_.q);
}

// The two halves above each other, a column for each group of q routers.
Topology::Position SlimFly::place_in_plane(SwitchIndex index) const
{
  const std::uint32_t half = index / (form_.q * form_.q);
  const double across = index / form_.q % form_.q;
  const double within = index % form_.q;
  return {(across + 0.3 + 0.4 * (within / form_.q)) / form_.q, half * 0.55 + 0.45 * (within / form_.q)};
}

std::string SlimFly::part_of_plane(SwitchIndex index) const
{
  return fmt::format("group {}.{}", index / (form_.q * form_.q), index / form_.q % form_.q);
}

} // namespace umwelt::platform
