// SPDX-License-Identifier: LGPL-2.1-or-later
// CPU time of a Portals request through everything: ptlbench, an ordinary program, on two nodes with --cpu none; both
// ends, the crossings, the Portals engine, the bxi model, all events and the acknowledgement or reply. Each iteration
// runs the program twice, with many requests and with few, so that start-up cancels.
//   bench_requests
#include <cstring>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "tests/bench/whole_runs.h"

namespace
{

// Many times `count` requests (in flight at once in the *_nowait modes) of `bytes`.
void requests(benchmark::State& state, const char* mode, long bytes, long count)
{
  constexpr long few = 2;
  const long many = few + (bytes > 65536 ? 10'000 : 400'000) / count;
  umwelt::bench::time_steps(state, "us_per_request", few, many, static_cast<double>(count), [&](long repeat) {
    return std::string("--cpu none -np 2 ") + PTLBENCH + " " + mode + " --size " + std::to_string(bytes) + " --count " +
           std::to_string(count) + " --repeat " + std::to_string(repeat);
  });
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
