// SPDX-License-Identifier: LGPL-2.1-or-later
// Whole runs of a program as a benchmark: CPU time of two of them, with many steps and with few, so that start-up
// cancels.
#pragma once

#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

namespace umwelt::bench
{

// User and system time of all children that have been waited for.
inline double children_cpu_seconds()
{
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// CPU seconds of `umwelt run OPTIONS`, its output discarded; -1: it failed.
inline double run_cpu_seconds(const std::string& options)
{
  const double before = children_cpu_seconds();
  const std::string command = std::string(UMWELT) + " run -q " + options + " >/dev/null";
  if (std::system(command.c_str()) != 0)
    return -1;
  return children_cpu_seconds() - before;
}

// One iteration is the difference between the runs with `many` and with `few` steps; options_for(steps) gives their
// options. Counter `name`: microseconds per unit, of which a step has `units`.
template <class OptionsFor>
void time_steps(benchmark::State& state, const char* name, long few, long many, double units,
                const OptionsFor& options_for)
{
  double seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    const double start_up = run_cpu_seconds(options_for(few));
    const double whole = run_cpu_seconds(options_for(many));
    if (start_up < 0 || whole < 0) {
      state.SkipWithError("umwelt run failed");
      break;
    }
    state.SetIterationTime(whole - start_up);
    seconds += whole - start_up;
  }
  state.counters[name] =
      seconds * 1e6 / (units * static_cast<double>(many - few)) / static_cast<double>(state.iterations());
}

} // namespace umwelt::bench
