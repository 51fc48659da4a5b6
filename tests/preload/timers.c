/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Timers of every kind: they expire when they should, and interrupt what they should. Same output natively and
 * simulated. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static volatile sig_atomic_t code, value;

static void handler(int number)
{
  (void)number;
  ++caught;
}

static void full_handler(int number, siginfo_t* info, void* context)
{
  (void)number;
  code = info->si_code;
  value = info->si_value.sival_int;
  caught += context != NULL;
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Exactly where nothing takes time but reading the clock (compare.sh), otherwise on a machine that may be busy, between
 * arming a timer and looking at the clock, too. */
static const char* near(double elapsed, double expected)
{
  const int exact = getenv("UMWELT_TEST_EXACT") != NULL;
  const int in_time = elapsed >= expected - (exact ? 1e-9 : expected / 2) && elapsed < expected + (exact ? 1e-7 : 10);
  return in_time ? "in time" : "at the wrong time";
}

static void install(int number, int flags)
{
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  caught = 0;
  sigaction(number, &action, NULL);
}

static void alarms(void)
{
  install(SIGALRM, 0);
  double begin = now();
  printf("alarm: %u before", alarm(10));
  printf(", %u replaced\n", alarm(1));
  const unsigned left = sleep(5);
  printf("sleep: %s left, caught %d, %s\n", left == 3 || left == 4 ? "4 s" : "wrong time", (int)caught,
         near(now() - begin, 1));
  begin = now();
  caught = 0;
  ualarm(100000, 100000); /* again: the first may come before pause() */
  pause();
  printf("ualarm: caught %s, %s\n", caught > 0 ? "some" : "none", near(now() - begin, 0.1));
  alarm(100);
  printf("cancelled with %u left, %u\n", alarm(0), alarm(0));

  begin = now();
  ualarm(100000, 0);
  const struct timespec second = {1, 0};
  struct timespec remaining = {0, 0};
  int status = nanosleep(&second, &remaining);
  printf("nanosleep: %s, %s\n", status != 0 && errno == EINTR ? "interrupted" : "not interrupted",
         near(1 - (double)remaining.tv_sec - 1e-9 * (double)remaining.tv_nsec, 0.1));
  ualarm(100000, 0);
  status = poll(NULL, 0, 2000);
  printf("poll: %d %s\n", status, status < 0 ? strerror(errno) : "");
}

static void intervals(void)
{
  const struct itimerval period = {{0, 20000}, {0, 50000}};
  struct itimerval seen;
  install(SIGALRM, SA_RESTART);
  const double begin = now();
  setitimer(ITIMER_REAL, &period, NULL);
  getitimer(ITIMER_REAL, &seen);
  printf("getitimer: interval %ld, value %s\n", (long)seen.it_interval.tv_usec,
         seen.it_value.tv_usec > 0 && seen.it_value.tv_usec <= 50000 ? "left" : "wrong");
  while (caught < 4)
    pause();
  printf("setitimer: %s\n", near(now() - begin, 0.11));
  const struct itimerval none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &none, NULL);
}

/* CPU time passes by computing, or by looking at the clock. */
static void cpu_time(void)
{
  const struct itimerval once = {{0, 0}, {0, 30000}};
  install(SIGPROF, SA_RESTART);
  setitimer(ITIMER_PROF, &once, NULL);
  sleep(1);
  printf("ITIMER_PROF: %d while asleep", (int)caught);
  const double begin = now();
  while (!caught && now() < begin + 10)
    ;
  printf(", %d while busy, %s\n", (int)caught, now() - begin < 5 ? "soon" : "late");
  install(SIGVTALRM, SA_RESTART);
  setitimer(ITIMER_VIRTUAL, &once, NULL);
  while (!caught)
    ;
  printf("ITIMER_VIRTUAL: %d\n", (int)caught);
}

static void spinning(void)
{
  install(SIGALRM, SA_RESTART);
  const double begin = now();
  ualarm(100000, 0);
  while (!caught)
    ;
  printf("spinning: %d, %s\n", (int)caught, near(now() - begin, 0.1));
}

static void posix_timers(void)
{
  timer_t timer;
  struct sigaction action = {.sa_sigaction = full_handler, .sa_flags = SA_SIGINFO};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value = {.sival_int = 42}};
  struct itimerspec setting = {{0, 10000000}, {0, 20000000}}, seen;
  sigset_t set;
  sigaction(SIGUSR1, &action, NULL);
  caught = 0;
  printf("timer_create: %d\n", timer_create(CLOCK_MONOTONIC, &event, &timer));
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  timer_settime(timer, 0, &setting, NULL);
  timer_gettime(timer, &seen);
  printf("timer_gettime: %s\n", seen.it_interval.tv_nsec == 10000000 && seen.it_value.tv_nsec > 0 ? "armed" : "wrong");
  usleep(95000); /* expires at 20, 30, ... 90 ms */
  setting.it_value.tv_nsec = 0;
  sigset_t pending;
  sigpending(&pending);
  printf("pending: %d, caught %d\n", sigismember(&pending, SIGUSR1), (int)caught);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  const int overrun = timer_getoverrun(timer);
  timer_settime(timer, 0, &setting, NULL);
  printf("caught %s, SI_TIMER %d, value %d, overrun %s\n", caught >= 1 ? "some" : "none", code == SI_TIMER, (int)value,
         overrun >= 0 ? "counted" : "wrong");
  timer_delete(timer);

  event = (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  struct timespec abstime;
  clock_gettime(CLOCK_REALTIME, &abstime);
  abstime.tv_sec += 1;
  timer_create(CLOCK_REALTIME, &event, &timer);
  setting = (struct itimerspec){{0, 0}, abstime};
  const double begin = now();
  caught = 0;
  timer_settime(timer, TIMER_ABSTIME, &setting, NULL);
  while (!caught)
    sleep(1);
  printf("absolute: %s\n", near(now() - begin, 1));
  timer_delete(timer);

  event = (struct sigevent){.sigev_notify = SIGEV_NONE};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  setting = (struct itimerspec){{0, 0}, {0, 50000000}};
  timer_settime(timer, 0, &setting, NULL);
  usleep(60000);
  timer_gettime(timer, &seen);
  printf("SIGEV_NONE: %ld left, deleted %d\n", seen.it_value.tv_nsec, timer_delete(timer));

  event = (struct sigevent){.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  caught = 0;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &setting, NULL);
  while (!caught)
    sleep(1);
  printf("SIGEV_THREAD_ID: %d\n", (int)caught);
  timer_delete(timer);
}

static sem_t called;
static pthread_t caller;

static void on_expiry(union sigval given)
{
  caller = pthread_self();
  value = given.sival_int;
  sem_post(&called);
}

static void thread_timer(void)
{
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value = {.sival_int = 7}};
  event.sigev_notify_function = on_expiry;
  const struct itimerspec setting = {{0, 10000000}, {0, 10000000}};
  sem_init(&called, 0, 0);
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &setting, NULL);
  for (int i = 0; i < 3; ++i)
    while (sem_wait(&called) != 0)
      ;
  printf("SIGEV_THREAD: value %d, %s\n", (int)value,
         pthread_equal(caller, pthread_self()) ? "same thread" : "a thread");
  timer_delete(timer);
}

static void descriptors(void)
{
  uint64_t count = 0;
  const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const struct itimerspec setting = {{0, 10000000}, {0, 50000000}};
  struct itimerspec seen;
  double begin = now();
  timerfd_settime(fd, 0, &setting, NULL);
  timerfd_gettime(fd, &seen);
  printf("timerfd: interval %ld, ", seen.it_interval.tv_nsec);
  ssize_t size = read(fd, &count, sizeof count);
  printf("read %zd, %s expired, %s\n", size, count >= 1 ? "has" : "has not", near(now() - begin, 0.05));
  usleep(45000);
  size = read(fd, &count, sizeof count);
  printf("read %zd, %s\n", size, count >= 4 ? "several" : "too few");
  struct pollfd ready = {fd, POLLIN, 0};
  printf("poll: %d\n", poll(&ready, 1, 1000));
  const int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  size = read(fd, &count, sizeof count);
  printf("epoll: %d\n", epoll_wait(epoll, &event, 1, 1000));
  const struct itimerspec none = {{0, 0}, {0, 0}};
  timerfd_settime(fd, 0, &none, NULL);
  printf("disarmed: %d\n", poll(&ready, 1, 100));
  close(epoll);
  close(fd);
  begin = now();
  const int other = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
  size = read(other, &count, sizeof count);
  printf("empty: %zd %s\n", size, strerror(errno));
  close(other);
}

int main(void)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  alarms();
  intervals();
  spinning();
  cpu_time();
  posix_timers();
  thread_timer();
  descriptors();
  install(SIGALRM, 0);
  signal(SIGALRM, SIG_DFL);
  alarm(1);
  pause();
  printf("not reached\n");
  return 0;
}
