// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads that are cancelled, or end from deep inside: stacks are unwound. Same output natively and simulated.
#include <atomic>
#include <cstdio>
#include <ctime>

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static std::atomic<bool> sent; // the cancellation request

struct Noisy {
  const char* name;
  ~Noisy() { std::printf("%s destroyed\n", name); }
};

static void unlock(void*)
{
  std::printf("cleanup: the mutex is ours: %d\n", pthread_mutex_unlock(&mutex) == 0);
}

static void* waits_for_condition(void*)
{
  const Noisy noisy{"local of the waiting thread"};
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, nullptr);
  for (;;)
    pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(1);
  return nullptr;
}

static void* sleeps(void*)
{
  const Noisy noisy{"local of the sleeping thread"};
  for (;;)
    usleep(1000);
}

static void* waits_for_semaphore(void*)
{
  const Noisy noisy{"local of the thread at the semaphore"};
  sem_wait(&semaphore);
  return nullptr;
}

static void* refuses_for_a_while(void*)
{
  int old = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
  std::printf("was enabled: %d\n", old == PTHREAD_CANCEL_ENABLE);
  while (!sent)
    usleep(1000);
  std::printf("still here\n");
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  pthread_testcancel();
  std::printf("never said\n");
  return nullptr;
}

static void innermost()
{
  const Noisy noisy{"innermost"};
  pthread_exit(reinterpret_cast<void*>(7));
}

static void deep()
{
  const Noisy noisy{"outer"};
  innermost();
}

static void* exits(void*)
{
  sem_wait(&semaphore);
  deep();
  return nullptr;
}

static void cancel(void* (*start)(void*))
{
  pthread_t thread;
  void* result = nullptr;
  sent = false;
  pthread_create(&thread, nullptr, start, nullptr);
  usleep(5000);
  const int cancelled = pthread_cancel(thread);
  sent = true;
  const int joined = pthread_join(thread, &result);
  std::printf("cancel: %d, join: %d, cancelled: %d\n", cancelled, joined, result == PTHREAD_CANCELED);
}

static void* outlives_main(void*)
{
  usleep(10000);
  std::printf("after main\n");
  return nullptr;
}

int main()
{
  sem_init(&semaphore, 0, 0);
  cancel(waits_for_condition);
  cancel(sleeps);
  cancel(waits_for_semaphore);
  cancel(refuses_for_a_while);
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, exits, nullptr);
  std::printf("tryjoin: %d\n", pthread_tryjoin_np(thread, &result) != 0);
  sem_post(&semaphore);
  timespec abstime{};
  clock_gettime(CLOCK_REALTIME, &abstime);
  abstime.tv_sec += 60;
  std::printf("timedjoin: %d", pthread_timedjoin_np(thread, &result, &abstime));
  std::printf(", result %ld\n", reinterpret_cast<long>(result));
  pthread_create(&thread, nullptr, outlives_main, nullptr);
  const Noisy noisy{"local of main"};
  pthread_exit(nullptr);
}
