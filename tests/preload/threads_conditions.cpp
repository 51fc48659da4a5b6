// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits with time-outs on every clock, of pthread and of C++: who is told in time, who is too late, nobody early.
//   threads_conditions [UNIT]: seconds that the shortest wait takes (0.004 unless given). Simulated, an hour is as
//   good.
// Same output natively and simulated.
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <latch>
#include <mutex>
#include <optional>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <pthread.h>

using Clock = std::chrono::steady_clock;
using Duration = Clock::duration;

static Duration unit;

// A wait, and how often it has ended before its time.
class Stopwatch
{
public:
  // `what` waits until `least` has passed, or is told long before.
  template <class Wait> static bool ends_at(Duration least, const Wait& wait)
  {
    const auto begin = Clock::now();
    const bool result = wait();
    early += Clock::now() - begin < least - std::chrono::microseconds(1); // two clocks are never quite equal
    return result;
  }
  static inline int early = 0;
};

static void say(const char* what, bool holds)
{
  std::printf("%s: %s, early %d\n", what, holds ? "yes" : "no", Stopwatch::early);
}

static void condition_variables()
{
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  say("wait_for times out",
      Stopwatch::ends_at(unit, [&] { return never.wait_for(lock, unit) == std::cv_status::timeout; }));
  say("wait_until times out",
      Stopwatch::ends_at(unit, [&] { return never.wait_until(lock, Clock::now() + unit) == std::cv_status::timeout; }));
  say("system clock times out", Stopwatch::ends_at(unit, [&] {
        const auto abstime = std::chrono::system_clock::now() + unit;
        return never.wait_until(lock, std::chrono::time_point_cast<std::chrono::nanoseconds>(abstime)) ==
               std::cv_status::timeout;
      }));
  say("predicate stays false",
      Stopwatch::ends_at(unit, [&] { return !never.wait_for(lock, unit, [] { return false; }); }));
  say("a time that has passed",
      Stopwatch::ends_at({}, [&] { return never.wait_until(lock, Clock::now() - unit) == std::cv_status::timeout; }));
  say("we still have the lock", lock.owns_lock());
}

// Told while others time out.
static void told_in_time()
{
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  int late = 0;
  int told = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, patient = i < 2] {
      std::unique_lock lock(mutex);
      if (changed.wait_for(lock, patient ? 1000 * unit : unit, [&] { return ready; }))
        ++told;
      else
        ++late;
    });
  threads[2].join(); // nobody tells it
  {
    const std::lock_guard lock(mutex);
    ready = true;
  }
  changed.notify_all();
  threads[0].join();
  threads[1].join();
  std::printf("told %d, late %d\n", told, late);
}

static void pthread_clocks()
{
  for (const clockid_t id : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_condattr_t attributes;
    pthread_cond_t condition;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, id);
    pthread_cond_init(&condition, &attributes);
    const auto abstime = [](clockid_t clock) {
      timespec now{};
      clock_gettime(clock, &now);
      const auto then = std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) + unit;
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(then);
      return timespec{seconds.count(), std::chrono::nanoseconds(then - seconds).count()};
    };
    pthread_mutex_lock(&mutex);
    say("pthread_cond_timedwait times out", Stopwatch::ends_at(unit, [&] {
          const timespec until = abstime(id);
          return pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT;
        }));
    say("pthread_cond_clockwait times out", Stopwatch::ends_at(unit, [&] {
          const timespec until = abstime(CLOCK_MONOTONIC);
          return pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until) == ETIMEDOUT;
        }));
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&condition);
    pthread_condattr_destroy(&attributes);
  }
}

static void timed_locks()
{
  std::timed_mutex plain;
  std::recursive_timed_mutex recursive;
  std::shared_timed_mutex shared;
  std::latch held{2};
  std::latch enough{1};
  std::thread holder([&] {
    const std::scoped_lock all(plain, recursive, shared);
    held.count_down();
    enough.wait();
  });
  held.arrive_and_wait();
  say("timed_mutex", Stopwatch::ends_at(unit, [&] { return !plain.try_lock_for(unit); }));
  say("recursive_timed_mutex",
      Stopwatch::ends_at(unit, [&] { return !recursive.try_lock_until(Clock::now() + unit); }));
  say("shared_timed_mutex", Stopwatch::ends_at(unit, [&] { return !shared.try_lock_shared_for(unit); }));
  enough.count_down();
  holder.join();
  say("free afterwards", plain.try_lock_for(unit) && recursive.try_lock() && shared.try_lock_shared());
  plain.unlock();
  recursive.unlock();
  shared.unlock_shared();
}

static void futures()
{
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  say("future not ready",
      Stopwatch::ends_at(unit, [&] { return future.wait_for(unit) == std::future_status::timeout; }));
  std::thread teller([&] {
    std::this_thread::sleep_for(2 * unit);
    promise.set_value(42);
  });
  say("future ready",
      Stopwatch::ends_at({}, [&] { return future.wait_for(10000 * unit) == std::future_status::ready; }));
  std::printf("future %d\n", future.get());
  teller.join();
}

static void twenty()
{
  std::counting_semaphore<4> tickets(0);
  say("no ticket", Stopwatch::ends_at(unit, [&] { return !tickets.try_acquire_for(unit); }));
  std::jthread seller([&] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(unit);
      tickets.release();
    }
  });
  int got = 0;
  while (got < 3)
    got += tickets.try_acquire_for(1000 * unit);
  std::printf("tickets %d\n", got);

  int phases = 0;
  std::barrier meeting(3, [&]() noexcept { ++phases; });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        for (int round = 0; round < 10; ++round)
          meeting.arrive_and_wait();
      });
  }
  std::printf("phases %d\n", phases);

  std::mutex mutex;
  std::condition_variable_any asked;
  bool stopped = false;
  {
    std::jthread worker([&](const std::stop_token& stop) {
      std::unique_lock lock(mutex);
      stopped = !asked.wait(lock, stop, [] { return false; }) && stop.stop_requested();
    });
    std::this_thread::sleep_for(unit);
  } // asks it to stop, and joins
  std::printf("stopped on request %d\n", stopped);

  std::atomic<int> number{0};
  std::thread waiter([&] {
    number.wait(0);
    number = 2;
    number.notify_all();
  });
  number = 1;
  number.notify_one();
  number.wait(1);
  waiter.join();
  std::printf("atomic wait %d\n", number.load());
}

int main(int argc, char** argv)
{
  unit = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(argc > 1 ? std::atof(argv[1]) : 0.004));
  condition_variables();
  told_in_time();
  pthread_clocks();
  timed_locks();
  futures();
  twenty();
  return Stopwatch::early != 0;
}
