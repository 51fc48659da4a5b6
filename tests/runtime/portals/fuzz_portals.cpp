// SPDX-License-Identifier: LGPL-2.1-or-later
// fuzz_portals [--seconds N] [--seed S] [--calls]: random sequences of calls until the time is over. Ends with 1 and
// the seed if one breaks a rule; build with UMWELT_SANITIZE to see bad accesses and leaks as well. Compiled with
// UMWELT_LIBFUZZER it is a libFuzzer target instead, which lets coverage choose the calls (README.md).
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <CLI/CLI.hpp>

#include "tests/runtime/portals/counted_api.h"
#include "tests/runtime/portals/random_traffic.h"

using namespace umwelt::portals::test;

#ifdef UMWELT_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  try {
    RandomTraffic traffic(Entropy(std::span(data, size)));
    while (!traffic.used_up())
      traffic.run(300);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_portals: %s\n", error.what());
    std::abort();
  }
  return 0;
}

#else

int main(int argc, char** argv)
{
  using clock = std::chrono::steady_clock;
  double seconds = 10;
  std::uint32_t first = 1;
  bool calls = false;
  CLI::App app("Random sequences of Portals calls; what must hold whatever they are is checked.");
  app.add_option("--seconds", seconds, "how long")->capture_default_str();
  app.add_option("--seed", first, "of the first sequence")->capture_default_str();
  app.add_flag("--calls", calls, "say how often each function was called and succeeded");
  CLI11_PARSE(app, argc, argv);

  const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
  std::uint32_t seed = first;
  std::uint64_t operations = 0;
  std::uint64_t checked = 0;
  for (; clock::now() < end; ++seed) {
    try {
      RandomTraffic traffic{Entropy(seed)};
      for (int part = 0; part < 5; ++part)
        traffic.run(1000);
      operations += traffic.operations();
      checked += traffic.letters_checked();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "fuzz_portals: %s (seed %u)\n", error.what(), seed);
      return 1;
    }
  }
  if (calls)
    for (const CallCount& count : counted::counts)
      std::printf("%-24s %10llu calls %10llu successful\n", count.function,
                  static_cast<unsigned long long>(count.calls), static_cast<unsigned long long>(count.successes));
  std::printf("%u sequences (seeds %u to %u), %llu operations, %llu effects compared, no rule broken\n", seed - first,
              first, seed - 1, static_cast<unsigned long long>(operations), static_cast<unsigned long long>(checked));
  return 0;
}

#endif
