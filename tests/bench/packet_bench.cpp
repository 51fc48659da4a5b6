// SPDX-License-Identifier: LGPL-2.1-or-later
// Packets over channels per second of a core, in the fabric of packets: traffic of single packets, from each node to
// sixteen others, since the first packet between two nodes asks SimGrid for the route.
#include <benchmark/benchmark.h>

#include "tests/net_models/packet/traffic.h"

namespace
{

using namespace umwelt::net;

Load::Pattern to_sixteen(umwelt::platform::NodeIndex nodes)
{
  return [nodes](umwelt::platform::NodeIndex from, Load::Random& random) {
    return static_cast<umwelt::platform::NodeIndex>((from + 1 + random() % 16 * (nodes / 16)) % nodes);
  };
}

void hops(benchmark::State& state, const char* spec, const char* routing)
{
  PacketParameters parameters;
  parameters.routing = routing;
  const double load = static_cast<double>(state.range(0)) / 100;
  std::uint64_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    Load traffic(spec, parameters);
    traffic.run(load, to_sixteen(traffic.nodes()), 0, 1000);
    count += traffic.fabric().statistics().hops;
  }
  state.counters["hops"] = benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(hops, torus, "torus:dims=8x8", "static")->Arg(10)->Arg(50);
BENCHMARK_CAPTURE(hops, dragonfly, "dragonfly:groups=9,routers=4,global=2,hosts=2", "static")->Arg(10)->Arg(50);
BENCHMARK_CAPTURE(hops, dragonfly_ugal, "dragonfly:groups=9,routers=4,global=2,hosts=2", "ugal")->Arg(50);
BENCHMARK_CAPTURE(hops, large, "dragonfly:groups=33,routers=8,global=4,hosts=4", "static")->Arg(50);

} // namespace

BENCHMARK_MAIN();
