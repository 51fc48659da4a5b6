// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads that wait by looking at memory, without any call. Same output natively and simulated.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

static std::atomic<int> flag{0};

static void plain_flag()
{
  std::thread other([] {
    while (flag.load(std::memory_order_acquire) == 0) {
    }
    flag.store(2, std::memory_order_release);
  });
  flag.store(1, std::memory_order_release);
  while (flag.load(std::memory_order_acquire) != 2) {
  }
  other.join();
  std::printf("flag %d\n", flag.load());
}

// A barrier that threads pass many times: the same loop each time.
static void barrier_with_pause()
{
  constexpr int count = 4;
  constexpr int rounds = 200;
  std::atomic<int> arrived{0};
  std::atomic<int> sense{0};
  long sums[count] = {};
  std::vector<std::thread> threads;
  for (int me = 0; me < count; ++me)
    threads.emplace_back([&, me] {
      for (int round = 0; round < rounds; ++round) {
        sums[me] += round;
        const int mine = sense.load();
        if (arrived.fetch_add(1) == count - 1) {
          arrived.store(0);
          sense.store(1 - mine);
        } else {
          while (sense.load() == mine)
            __builtin_ia32_pause();
        }
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  std::printf("sums %ld %ld %ld %ld\n", sums[0], sums[1], sums[2], sums[3]);
}

// Single producer, single consumer, one slot less than its size (Lamport 1983).
template <std::size_t size> class Queue
{
public:
  void push(int value)
  {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    while ((tail + 1) % size == head_.load(std::memory_order_acquire)) {
    }
    slots_[tail] = value;
    tail_.store((tail + 1) % size, std::memory_order_release);
  }
  int pop()
  {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    while (head == tail_.load(std::memory_order_acquire)) {
    }
    const int value = slots_[head];
    head_.store((head + 1) % size, std::memory_order_release);
    return value;
  }

private:
  int slots_[size] = {};
  std::atomic<std::size_t> head_{0};
  std::atomic<std::size_t> tail_{0};
};

static void lock_free_queue()
{
  constexpr int count = 2000;
  static Queue<64> queue;
  long sum = 0;
  std::thread consumer([&sum] {
    for (int i = 0; i < count; ++i)
      sum += queue.pop();
  });
  for (int i = 0; i < count; ++i)
    queue.push(i);
  consumer.join();
  std::printf("queue %ld\n", sum);
}

// A lock of one's own, held across a call that waits.
static void spin_lock()
{
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  int counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        while (lock.test_and_set(std::memory_order_acquire))
          __builtin_ia32_pause();
        const int seen = counter;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        counter = seen + 1;
        lock.clear(std::memory_order_release);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  std::printf("counter %d\n", counter);
}

// Gives up after a while, and must be allowed to.
static void bounded()
{
  static std::atomic<int> never{0};
  long spins = 0;
  while (never.load() == 0 && spins < 100'000) {
    ++spins;
    __builtin_ia32_pause();
  }
  std::printf("gave up after %ld\n", spins);
}

int main()
{
  plain_flag();
  barrier_with_pause();
  lock_free_queue();
  spin_lock();
  bounded();
  return 0;
}
