// SPDX-License-Identifier: LGPL-2.1-or-later
// CPU time of a simulated MPI message: the stock Open MPI's ping-pong between two nodes, all of it (Open MPI, crossing,
// Portals engine, NIC model). Each iteration runs the program twice, with many rounds and with few, so that start-up
// cancels.
//   bench_pingpong
#include <string>

#include <benchmark/benchmark.h>

#include "tests/bench/whole_runs.h"

namespace
{

void ping_pong(benchmark::State& state, const std::string& cpu)
{
  constexpr long few = 10;
  const long many = state.range(0) <= 4096 ? 100'000 : 2'000;
  umwelt::bench::time_steps(state, "us_per_message", few, many, 2, [&](long rounds) {
    return "--cpu " + cpu + " -np 2 " + PINGPONG + " " + std::to_string(rounds) + " " + std::to_string(state.range(0));
  });
}

} // namespace

BENCHMARK_CAPTURE(ping_pong, none, "none")->Arg(8)->Arg(4096)->Arg(65536)->Arg(1048576)->UseManualTime()->Iterations(3);
BENCHMARK_CAPTURE(ping_pong, measured, "measured")->Arg(8)->UseManualTime()->Iterations(3);

BENCHMARK_MAIN();
