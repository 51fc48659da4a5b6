// SPDX-License-Identifier: LGPL-2.1-or-later
// Simulated only, with --cpu fixed=NS: how much faster threads are than one thread, and what they see of the node's
// cores.
//   parallel THREADS CORES: exit code 1 unless THREADS threads on CORES cores take 1/min(THREADS, CORES) of the time of
//   one. All stretches between two calls are equally long, so the number of calls is the time, and the rest, a barrier,
//   is less than 2 %.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

static void work(int stretches)
{
  for (int i = 0; i < stretches; ++i)
    sched_yield();
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
  constexpr int rounds = 19'200;
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
  const Gain gain = measure(count);
  std::printf("%d threads on %zu cores: %.3f times as fast, expected %d\n", count, gain.cores, gain.factor, expected);
  return static_cast<int>(gain.cores) != expected || gain.factor < expected * 0.98 || gain.factor > expected * 1.02;
}
