/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What OpenMP programs do: regions, loops with every schedule, reductions, barriers, sections, critical, ordered, tasks
 * with dependences, locks, nested regions. Same output natively and simulated, with libgomp and with libomp. openmp
 * [tasks]: the tasks, or everything else */
#include <omp.h>
#include <stdio.h>

enum { threads = 4, length = 10000 };

static void loops(void)
{
  static double field[length];
  const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
  for (int kind = 0; kind < 3; ++kind) {
    double sum = 0;
    int least = length;
    omp_set_schedule(kinds[kind], kind == 0 ? 0 : 16);
#pragma omp parallel for schedule(runtime) reduction(+ : sum) reduction(min : least)
    for (int i = 0; i < length; ++i) {
      field[i] = i % 13;
      sum += field[i];
      least = i < least ? i : least;
    }
    printf("loop: sum %.0f, least %d\n", sum, least);
  }
  long pairs = 0;
#pragma omp parallel for collapse(2) reduction(+ : pairs)
  for (int i = 0; i < 40; ++i)
    for (int k = 0; k < 25; ++k)
      pairs += i * k % 7;
  printf("collapsed: %ld\n", pairs);
#pragma omp parallel for ordered schedule(dynamic)
  for (int i = 0; i < 6; ++i) {
#pragma omp ordered
    printf("ordered %d\n", i);
  }
}

/* Each thread sees what all have written before the barrier. */
static void barriers(void)
{
  int written[threads] = {0}, missed = 0, singles = 0, masters = 0, inside = 0, together = 0;
#pragma omp parallel reduction(+ : missed)
  {
    for (int round = 1; round <= 100; ++round) {
      written[omp_get_thread_num()] = round;
#pragma omp barrier
      for (int other = 0; other < omp_get_num_threads(); ++other)
        missed += written[other] != round;
#pragma omp single
      ++singles;
#pragma omp master
      ++masters;
#pragma omp critical
      {
        ++inside;
        together += inside != 1;
        --inside;
      }
    }
  }
  printf("missed %d, singles %d, masters %d, together %d\n", missed, singles, masters, together);
}

static long fibonacci(int n)
{
  long left, right;
  if (n < 2)
    return n;
#pragma omp task shared(left) if (n > 8)
  left = fibonacci(n - 1);
#pragma omp task shared(right) if (n > 8)
  right = fibonacci(n - 2);
#pragma omp taskwait
  return left + right;
}

static void tasks(void)
{
  long result = 0;
  int chain = 0, count = 0;
#pragma omp parallel
#pragma omp single
  {
    result = fibonacci(16);
    for (int i = 1; i <= 20; ++i) {
#pragma omp task depend(inout : chain) firstprivate(i)
      chain = chain * 3 % 1009 + i;
    }
#pragma omp taskwait
#pragma omp taskloop grainsize(10)
    for (int i = 0; i < 200; ++i) {
#pragma omp atomic
      ++count;
    }
  }
  printf("tasks: %ld, chain %d, loop %d\n", result, chain, count);
}

static void locks(void)
{
  omp_lock_t lock;
  omp_nest_lock_t nest;
  int counter = 0, deepest = 0;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
#pragma omp parallel
  for (int i = 0; i < 50; ++i) {
    omp_set_lock(&lock);
    ++counter;
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    const int depth = omp_test_nest_lock(&nest);
    deepest = depth > deepest ? depth : deepest;
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
  }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
  printf("locks: %d, depth %d\n", counter, deepest);
}

static void nested(void)
{
  int inner = 0, parts = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : inner)
#pragma omp parallel num_threads(3) reduction(+ : inner)
  inner += 1;
#pragma omp parallel sections reduction(+ : parts)
  {
#pragma omp section
    parts += 1;
#pragma omp section
    parts += 10;
#pragma omp section
    parts += 100;
  }
  printf("nested %d, sections %d\n", inner, parts);
}

/* Regions of changing size, one after another: threads are kept, added, left idle. */
static void sizes(void)
{
  int sum = 0;
  for (int round = 0; round < 60; ++round) {
#pragma omp parallel num_threads(1 + round % 6) reduction(+ : sum)
    sum += omp_get_num_threads();
  }
  printf("sizes %d\n", sum);
}

static int thread_private;
#pragma omp threadprivate(thread_private)

static void privates(void)
{
  int kept = 0, copied = 0;
#pragma omp parallel
  thread_private = omp_get_thread_num() + 1;
#pragma omp parallel reduction(+ : kept)
  kept += thread_private == omp_get_thread_num() + 1;
  thread_private = 42;
#pragma omp parallel copyin(thread_private) reduction(+ : copied)
  copied += thread_private == 42;
  printf("thread private: kept %d, copied %d\n", kept, copied);
}

int main(int argc, char** argv)
{
  (void)argv;
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  if (argc > 1) {
    tasks();
    return 0;
  }
  loops();
  barriers();
  locks();
  nested();
  sizes();
  privates();
  return 0;
}
