// SPDX-License-Identifier: LGPL-2.1-or-later
// CPU time of a Portals request through everything: ptlbench, an ordinary program, on two nodes with --cpu none; both ends, the
// crossings, the Portals engine, the bxi model, all events and the acknowledgement or reply. Each iteration runs the program twice,
// with many requests and with few, so that start-up cancels.
//   bench_requests
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

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

// CPU seconds, or -1.
double run(const char* mode, long bytes, long count, long repeat)
{
  const double before = children_cpu_seconds();
  const std::string command = std::string(UMWELT) + " run -q --cpu none -np 2 " + PTLBENCH + " " + mode + " --size " +
                              std::to_string(bytes) + " --count " + std::to_string(count) + " --repeat " +
                              std::to_string(repeat) + " >/dev/null";
  if (std::system(command.c_str()) != 0)
    return -1;
  return children_cpu_seconds() - before;
}

// Many times `count` requests (in flight at once in the *_nowait modes) of `bytes`.
void requests(benchmark::State& state, const char* mode, long bytes, long count)
{
  constexpr long few = 2;
  const long many = few + (bytes > 65536 ? 10'000 : 400'000) / count;
  double seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    const double start_up = run(mode, bytes, count, few);
    const double whole = run(mode, bytes, count, many);
    if (start_up < 0 || whole < 0) {
      state.SkipWithError("umwelt run failed");
      break;
    }
    state.SetIterationTime(whole - start_up);
    seconds += whole - start_up;
  }
  state.counters["us_per_request"] =
      seconds * 1e6 / static_cast<double>((many - few) * count) / static_cast<double>(state.iterations());
}

// What a long message costs at least.
void copy(benchmark::State& state)
{
  const auto size = static_cast<std::size_t>(state.range(0));
  std::vector<char> from(size, 1);
  std::vector<char> to(size);
  for ([[maybe_unused]] auto _ : state) {
    std::memcpy(to.data(), from.data(), size);
    benchmark::ClobberMemory();
  }
}

} // namespace

#define UMW_REQUESTS(mode, bytes, count)                                                                               \
  BENCHMARK_CAPTURE(requests, mode##_##bytes##_bytes_##count, #mode, bytes, count)->UseManualTime()->Iterations(3)

UMW_REQUESTS(put_waitack, 8, 1000);
UMW_REQUESTS(put_waitack, 4096, 1000);
UMW_REQUESTS(put_waitack, 1048576, 1000);
UMW_REQUESTS(put_nowait, 8, 100);
UMW_REQUESTS(put_nowait, 8, 1000);
UMW_REQUESTS(put_nowait, 8, 10000);
UMW_REQUESTS(put_nowait, 8, 100000);
UMW_REQUESTS(get_waitreply, 8, 1000);
UMW_REQUESTS(get_nowait, 8, 10000);
BENCHMARK(copy)->Arg(1 << 20);

BENCHMARK_MAIN();
