// SPDX-License-Identifier: LGPL-2.1-or-later
// Simulated only: how much faster threads are than one thread, and what they see of the node's cores.
//   parallel THREADS CORES: exit code 1 unless THREADS threads on CORES cores take 1/min(THREADS, CORES) of the time of one, within a
//   third. Bursts are measured, on a machine that does other things too: one good measurement of five is enough.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include <pthread.h>
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

struct Gain {
  double factor;
  std::size_t cores;
};

static Gain measure(int count)
{
  constexpr long rounds = 32'000'000;
  const double alone = seconds([] { work(rounds); });
  std::vector<int> used(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  pthread_barrier_t all;
  pthread_barrier_init(&all, nullptr, static_cast<unsigned>(count) + 1);
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&all, &used, i, count] {
      pthread_barrier_wait(&all);
      work(rounds / count);
      used[static_cast<std::size_t>(i)] = sched_getcpu();
      pthread_barrier_wait(&all);
    });
  const double together = seconds([&all] {
    pthread_barrier_wait(&all);
    pthread_barrier_wait(&all);
  });
  for (std::thread& thread : threads)
    thread.join();
  return {alone / together, std::set<int>(used.begin(), used.end()).size()};
}

int main(int argc, char** argv)
{
  if (argc != 3)
    return 2;
  const int count = std::atoi(argv[1]);
  const int cores = std::atoi(argv[2]);
  const int expected = std::min(count, cores);
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::printf("may use %d cores, expected %d\n", CPU_COUNT(&allowed), cores);
  if (CPU_COUNT(&allowed) != cores)
    return 1;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const Gain gain = measure(count);
    std::printf("%d threads on %zu cores: %.2f times as fast, expected %d\n", count, gain.cores, gain.factor, expected);
    if (static_cast<int>(gain.cores) == expected && gain.factor > expected / 1.34 && gain.factor < expected * 1.34)
      return 0;
  }
  return 1;
}
