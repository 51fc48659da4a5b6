// SPDX-License-Identifier: LGPL-2.1-or-later
// Cost of the engine's elementary steps.
#include <benchmark/benchmark.h>

#include "runtime/engine/burst_meter.h"
#include "runtime/engine/scheduler.h"

namespace
{

using namespace umwelt;
constexpr std::size_t stack = 64 * 1024;

void sleep_alone(benchmark::State& state)
{
  sim::Timeline timeline;
  engine::Scheduler scheduler(timeline);
  scheduler.spawn(
      "a",
      [&] {
        for ([[maybe_unused]] auto _ : state)
          scheduler.sleep(1);
      },
      stack);
  scheduler.run();
}
BENCHMARK(sleep_alone);

void two_actors_in_turn(benchmark::State& state)
{
  sim::Timeline timeline;
  engine::Scheduler scheduler(timeline);
  bool over = false;
  scheduler.spawn(
      "a",
      [&] {
        for ([[maybe_unused]] auto _ : state)
          scheduler.sleep(10);
        over = true;
      },
      stack);
  scheduler.spawn(
      "b",
      [&] {
        while (!over)
          scheduler.sleep(10);
      },
      stack);
  scheduler.run();
}
BENCHMARK(two_actors_in_turn);

void measure_burst(benchmark::State& state)
{
  engine::BurstMeter meter;
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(meter.measure(engine::BurstMeter::ticks()));
}
BENCHMARK(measure_burst);

} // namespace

BENCHMARK_MAIN();
