// SPDX-License-Identifier: LGPL-2.1-or-later
// Simulated only: how much faster threads are than one thread, and what they see of the node's cores.
//   parallel THREADS CORES: exit code 1 unless THREADS threads on CORES cores take 1/min(THREADS, CORES) of the time of one, give
//   or take 60 %: bursts are measured, on a machine that does other things too.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include <sched.h>

static volatile double sink;

static void work(long rounds)
{
  double sum = 0;
  for (long i = 0; i < rounds; ++i)
    sum = sum * 0.999 + 1.0 / static_cast<double>(i + 1);
  sink = sum;
}

template <class Body> static double seconds(Body&& body)
{
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int main(int argc, char** argv)
{
  if (argc != 3)
    return 2;
  const int count = std::atoi(argv[1]);
  const int cores = std::atoi(argv[2]);
  constexpr long rounds = 32'000'000;
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::printf("may use %d cores\n", CPU_COUNT(&allowed));
  const double alone = seconds([] { work(rounds); });
  std::vector<int> used(static_cast<std::size_t>(count));
  const double together = seconds([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&used, i, count] {
        work(rounds / count);
        used[static_cast<std::size_t>(i)] = sched_getcpu();
      });
    for (std::thread& thread : threads)
      thread.join();
  });
  const std::set<int> different(used.begin(), used.end());
  const int expected = std::min(count, cores);
  const double gain = alone / together;
  std::printf("%d threads on %zu cores: %.2f times as fast, expected %d\n", count, different.size(), gain, expected);
  const bool right = CPU_COUNT(&allowed) == cores && static_cast<int>(different.size()) == expected &&
                     gain > expected / 1.6 && gain < expected * 1.6;
  return right ? 0 : 1;
}
