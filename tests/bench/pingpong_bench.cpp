// SPDX-License-Identifier: LGPL-2.1-or-later
// CPU time of a simulated MPI message: the stock Open MPI's ping-pong between two nodes, all of it (Open MPI, crossing,
// Portals engine, NIC model). Each iteration runs the program twice, with many rounds and with few, so that start-up cancels.
//   bench_pingpong
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

namespace
{

double children_cpu_seconds()
{
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double run(const std::string& cpu, int rounds, long bytes)
{
  const double before = children_cpu_seconds();
  const std::string command = std::string(UMWELT) + " run -q --cpu " + cpu + " -np 2 " + PINGPONG + " " +
                              std::to_string(rounds) + " " + std::to_string(bytes) + " >/dev/null";
  if (std::system(command.c_str()) != 0)
    return -1;
  return children_cpu_seconds() - before;
}

void ping_pong(benchmark::State& state, const std::string& cpu)
{
  constexpr int few = 10;
  const int many = state.range(0) <= 4096 ? 100'000 : 2'000;
  double seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    const double start_up = run(cpu, few, state.range(0));
    const double whole = run(cpu, many, state.range(0));
    if (start_up < 0 || whole < 0) {
      state.SkipWithError("umwelt run failed");
      break;
    }
    state.SetIterationTime(whole - start_up);
    seconds += whole - start_up;
  }
  state.counters["us_per_message"] = seconds * 1e6 / (2.0 * (many - few)) / static_cast<double>(state.iterations());
}

} // namespace

BENCHMARK_CAPTURE(ping_pong, none, "none")->Arg(8)->Arg(4096)->Arg(65536)->Arg(1048576)->UseManualTime()->Iterations(3);
BENCHMARK_CAPTURE(ping_pong, measured, "measured")->Arg(8)->UseManualTime()->Iterations(3);

BENCHMARK_MAIN();
