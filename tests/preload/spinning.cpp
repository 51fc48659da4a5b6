// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads that wait by looking at memory, or by asking again and again: spinning PATTERN. Same output natively and
// simulated.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace
{

// What a loop does between two looks.
void nothing()
{
}
void pause_once()
{
  __builtin_ia32_pause();
}
void yield()
{
  sched_yield();
}

template <class Body> void run_threads(int count, const Body& body)
{
  std::vector<std::thread> threads;
  for (int me = 0; me < count; ++me)
    threads.emplace_back([&body, me] { body(me); });
  for (std::thread& thread : threads)
    thread.join();
}

std::atomic<int> flag{0};

template <void (*between)()> void pass_flag()
{
  std::thread other([] {
    while (flag.load(std::memory_order_acquire) == 0)
      between();
    flag.store(2, std::memory_order_release);
  });
  flag.store(1, std::memory_order_release);
  while (flag.load(std::memory_order_acquire) != 2)
    between();
  other.join();
  std::printf("flag %d\n", flag.load());
}

// A barrier that threads pass many times: the same loop each time (Mellor-Crummey and Scott 1991, sense reversal).
template <void (*between)()> void barrier()
{
  constexpr int count = 4;
  constexpr int rounds = 200;
  std::atomic<int> arrived{0};
  std::atomic<int> sense{0};
  std::array<long, count> sums{};
  run_threads(count, [&](int me) {
    for (int round = 0; round < rounds; ++round) {
      sums[static_cast<std::size_t>(me)] += round;
      const int mine = sense.load();
      if (arrived.fetch_add(1) == count - 1) {
        arrived.store(0);
        sense.store(1 - mine);
      } else {
        while (sense.load() == mine)
          between();
      }
    }
  });
  std::printf("sums %ld %ld %ld %ld\n", sums[0], sums[1], sums[2], sums[3]);
}

// Single producer, single consumer, one slot less than its size (Lamport 1983).
template <std::size_t size, void (*between)()> class Ring
{
public:
  void push(int value)
  {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    while ((tail + 1) % size == head_.load(std::memory_order_acquire))
      between();
    slots_[tail] = value;
    tail_.store((tail + 1) % size, std::memory_order_release);
  }
  int pop()
  {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    while (head == tail_.load(std::memory_order_acquire))
      between();
    const int value = slots_[head];
    head_.store((head + 1) % size, std::memory_order_release);
    return value;
  }

private:
  std::array<int, size> slots_{};
  std::atomic<std::size_t> head_{0};
  std::atomic<std::size_t> tail_{0};
};

template <void (*between)()> void ring()
{
  constexpr int count = 2000;
  static Ring<64, between> queue;
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

// Several producers, one consumer; each slot says whose turn it is (Vyukov's bounded queue).
template <std::size_t size, void (*between)()> class SharedRing
{
public:
  SharedRing()
  {
    for (std::size_t i = 0; i < size; ++i)
      slots_[i].turn.store(i);
  }
  void push(int value)
  {
    const std::size_t mine = tail_.fetch_add(1);
    Slot& slot = slots_[mine % size];
    while (slot.turn.load(std::memory_order_acquire) != mine)
      between();
    slot.value = value;
    slot.turn.store(mine + 1, std::memory_order_release);
  }
  int pop()
  {
    Slot& slot = slots_[head_ % size];
    while (slot.turn.load(std::memory_order_acquire) != head_ + 1)
      between();
    const int value = slot.value;
    slot.turn.store(head_ + size, std::memory_order_release);
    ++head_;
    return value;
  }

private:
  struct Slot {
    std::atomic<std::size_t> turn;
    int value;
  };
  std::array<Slot, size> slots_;
  std::atomic<std::size_t> tail_{0};
  std::size_t head_ = 0;
};

// What each producer sends comes in its order, and all of it.
template <void (*between)()> void shared_ring()
{
  constexpr int producers = 3;
  constexpr int count = 500;
  static SharedRing<16, between> queue;
  std::array<int, producers> next{};
  long out_of_order = 0;
  std::thread consumer([&] {
    for (int i = 0; i < producers * count; ++i) {
      const int value = queue.pop();
      int& expected = next[static_cast<std::size_t>(value / count)];
      out_of_order += value % count != expected++;
    }
  });
  run_threads(producers, [&](int me) {
    for (int i = 0; i < count; ++i)
      queue.push(me * count + i);
  });
  consumer.join();
  std::printf("queue %d %d %d, out of order %ld\n", next[0], next[1], next[2], out_of_order);
}

// --- locks of one's own: held across a call that waits ---------------------------------------------------------------

template <class Lock> void count_under()
{
  static Lock lock;
  int counter = 0;
  run_threads(3, [&](int me) {
    for (int round = 0; round < 5; ++round) {
      lock.lock(me);
      const int seen = counter;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      counter = seen + 1;
      lock.unlock(me);
    }
  });
  std::printf("counter %d\n", counter);
}

template <void (*between)()> struct TestAndSet {
  std::atomic_flag taken = ATOMIC_FLAG_INIT;
  void lock(int)
  {
    while (taken.test_and_set(std::memory_order_acquire))
      between();
  }
  void unlock(int) { taken.clear(std::memory_order_release); }
};

struct Ticket {
  std::atomic<unsigned> next{0};
  std::atomic<unsigned> served{0};
  void lock(int)
  {
    const unsigned mine = next.fetch_add(1);
    while (served.load(std::memory_order_acquire) != mine) {
    }
  }
  void unlock(int) { served.fetch_add(1, std::memory_order_release); }
};

// Each thread looks at a word of its own (Mellor-Crummey and Scott 1991).
struct Mcs {
  struct Node {
    std::atomic<Node*> next{nullptr};
    std::atomic<bool> blocked{false};
  };
  std::array<Node, 3> nodes;
  std::atomic<Node*> tail{nullptr};
  void lock(int me)
  {
    Node& node = nodes[static_cast<std::size_t>(me)];
    node.next = nullptr;
    node.blocked = true;
    if (Node* before = tail.exchange(&node)) {
      before->next = &node;
      while (node.blocked.load(std::memory_order_acquire)) {
      }
    }
  }
  void unlock(int me)
  {
    Node& node = nodes[static_cast<std::size_t>(me)];
    Node* last = &node;
    if (node.next == nullptr && tail.compare_exchange_strong(last, nullptr))
      return;
    Node* next = nullptr;
    while ((next = node.next.load(std::memory_order_acquire)) == nullptr) {
    }
    next->blocked.store(false, std::memory_order_release);
  }
};

// Twice as long a wait each time, up to a limit.
struct Backoff {
  std::atomic<bool> taken{false};
  void lock(int)
  {
    for (int wait = 1; taken.exchange(true, std::memory_order_acquire); wait = wait < 1024 ? 2 * wait : wait)
      for (int i = 0; i < wait; ++i)
        __builtin_ia32_pause();
  }
  void unlock(int) { taken.store(false, std::memory_order_release); }
};

// Two threads, no read-modify-write (Peterson 1981).
void peterson()
{
  std::array<std::atomic<bool>, 2> wants{};
  std::atomic<int> turn{0};
  int counter = 0;
  run_threads(2, [&](int me) {
    const auto mine = static_cast<std::size_t>(me);
    for (int round = 0; round < 5; ++round) {
      wants[mine] = true;
      turn = 1 - me;
      while (wants[1 - mine] && turn == 1 - me) {
      }
      const int seen = counter;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      counter = seen + 1;
      wants[mine] = false;
    }
  });
  std::printf("counter %d\n", counter);
}

// Readers try again while a writer is at work.
void sequence_lock()
{
  std::atomic<unsigned> version{0};
  std::atomic<long> first{0};
  std::atomic<long> second{0};
  long torn = 0;
  std::thread writer([&] {
    for (int i = 1; i <= 20; ++i) {
      ++version;
      first = i;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      second = i;
      ++version;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  for (long seen = 0; seen < 20;) {
    unsigned before = 0;
    long left = 0;
    long right = 0;
    do {
      while ((before = version) % 2 != 0) {
      }
      left = first;
      right = second;
    } while (version != before);
    torn += left != right;
    seen = left;
  }
  writer.join();
  std::printf("torn %ld\n", torn);
}

// --- loops with calls ------------------------------------------------------------------------------------------------

// Waits for the other thread by asking `ready` again and again.
template <class Ready, class Release> void ask(const Ready& ready, const Release& release)
{
  std::atomic<bool> asked{false};
  std::thread other([&] {
    while (!asked) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    release();
  });
  while (!ready())
    asked = true;
  other.join();
  std::printf("released\n");
}

void try_lock()
{
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<bool> held{false};
  std::thread other([&] {
    pthread_mutex_lock(&mutex);
    held = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pthread_mutex_unlock(&mutex);
  });
  while (!held) {
  }
  while (pthread_mutex_trylock(&mutex) != 0) {
  }
  other.join();
  std::printf("locked\n");
}

void try_wait()
{
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  ask([&] { return sem_trywait(&semaphore) == 0; }, [&] { sem_post(&semaphore); });
}

void future()
{
  std::promise<void> promise;
  const std::future<void> result = promise.get_future();
  ask([&] { return result.wait_for(std::chrono::seconds(0)) == std::future_status::ready; },
      [&] { promise.set_value(); });
}

void system_call()
{
  std::atomic<bool> over{false};
  ask([&] { return syscall(SYS_getppid) > 0 && over; }, [&] { over = true; });
}

void naps()
{
  std::atomic<bool> over{false};
  ask(
      [&] {
        std::this_thread::sleep_for(std::chrono::nanoseconds(1));
        return over.load();
      },
      [&] { over = true; });
}

// Until something comes, or a time.
void deadline()
{
  std::atomic<bool> over{false};
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (!over && std::chrono::steady_clock::now() < end) {
  }
  std::printf("nothing came: %d\n", !over);
  ask([&] { return over || std::chrono::steady_clock::now() > end + std::chrono::hours(1); }, [&] { over = true; });
}

// --- loops that could get on by themselves ---------------------------------------------------------------------------

// Gives up after a while, and must be allowed to.
void bounded()
{
  static std::atomic<int> never{0};
  long spins = 0;
  while (never.load() == 0 && spins < 100'000) {
    ++spins;
    __builtin_ia32_pause();
  }
  std::printf("gave up after %ld\n", spins);
}

// Computes until it is told to stop, without any call.
void until_stopped()
{
  std::atomic<bool> begun{false};
  std::atomic<bool> stop{false};
  unsigned long rounds = 0;
  std::thread worker([&] {
    unsigned long x = 1;
    for (; !stop; ++rounds) {
      x = x * 6364136223846793005 + 1442695040888963407;
      begun = x != 0;
    }
  });
  while (!begun) {
  }
  stop = true;
  worker.join();
  std::printf("has worked: %d\n", rounds > 0);
}

// The one wakes the other, who sees by then what it waits for and spins for the last word only (Open MPI's
// WAIT_SYNC_RELEASE): that word comes at once, whoever runs in between.
struct Wait {
  std::atomic<int> count{1};
  std::atomic<bool> signalling{true};
  std::mutex mutex;
  std::condition_variable condition;
};

void signalled()
{
  constexpr int rounds = 1000;
  std::atomic<Wait*> posted{nullptr};
  const auto ask = [] { usleep(1); };
  const auto begin = std::chrono::steady_clock::now();
  std::thread signaller([&posted, &ask] {
    for (int round = 0; round < rounds; ++round) {
      Wait* wait = nullptr;
      while ((wait = posted.exchange(nullptr)) == nullptr)
        ask();
      for (int work = 0; work < 2000; ++work)
        asm volatile("" ::: "memory");
      wait->count = 0;
      wait->mutex.lock();
      wait->condition.notify_one();
      wait->mutex.unlock();
      wait->signalling = false;
    }
  });
  for (int round = 0; round < rounds; ++round) {
    Wait wait;
    posted = &wait;
    while (wait.count > 0)
      ask();
    while (wait.signalling) {
    }
  }
  signaller.join();
  const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%d rounds in %s\n", rounds, taken < 0.4 ? "less than 0.4 s" : "0.4 s or more");
}

// Taking a lock that is free, looking, and giving it back is no call: where computing takes no time, others are to run
// nevertheless.
void locked()
{
  std::mutex mutex;
  int left = 4;
  run_threads(left, [&](int) {
    mutex.lock();
    --left;
    mutex.unlock();
    for (int seen = 1; seen > 0;) {
      const std::lock_guard hold(mutex);
      seen = left;
    }
  });
  std::printf("left %d\n", left);
}

// More that spin than there are cores, and the one they wait for comes last.
void crowd()
{
  constexpr int count = 12;
  std::atomic<int> next{count - 1};
  long order = 0;
  run_threads(count, [&](int me) {
    while (next != me) {
    }
    order = (order * 31 + me) % 1'000'003;
    --next;
  });
  std::printf("order %ld\n", order);
}

__attribute__((noinline)) int look(const volatile int* place)
{
  return *place;
}

// The look is a call of a function, the flag a plain volatile.
void through_function()
{
  static volatile int ready = 0;
  std::thread other([] { ready = 1; });
  while (look(&ready) == 0) {
  }
  other.join();
  std::printf("ready %d\n", ready);
}

struct Pattern {
  const char* name;
  void (*run)();
};
constexpr auto patterns = std::to_array<Pattern>({
    {"flag", pass_flag<nothing>},
    {"flag_pause", pass_flag<pause_once>},
    {"flag_yield", pass_flag<yield>},
    {"through_function", through_function},
    {"barrier", barrier<nothing>},
    {"barrier_pause", barrier<pause_once>},
    {"barrier_yield", barrier<yield>},
    {"ring", ring<nothing>},
    {"ring_pause", ring<pause_once>},
    {"shared_ring", shared_ring<nothing>},
    {"shared_ring_pause", shared_ring<pause_once>},
    {"test_and_set", count_under<TestAndSet<nothing>>},
    {"test_and_set_pause", count_under<TestAndSet<pause_once>>},
    {"ticket", count_under<Ticket>},
    {"mcs", count_under<Mcs>},
    {"backoff", count_under<Backoff>},
    {"peterson", peterson},
    {"sequence_lock", sequence_lock},
    {"try_lock", try_lock},
    {"try_wait", try_wait},
    {"future", future},
    {"system_call", system_call},
    {"naps", naps},
    {"deadline", deadline},
    {"bounded", bounded},
    {"until_stopped", until_stopped},
    {"crowd", crowd},
    {"signalled", signalled},
    {"locked", locked},
});

} // namespace

int main(int argc, char** argv)
{
  for (const Pattern& pattern : patterns)
    if (argc == 2 && std::strcmp(argv[1], pattern.name) == 0) {
      pattern.run();
      return 0;
    }
  std::printf("spinning PATTERN; patterns:");
  for (const Pattern& pattern : patterns)
    std::printf(" %s", pattern.name);
  std::printf("\n");
  return 2;
}
