// SPDX-License-Identifier: LGPL-2.1-or-later
// fuzz_portals [SECONDS [FIRST_SEED]]: random sequences of calls until the time is over (default 10 s). Ends with 1 and
// the seed if one breaks a rule; build with UMWELT_SANITIZE to see bad accesses and leaks as well.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/runtime/portals/random_traffic.h"

int main(int argc, char** argv)
{
  using namespace umwelt::portals::test;
  using clock = std::chrono::steady_clock;
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 10;
  const auto first = static_cast<std::uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
  const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
  std::uint32_t seed = first;
  std::uint64_t operations = 0;
  for (; clock::now() < end; ++seed) {
    try {
      RandomTraffic traffic(seed);
      for (int part = 0; part < 5; ++part)
        traffic.run(1000);
      operations += traffic.operations();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "fuzz_portals: seed %u: %s\n", seed, error.what());
      return 1;
    }
  }
  std::printf("%u sequences (seeds %u to %u), %llu operations, no rule broken\n", seed - first, first, seed - 1,
              static_cast<unsigned long long>(operations));
  return 0;
}
