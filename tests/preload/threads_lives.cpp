// SPDX-License-Identifier: LGPL-2.1-or-later
// How threads begin and end: detached, one after another, many at once, more than cores, joined by others, and what
// their keys and thread_local objects see of it. Same output natively and simulated.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static void* return_it(void* value)
{
  return value;
}

static void detached()
{
  static sem_t over;
  sem_init(&over, 0, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const auto post = [](void*) -> void* {
    sem_post(&over);
    return nullptr;
  };
  std::printf("created: %d\n", pthread_create(&thread, &attributes, post, nullptr));
  sem_wait(&over);
  std::thread([] { sem_post(&over); }).detach();
  sem_wait(&over);
  const auto detach_itself = [](void*) -> void* {
    const int first = pthread_detach(pthread_self());
    const int second = pthread_detach(pthread_self());
    std::printf("detached itself: %d, again: %d\n", first, second == EINVAL);
    sem_post(&over);
    return nullptr;
  };
  pthread_create(&thread, nullptr, detach_itself, nullptr);
  sem_wait(&over);
  pthread_attr_destroy(&attributes);
}

// Ids and stacks are used again: none may run out.
static void one_after_another()
{
  long sum = 0;
  for (long i = 0; i < 300; ++i) {
    pthread_t thread;
    void* result = nullptr;
    if (pthread_create(&thread, nullptr, return_it, reinterpret_cast<void*>(i)) != 0)
      break;
    pthread_join(thread, &result);
    sum += reinterpret_cast<long>(result);
  }
  std::printf("one after another: %ld\n", sum);
}

static void many_at_once()
{
  constexpr int count = 48;
  pthread_barrier_t all;
  pthread_barrier_init(&all, nullptr, count);
  std::vector<std::thread> threads;
  std::vector<pthread_t> ids(count);
  std::vector<pid_t> tids(count);
  std::vector<const void*> locals(count);
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      static thread_local int own;
      const auto place = static_cast<std::size_t>(i);
      ids[place] = pthread_self();
      tids[place] = gettid();
      locals[place] = &own;
      own = i;
      pthread_barrier_wait(&all);
      if (own != i)
        std::printf("a thread_local was changed by another\n");
    });
  for (std::thread& thread : threads)
    thread.join();
  std::printf("at once: %zu ids, %zu tids, %zu thread_locals\n", std::set(ids.begin(), ids.end()).size(),
              std::set(tids.begin(), tids.end()).size(), std::set(locals.begin(), locals.end()).size());
  pthread_barrier_destroy(&all);
}

// Threads start threads and join those of others.
static long fan_out(int depth)
{
  if (depth == 0)
    return 1;
  long left = 0;
  std::thread other([&] { left = fan_out(depth - 1); });
  const long right = fan_out(depth - 1);
  other.join();
  return left + right;
}

static void joins()
{
  pthread_t thread;
  pthread_create(&thread, nullptr, return_it, nullptr);
  int status = -1;
  std::thread([&] { status = pthread_join(thread, nullptr); }).join();
  std::printf("joined by another: %d\n", status);
  std::thread([] { std::printf("joined itself: %d\n", pthread_join(pthread_self(), nullptr) == EDEADLK); }).join();
  std::printf("leaves: %ld\n", fan_out(4));
  const timespec past{};
  std::printf("main joins itself: %s, %s, %s\n", strerrorname_np(pthread_join(pthread_self(), nullptr)),
              strerrorname_np(pthread_tryjoin_np(pthread_self(), nullptr)),
              strerrorname_np(pthread_timedjoin_np(pthread_self(), nullptr, &past)));
}

// main ends, the process does not (pthread_exit(3)).
static void main_is_joined()
{
  static pthread_t main_thread;
  main_thread = pthread_self();
  pthread_t thread;
  const auto join_main = [](void*) -> void* {
    void* result = nullptr;
    const int status = pthread_join(main_thread, &result);
    std::printf("main joined: %d, its result %ld\n", status, reinterpret_cast<long>(result));
    return nullptr;
  };
  pthread_create(&thread, nullptr, join_main, nullptr);
  pthread_exit(reinterpret_cast<void*>(7L));
}

static void large_stack()
{
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{16} << 20);
  pthread_t thread;
  const auto use = [](void*) -> void* {
    volatile char large[12 << 20];
    for (std::size_t i = 0; i < sizeof large; i += 4096)
      large[i] = static_cast<char>(i >> 12);
    return reinterpret_cast<void*>(static_cast<long>(large[8192]));
  };
  void* result = nullptr;
  pthread_create(&thread, &attributes, use, nullptr);
  pthread_join(thread, &result);
  std::printf("from 12 MiB of stack: %ld\n", reinterpret_cast<long>(result));
  pthread_attr_destroy(&attributes);
}

// Destructors of keys run again while they leave values, PTHREAD_DESTRUCTOR_ITERATIONS times at most
// (pthread_key_create(3p)).
static pthread_key_t stubborn;
static pthread_key_t once_more;
static std::atomic<int> stubborn_calls{0};
static std::atomic<int> once_more_calls{0};

static void keys()
{
  pthread_key_create(&stubborn, [](void* value) {
    ++stubborn_calls;
    pthread_setspecific(stubborn, value);
  });
  pthread_key_create(&once_more, [](void* value) {
    if (++once_more_calls == 1)
      pthread_setspecific(once_more, value);
  });
  pthread_key_t deleted;
  static int deleted_calls = 0;
  pthread_key_create(&deleted, [](void*) { ++deleted_calls; });
  pthread_key_t unset;
  pthread_key_create(&unset, [](void*) { std::printf("destructor without a value\n"); });
  static int value;
  std::thread([&] {
    std::printf("new thread: %d\n", pthread_getspecific(stubborn) == nullptr);
    pthread_setspecific(stubborn, &value);
    pthread_setspecific(once_more, &value);
    pthread_setspecific(deleted, &value);
    pthread_setspecific(unset, &value);
    pthread_setspecific(unset, nullptr);
    pthread_key_delete(deleted);
  }).join();
  std::printf("destructors: %d, %d, deleted %d\n", stubborn_calls.load(), once_more_calls.load(), deleted_calls);
  pthread_key_delete(stubborn);
  pthread_key_delete(once_more);
  pthread_key_delete(unset);

  std::vector<pthread_key_t> many;
  pthread_key_t key = 0;
  while (many.size() < 200 && pthread_key_create(&key, nullptr) == 0)
    many.push_back(key);
  std::thread([&many] {
    for (std::size_t i = 0; i < many.size(); ++i)
      pthread_setspecific(many[i], reinterpret_cast<void*>(i + 1));
    long sum = 0;
    for (const pthread_key_t mine : many)
      sum += reinterpret_cast<long>(pthread_getspecific(mine));
    std::printf("%zu keys: %ld\n", many.size(), sum);
  }).join();
  for (const pthread_key_t mine : many)
    pthread_key_delete(mine);
}

// thread_local objects: made on first use, destroyed in reverse order, before the values of keys.
static pthread_key_t last;
static std::string story;

struct Local {
  explicit Local(const char* what) : name(what) { story += std::string(" +") + name; }
  ~Local() { story += std::string(" -") + name; }
  const char* name;
};

static void order_of_ends()
{
  pthread_key_create(&last, [](void*) { story += " key"; });
  std::thread([] {
    pthread_setspecific(last, &story);
    thread_local const Local first{"first"};
    thread_local const Local second{"second"};
  }).join();
  std::printf("a thread:%s\n", story.c_str());
  pthread_key_delete(last);
}

static void exceptions()
{
  std::vector<std::string> caught(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < caught.size(); ++i)
    threads.emplace_back([&caught, i] {
      try {
        std::this_thread::yield();
        throw std::to_string(i);
      } catch (const std::string& text) {
        std::this_thread::yield();
        caught[i] = text;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  std::string all;
  for (const std::string& text : caught)
    all += text;
  std::printf("caught %s\n", all.c_str());
  std::once_flag flag;
  int calls = 0;
  for (int i = 0; i < 3; ++i) {
    try {
      std::call_once(flag, [&calls] {
        if (++calls == 1)
          throw 0;
      });
    } catch (int) {
      std::printf("the first call failed\n");
    }
  }
  std::printf("calls %d\n", calls);
}

int main()
{
  detached();
  one_after_another();
  many_at_once();
  joins();
  large_stack();
  keys();
  order_of_ends();
  exceptions();
  main_is_joined();
}
