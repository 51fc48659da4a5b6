// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads of one process: everything that blocks. The output is the same natively and simulated.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>
#include <semaphore.h>

static thread_local int own = 1;

struct Tracker {
  ~Tracker() { std::printf("thread_local destroyed\n"); }
  int touched = 0;
};
static thread_local Tracker tracker;

static void counter()
{
  std::mutex mutex;
  long sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) {
        const std::lock_guard lock(mutex);
        ++sum;
        ++own;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  std::printf("sum %ld, own %d\n", sum, own);
}

static void hand_over()
{
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  std::thread other([&] {
    for (int i = 0; i < 3; ++i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return turn % 2 == 1; });
      std::printf("pong %d\n", turn++);
      changed.notify_one();
    }
  });
  for (int i = 0; i < 3; ++i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return turn % 2 == 0; });
    std::printf("ping %d\n", turn++);
    changed.notify_one();
  }
  other.join();
}

static void timed_out()
{
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  const bool late = never.wait_for(lock, std::chrono::milliseconds(200)) == std::cv_status::timeout;
  const auto waited = std::chrono::steady_clock::now() - begin;
  std::printf("timed out %d, waited at least 200 ms: %d\n", late, waited >= std::chrono::milliseconds(200));
}

static void semaphores_and_barriers()
{
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 3);
  int serial = 0;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        const std::lock_guard lock(mutex);
        ++serial;
      }
      sem_post(&semaphore);
    });
  for (int i = 0; i < 3; ++i)
    sem_wait(&semaphore);
  for (std::thread& thread : threads)
    thread.join();
  std::printf("serial threads %d\n", serial);
}

static void* end_early(void*)
{
  tracker.touched = 1;
  pthread_exit(reinterpret_cast<void*>(42));
}

static void keys_and_exit()
{
  static pthread_key_t key;
  pthread_key_create(&key, [](void* value) { std::printf("key destroyed: %s\n", static_cast<char*>(value)); });
  std::thread([] { pthread_setspecific(key, const_cast<char*>("of the thread")); }).join();
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, end_early, nullptr);
  pthread_join(thread, &result);
  std::printf("result %ld\n", reinterpret_cast<long>(result));
}

int main()
{
  counter();
  hand_over();
  timed_out();
  semaphores_and_barriers();
  keys_and_exit();
  std::printf("async %d\n", std::async(std::launch::async, [] { return 6 * 7; }).get());
  return 0;
}
