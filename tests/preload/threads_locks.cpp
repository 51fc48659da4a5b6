// SPDX-License-Identifier: LGPL-2.1-or-later
// Locks of every type, held by another thread for as long as it takes to try what is to fail. Same output natively and
// simulated.
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include <pthread.h>
#include <semaphore.h>

// Another thread that holds a lock from the constructor to the destructor.
class Holder
{
public:
  Holder(const std::function<int()>& lock, const std::function<int()>& unlock)
  {
    sem_init(&held_, 0, 0);
    sem_init(&enough_, 0, 0);
    thread_ = std::thread([=, this] {
      lock();
      sem_post(&held_);
      sem_wait(&enough_);
      unlock();
    });
    sem_wait(&held_);
  }
  ~Holder()
  {
    sem_post(&enough_);
    thread_.join();
  }

private:
  sem_t held_{};
  sem_t enough_{};
  std::thread thread_;
};

static timespec in_milliseconds(int milliseconds, clockid_t clock = CLOCK_REALTIME)
{
  timespec abstime{};
  clock_gettime(clock, &abstime);
  abstime.tv_nsec += milliseconds * 1000000L;
  abstime.tv_sec += abstime.tv_nsec / 1000000000;
  abstime.tv_nsec %= 1000000000;
  return abstime;
}

// What a call returns, by name.
static const char* name_of(int error)
{
  switch (error) {
  case 0:
    return "ok";
  case EBUSY:
    return "EBUSY";
  case EDEADLK:
    return "EDEADLK";
  case EINVAL:
    return "EINVAL";
  case ENOTRECOVERABLE:
    return "ENOTRECOVERABLE";
  case EOWNERDEAD:
    return "EOWNERDEAD";
  case EPERM:
    return "EPERM";
  case ETIMEDOUT:
    return "ETIMEDOUT";
  default:
    return "another error";
  }
}

static void say(const char* what, int error)
{
  std::printf("%s: %s\n", what, name_of(error));
}

// Four threads that would lose counts if they were in there together.
template <class Lock, class Unlock> static void count_under(const char* what, Lock lock, Unlock unlock)
{
  long counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        lock();
        const long seen = counter;
        if (round % 10 == 0)
          std::this_thread::yield();
        counter = seen + 1;
        unlock();
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  std::printf("%s: counted %ld\n", what, counter);
}

static void mutex_of(const char* name, int type, int protocol)
{
  pthread_mutex_t mutex;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutexattr_setprotocol(&attributes, protocol);
  pthread_mutex_init(&mutex, &attributes);
  std::printf("%s mutex\n", name);
  {
    const Holder holder([&] { return pthread_mutex_lock(&mutex); }, [&] { return pthread_mutex_unlock(&mutex); });
    say("  try", pthread_mutex_trylock(&mutex));
    timespec abstime = in_milliseconds(5);
    say("  timed", pthread_mutex_timedlock(&mutex, &abstime));
    if (protocol == PTHREAD_PRIO_NONE) { // the kernel has no such wait on another clock (futex(2), FUTEX_LOCK_PI)
      abstime = in_milliseconds(5, CLOCK_MONOTONIC);
      say("  monotonic", pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &abstime));
    }
    if (type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE)
      say("  unlock another's", pthread_mutex_unlock(&mutex));
  }
  say("  lock", pthread_mutex_lock(&mutex));
  if (type == PTHREAD_MUTEX_ERRORCHECK) {
    say("  again", pthread_mutex_lock(&mutex));
    say("  again, tried", pthread_mutex_trylock(&mutex));
    const timespec abstime = in_milliseconds(5);
    say("  again, timed", pthread_mutex_timedlock(&mutex, &abstime));
  }
  if (type == PTHREAD_MUTEX_RECURSIVE) {
    say("  again", pthread_mutex_lock(&mutex));
    say("  unlock", pthread_mutex_unlock(&mutex));
    std::thread([&] { say("  still held", pthread_mutex_trylock(&mutex)); }).join();
  }
  say("  unlock", pthread_mutex_unlock(&mutex));
  if (type == PTHREAD_MUTEX_ERRORCHECK)
    say("  unlock nobody's", pthread_mutex_unlock(&mutex));
  count_under(
      "  all", [&] { pthread_mutex_lock(&mutex); }, [&] { pthread_mutex_unlock(&mutex); });
  say("  destroy", pthread_mutex_destroy(&mutex));
  pthread_mutexattr_destroy(&attributes);
}

static void robust()
{
  pthread_mutex_t mutex;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  std::printf("robust mutex\n");
  const auto die_with_it = [&] { std::thread([&] { pthread_mutex_lock(&mutex); }).join(); };
  die_with_it();
  say("  lock", pthread_mutex_lock(&mutex));
  say("  consistent", pthread_mutex_consistent(&mutex));
  say("  unlock", pthread_mutex_unlock(&mutex));
  say("  lock", pthread_mutex_lock(&mutex));
  say("  consistent", pthread_mutex_consistent(&mutex));
  say("  unlock", pthread_mutex_unlock(&mutex));
  { // somebody waits for it while its owner dies
    sem_t held;
    sem_init(&held, 0, 0);
    std::thread owner([&] {
      pthread_mutex_lock(&mutex);
      sem_post(&held);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    sem_wait(&held);
    say("  lock", pthread_mutex_lock(&mutex));
    owner.join();
    say("  unlock as it is", pthread_mutex_unlock(&mutex));
  }
  const timespec abstime = in_milliseconds(5);
  say("  lock", pthread_mutex_lock(&mutex));
  say("  timed", pthread_mutex_timedlock(&mutex, &abstime));
  std::thread([&] { say("  lock by another", pthread_mutex_lock(&mutex)); }).join();
  say("  lock", pthread_mutex_lock(&mutex));
  say("  try", pthread_mutex_trylock(&mutex));
  pthread_mutex_destroy(&mutex);
  pthread_mutexattr_destroy(&attributes);
}

static void read_write(const char* name, int preference)
{
  pthread_rwlock_t lock;
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setkind_np(&attributes, preference);
  pthread_rwlock_init(&lock, &attributes);
  const auto unlock = [&] { return pthread_rwlock_unlock(&lock); };
  std::printf("rwlock, %s first\n", name);
  {
    const Holder reader([&] { return pthread_rwlock_rdlock(&lock); }, unlock);
    say("  second reader", pthread_rwlock_rdlock(&lock));
    say("  unlock", unlock());
    say("  tried writer", pthread_rwlock_trywrlock(&lock));
    timespec abstime = in_milliseconds(5);
    say("  timed writer", pthread_rwlock_timedwrlock(&lock, &abstime));
    abstime = in_milliseconds(5, CLOCK_MONOTONIC);
    say("  monotonic writer", pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &abstime));
    say("  tried reader", pthread_rwlock_tryrdlock(&lock));
    say("  unlock", unlock());
  }
  {
    const Holder writer([&] { return pthread_rwlock_wrlock(&lock); }, unlock);
    say("  tried reader", pthread_rwlock_tryrdlock(&lock));
    const timespec abstime = in_milliseconds(5);
    say("  timed reader", pthread_rwlock_timedrdlock(&lock, &abstime));
    say("  tried writer", pthread_rwlock_trywrlock(&lock));
  }
  say("  writer", pthread_rwlock_wrlock(&lock));
  say("  writer again", pthread_rwlock_wrlock(&lock));
  say("  reader again", pthread_rwlock_rdlock(&lock));
  timespec abstime = in_milliseconds(5);
  say("  timed writer again", pthread_rwlock_timedwrlock(&lock, &abstime));
  say("  timed reader again", pthread_rwlock_timedrdlock(&lock, &abstime));
  say("  tried writer again", pthread_rwlock_trywrlock(&lock));
  say("  tried reader again", pthread_rwlock_tryrdlock(&lock));
  say("  unlock", unlock());
  say("  reader", pthread_rwlock_rdlock(&lock));
  say("  unlock", unlock());
  abstime.tv_nsec = 1000000000;
  say("  no time", pthread_rwlock_timedwrlock(&lock, &abstime));
  say("  no such clock", pthread_rwlock_clockrdlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &abstime));
  count_under(
      "  all", [&] { pthread_rwlock_wrlock(&lock); }, unlock);

  // readers see both halves of what a writer has written, or none
  long first = 0;
  long second = 0;
  long torn = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        pthread_rwlock_rdlock(&lock);
        torn += first != second;
        pthread_rwlock_unlock(&lock);
      }
    });
  for (int round = 0; round < 100; ++round) {
    pthread_rwlock_wrlock(&lock);
    ++first;
    std::this_thread::yield();
    ++second;
    pthread_rwlock_unlock(&lock);
  }
  for (std::thread& thread : threads)
    thread.join();
  std::printf("  written %ld, torn %ld\n", second, torn);
  say("  destroy", pthread_rwlock_destroy(&lock));
  pthread_rwlockattr_destroy(&attributes);
}

static void spin()
{
  pthread_spinlock_t lock;
  std::printf("spin lock\n");
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  {
    const Holder holder([&] { return pthread_spin_lock(&lock); }, [&] { return pthread_spin_unlock(&lock); });
    say("  try", pthread_spin_trylock(&lock));
  }
  say("  try", pthread_spin_trylock(&lock));
  say("  unlock", pthread_spin_unlock(&lock));
  count_under(
      "  all", [&] { pthread_spin_lock(&lock); }, [&] { pthread_spin_unlock(&lock); });
  pthread_spin_destroy(&lock);
}

int main()
{
  mutex_of("normal", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE);
  mutex_of("recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE);
  mutex_of("checking", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE);
  mutex_of("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE);
  mutex_of("inheriting", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT);
  mutex_of("inheriting, checking", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT);
  robust();
  read_write("readers", PTHREAD_RWLOCK_PREFER_READER_NP);
  read_write("writers", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  spin();
  return 0;
}
