// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of net_models/packet/SATURATION.md: the largest load that a network accepts, by raising what is demanded.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "tests/net_models/packet/patterns.h"
#include "tests/net_models/packet/traffic.h"

namespace umwelt::net
{
namespace
{

struct Saturation {
  double most = 0; // accepted, at the best load
  double full = 0; // accepted when all is demanded
};

Saturation saturation(const std::string& spec, const PacketParameters& parameters, const Load::Pattern& pattern)
{
  Saturation result;
  for (int percent = 5; percent <= 100; percent += percent < 20 ? 5 : 10) {
    const double accepted = Load(spec, parameters).run(percent / 100.0, pattern, 1000, 2000).accepted;
    result.most = std::max(result.most, accepted);
    result.full = accepted;
  }
  return result;
}

void row(const char* network, const char* spec, const char* name, const Load::Pattern& pattern, const char* published)
{
  std::string cells;
  for (const char* routing : {"static", "valiant", "ugal"}) {
    PacketParameters parameters;
    parameters.routing = routing;
    parameters.vcs = 4;
    parameters.arbitration = "age";
    const Saturation by_age = saturation(spec, parameters, pattern);
    parameters.arbitration = "round_robin";
    const Saturation in_turn = saturation(spec, parameters, pattern);
    cells += fmt::format(" {:.2f} / {:.2f} ({:.2f}) |", by_age.most, in_turn.most, in_turn.full);
  }
  fmt::print("| {} | {} |{} {} |\n", network, name, cells, published);
  std::fflush(stdout);
}

} // namespace
} // namespace umwelt::net

int main()
{
  using namespace umwelt::net;
  fmt::print("| network | traffic | static | valiant | ugal | published |\n|---|---|---|---|---|---|\n");
  constexpr const char* ring = "torus:dims=8";
  row("ring of 8", ring, "uniform", patterns::uniform(8), "<= 8/k = 1");
  row("ring of 8", ring, "tornado", patterns::tornado(8), "1/3; Valiant <= 1/2");
  constexpr const char* torus = "torus:dims=8x8";
  row("torus 8 x 8", torus, "uniform", patterns::uniform(64), "<= 8/k = 1");
  row("torus 8 x 8", torus, "tornado", patterns::tornado(8), "1/3; Valiant <= 1/2");
  constexpr const char* dragonfly = "dragonfly:groups=9,routers=4,global=2,hosts=2";
  row("dragonfly 9 x 4 x 2", dragonfly, "uniform", patterns::uniform(72), "minimal, UGAL near 1; Valiant 1/2");
  row("dragonfly 9 x 4 x 2", dragonfly, "adversarial", patterns::next_group(72, 8),
      "minimal 1/(a h) = 1/8; Valiant, UGAL near 1/2");
  row("dragonfly 9 x 4 x 2", dragonfly, "hot spot", patterns::hot_spot(), "1/N = 0.014");
  constexpr const char* tree = "fat_tree:down=4x4,up=1x4,cables=1x1";
  row("fat tree 4 x 4", tree, "uniform", patterns::uniform(16), "<= 1");
  row("fat tree 4 x 4", tree, "shift by 5", patterns::shift(16, 5), "1 (d_mod_k)");
  row("fat tree 4 x 4", tree, "hot spot", patterns::hot_spot(), "1/N = 0.063");
  return 0;
}
