/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Every call that takes a time or a duration, with some before, at and long after the epoch, near and impossible ones.
 * Waits that would not end are ended by a signal, or by another thread. Same output natively and simulated. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static const struct abstime {
  const char* name;
  struct timespec t;
  bool from_now, ends;
} abstimes[] = {
    {"epoch", {0, 0}, false, true},
    {"before the epoch", {-1, 0}, false, true},
    {"long before", {INT64_MIN, 0}, false, true},
    {"soon", {0, 1000000}, true, true},
    {"no such nanosecond", {0, 1000000000}, true, true},
    {"negative nanosecond", {0, -1}, true, true},
    {"long after", {INT64_MAX, 999999999}, false, false},
    {"in a thousand years", {1000 * 365 * 86400LL, 0}, true, false},
};

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- what ends a wait that would go on for ever ------------------------------------------------------------------- */

static void handle(int number)
{
  (void)number;
}

static const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t waiting_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_cond_t monotonic_condition;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c_mutex, c_waiting_mutex;
static cnd_t c_condition;
static sem_t semaphore, lock_wanted;
static int pipe_ends[2], epoll, set, datagrams, pair[2];
static uint32_t word;

static void release_mutex(void)
{
  pthread_mutex_unlock(&mutex);
}
static void signal_condition(void)
{
  pthread_mutex_lock(&waiting_mutex);
  pthread_cond_broadcast(&condition);
  pthread_cond_broadcast(&monotonic_condition);
  pthread_mutex_unlock(&waiting_mutex);
}
static void release_lock(void)
{
  sem_post(&lock_wanted);
}
static void release_c_mutex(void)
{
  mtx_unlock(&c_mutex);
}
static void signal_c_condition(void)
{
  mtx_lock(&c_waiting_mutex);
  cnd_broadcast(&c_condition);
  mtx_unlock(&c_waiting_mutex);
}

static void* later(void* function)
{
  void (*release)(void);
  *(void**)&release = function;
  usleep(2000);
  release();
  return NULL;
}

/* A thread of its own: who holds a lock himself is told so, and nobody else may release it. */
static void* hold_lock(void* taken)
{
  pthread_rwlock_wrlock(&lock);
  sem_post(taken);
  sem_wait(&lock_wanted);
  pthread_rwlock_unlock(&lock);
  return NULL;
}

static void let_hold_lock(void)
{
  pthread_t thread;
  sem_t taken;
  sem_init(&taken, 0, 0);
  pthread_create(&thread, NULL, hold_lock, &taken);
  pthread_detach(thread);
  sem_wait(&taken);
}

/* --- the calls: 0 or an errno ------------------------------------------------------------------------------------- */

static int or_error(long status)
{
  return status < 0 ? errno : 0;
}

static int call_sem_timedwait(const struct timespec* t)
{
  return or_error(sem_timedwait(&semaphore, t));
}
static int call_sem_clockwait(const struct timespec* t)
{
  return or_error(sem_clockwait(&semaphore, CLOCK_MONOTONIC, t));
}
static int call_mutex_timedlock(const struct timespec* t)
{
  return pthread_mutex_timedlock(&mutex, t);
}
static int call_mutex_clocklock(const struct timespec* t)
{
  return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, t);
}
static int call_cond_timedwait(const struct timespec* t)
{
  pthread_mutex_lock(&waiting_mutex);
  const int error = pthread_cond_timedwait(&condition, &waiting_mutex, t);
  pthread_mutex_unlock(&waiting_mutex);
  return error;
}
static int call_cond_timedwait_monotonic(const struct timespec* t)
{
  pthread_mutex_lock(&waiting_mutex);
  const int error = pthread_cond_timedwait(&monotonic_condition, &waiting_mutex, t);
  pthread_mutex_unlock(&waiting_mutex);
  return error;
}
static int call_cond_clockwait(const struct timespec* t)
{
  pthread_mutex_lock(&waiting_mutex);
  const int error = pthread_cond_clockwait(&condition, &waiting_mutex, CLOCK_MONOTONIC, t);
  pthread_mutex_unlock(&waiting_mutex);
  return error;
}
static int call_rwlock_timedrdlock(const struct timespec* t)
{
  return pthread_rwlock_timedrdlock(&lock, t);
}
static int call_rwlock_timedwrlock(const struct timespec* t)
{
  return pthread_rwlock_timedwrlock(&lock, t);
}
static int call_rwlock_clockrdlock(const struct timespec* t)
{
  return pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, t);
}
static int call_rwlock_clockwrlock(const struct timespec* t)
{
  return pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, t);
}
static int of_c(int status)
{
  return status == thrd_success ? 0 : status == thrd_timedout ? ETIMEDOUT : EINVAL;
}
static int call_mtx_timedlock(const struct timespec* t)
{
  return of_c(mtx_timedlock(&c_mutex, t));
}
static int call_cnd_timedwait(const struct timespec* t)
{
  mtx_lock(&c_waiting_mutex);
  const int error = of_c(cnd_timedwait(&c_condition, &c_waiting_mutex, t));
  mtx_unlock(&c_waiting_mutex);
  return error;
}
static int call_sleep_until(const struct timespec* t)
{
  return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, t, NULL);
}
static int call_sleep_until_uptime(const struct timespec* t)
{
  return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, t, NULL);
}
static int call_clock_nanosleep(const struct timespec* t)
{
  return clock_nanosleep(CLOCK_REALTIME, 0, t, NULL);
}
static int call_nanosleep(const struct timespec* t)
{
  return or_error(nanosleep(t, NULL));
}
static int call_thrd_sleep(const struct timespec* t)
{
  return thrd_sleep(t, NULL) == 0 ? 0 : thrd_sleep(t, NULL) == -1 ? EINTR : EINVAL;
}
static int call_ppoll(const struct timespec* t)
{
  struct pollfd fd = {pipe_ends[0], POLLIN, 0};
  return or_error(ppoll(&fd, 1, t, NULL));
}
static int call_pselect(const struct timespec* t)
{
  fd_set in;
  FD_ZERO(&in);
  FD_SET(pipe_ends[0], &in);
  return or_error(pselect(pipe_ends[0] + 1, &in, NULL, NULL, t, NULL));
}
static int call_select(const struct timespec* t)
{
  fd_set in;
  FD_ZERO(&in);
  FD_SET(pipe_ends[0], &in);
  struct timeval timeout = {t->tv_sec, t->tv_nsec / 1000 - (t->tv_nsec < 0)};
  return or_error(select(pipe_ends[0] + 1, &in, NULL, NULL, &timeout));
}
static int call_epoll_pwait2(const struct timespec* t)
{
  struct epoll_event event;
  return or_error(epoll_pwait2(epoll, &event, 1, t, NULL));
}
static int call_sigtimedwait(const struct timespec* t)
{
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGUSR1);
  return or_error(sigtimedwait(&wanted, NULL, t));
}
static int call_semtimedop(const struct timespec* t)
{
  struct sembuf take = {0, -1, 0};
  return or_error(semtimedop(set, &take, 1, t));
}
static int call_futex(const struct timespec* t)
{
  return or_error(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, t, NULL, 0));
}
static int call_futex_bitset(const struct timespec* t)
{
  return or_error(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, t, NULL, FUTEX_BITSET_MATCH_ANY));
}
static int call_futex_realtime(const struct timespec* t)
{
  return or_error(
      syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 0, t, NULL, FUTEX_BITSET_MATCH_ANY));
}
static int call_futex_instruction(const struct timespec* t)
{
  long result = SYS_futex;
  register const struct timespec* fourth __asm__("r10") = t;
  register void* fifth __asm__("r8") = NULL;
  register long sixth __asm__("r9") = (uint32_t)FUTEX_BITSET_MATCH_ANY;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(&word), "S"(FUTEX_WAIT_BITSET_PRIVATE), "d"(0), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result < 0 ? (int)-result : 0;
}
static int receive(int fd, const struct timespec* t)
{
  const struct timeval timeout = {t->tv_sec, t->tv_nsec / 1000 - (t->tv_nsec < 0)};
  char byte;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0)
    return errno;
  if (timeout.tv_sec == 0 && timeout.tv_usec == 0)
    return 0; /* no limit */
  return or_error(recv(fd, &byte, 1, 0));
}
static int call_receive_datagram(const struct timespec* t)
{
  return receive(datagrams, t);
}
static int call_receive_local(const struct timespec* t)
{
  return receive(pair[0], t);
}

enum kind { relative, realtime, uptime };
static const struct call {
  const char* name;
  int (*function)(const struct timespec*);
  enum kind kind;
  void (*release)(void); /* null: a signal ends it */
} calls[] = {
    {"sem_timedwait", call_sem_timedwait, realtime, NULL},
    {"sem_clockwait", call_sem_clockwait, uptime, NULL},
    {"pthread_mutex_timedlock", call_mutex_timedlock, realtime, release_mutex},
    {"pthread_mutex_clocklock", call_mutex_clocklock, uptime, release_mutex},
    {"pthread_cond_timedwait", call_cond_timedwait, realtime, signal_condition},
    {"pthread_cond_timedwait by uptime", call_cond_timedwait_monotonic, uptime, signal_condition},
    {"pthread_cond_clockwait", call_cond_clockwait, uptime, signal_condition},
    {"pthread_rwlock_timedrdlock", call_rwlock_timedrdlock, realtime, release_lock},
    {"pthread_rwlock_timedwrlock", call_rwlock_timedwrlock, realtime, release_lock},
    {"pthread_rwlock_clockrdlock", call_rwlock_clockrdlock, uptime, release_lock},
    {"pthread_rwlock_clockwrlock", call_rwlock_clockwrlock, uptime, release_lock},
    {"mtx_timedlock", call_mtx_timedlock, realtime, release_c_mutex},
    {"cnd_timedwait", call_cnd_timedwait, realtime, signal_c_condition},
    {"clock_nanosleep until", call_sleep_until, realtime, NULL},
    {"clock_nanosleep until an uptime", call_sleep_until_uptime, uptime, NULL},
    {"clock_nanosleep", call_clock_nanosleep, relative, NULL},
    {"nanosleep", call_nanosleep, relative, NULL},
    {"thrd_sleep", call_thrd_sleep, relative, NULL},
    {"ppoll", call_ppoll, relative, NULL},
    {"pselect", call_pselect, relative, NULL},
    {"select", call_select, relative, NULL},
    {"epoll_pwait2", call_epoll_pwait2, relative, NULL},
    {"sigtimedwait", call_sigtimedwait, relative, NULL},
    {"semtimedop", call_semtimedop, relative, NULL},
    {"futex", call_futex, relative, NULL},
    {"futex by uptime", call_futex_bitset, uptime, NULL},
    {"futex by time", call_futex_realtime, realtime, NULL},
    {"futex by the instruction", call_futex_instruction, uptime, NULL},
    {"recv from UDP", call_receive_datagram, relative, NULL},
    {"recv from a pair", call_receive_local, relative, NULL},
};

static void try(const struct call* call, const struct abstime* abstime)
{
  struct timespec t = abstime->t;
  if (call->kind != relative && abstime->from_now) {
    struct timespec now;
    clock_gettime(call->kind == realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now);
    t.tv_sec += now.tv_sec;
    if (t.tv_nsec >= 0 && t.tv_nsec < 1000000000) {
      t.tv_nsec += now.tv_nsec;
      t.tv_sec += t.tv_nsec / 1000000000;
      t.tv_nsec %= 1000000000;
    }
  }
  pthread_t helper;
  if (!abstime->ends && call->release)
    pthread_create(&helper, NULL, later, *(void**)&call->release);
  else if (!abstime->ends)
    setitimer(ITIMER_REAL, &often, NULL);
  const double begin = seconds();
  const int error = call->function(&t);
  const double took = seconds() - begin;
  if (!abstime->ends && call->release)
    pthread_join(helper, NULL);
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%s, %s: %s%s%s\n", call->name, abstime->name, error == 0 ? "0" : strerrorname_np(error),
         took < 20 ? "" : ", late", abstime->from_now && error == ETIMEDOUT && took < 0.0009 ? ", early" : "");
  if (error == 0 && (call->release == release_mutex)) /* again as before */
    pthread_mutex_trylock(&mutex);
  if (error == 0 && call->release == release_lock) {
    pthread_rwlock_unlock(&lock);
    let_hold_lock();
  }
}

static void* wait_for_pipe(void* unused)
{
  char byte;
  const ssize_t got = read(pipe_ends[0], &byte, 1);
  return got == 1 ? unused : NULL;
}

static void joins(void)
{
  for (int monotonic = 0; monotonic < 2; ++monotonic)
    for (size_t i = 0; i < sizeof abstimes / sizeof *abstimes; ++i) {
      struct timespec t = abstimes[i].t;
      if (t.tv_nsec < 0 || t.tv_nsec >= 1000000000)
        continue; /* natively it looks again and again */
      pthread_t thread;
      pthread_create(&thread, NULL, wait_for_pipe, NULL);
      const clockid_t id = monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
      if (abstimes[i].from_now) {
        struct timespec now;
        clock_gettime(id, &now);
        t.tv_sec += now.tv_sec + (now.tv_nsec + t.tv_nsec) / 1000000000;
        t.tv_nsec = (now.tv_nsec + t.tv_nsec) % 1000000000;
      }
      if (!abstimes[i].ends && write(pipe_ends[1], "", 1) != 1)
        return;
      const double begin = seconds();
      const int error = monotonic ? pthread_clockjoin_np(thread, NULL, id, &t) : pthread_timedjoin_np(thread, NULL, &t);
      printf("%s, %s: %s%s\n", monotonic ? "pthread_clockjoin_np" : "pthread_timedjoin_np", abstimes[i].name,
             error == 0 ? "0" : strerrorname_np(error), seconds() - begin < 20 ? "" : ", late");
      if (error != 0 && write(pipe_ends[1], "", 1) == 1)
        pthread_join(thread, NULL);
    }
}

/* How a timer stands after it was set: about to expire, soon, in more than ten days. */
static const char* standing(const struct timespec* left)
{
  return left->tv_sec > 864000 ? "far" : left->tv_sec > 0 || left->tv_nsec > 0 ? "near" : "over";
}

static void timers(void)
{
  timer_t timer;
  struct sigevent none = {.sigev_notify = SIGEV_NONE};
  for (int way = 0; way < 4; ++way) {
    const clockid_t id = way % 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    const bool absolute = way >= 2;
    timer_create(id, &none, &timer);
    const int fd = timerfd_create(id, TFD_NONBLOCK);
    for (size_t i = 0; i < sizeof abstimes / sizeof *abstimes; ++i) {
      struct itimerspec setting = {{0, 0}, abstimes[i].t}, now;
      memset(&now, 0, sizeof now);
      const int status = or_error(timer_settime(timer, absolute ? TIMER_ABSTIME : 0, &setting, NULL));
      timer_gettime(timer, &now);
      printf("timer_settime %d, %s: %s", way, abstimes[i].name, status == 0 ? "0" : strerrorname_np(status));
      printf(", %s\n", abstimes[i].from_now && abstimes[i].ends && status == 0 ? "" : standing(&now.it_value));
      const int fd_status = or_error(timerfd_settime(fd, absolute ? TFD_TIMER_ABSTIME : 0, &setting, NULL));
      timerfd_gettime(fd, &now);
      printf("timerfd_settime %d, %s: %s, %s\n", way, abstimes[i].name,
             fd_status == 0 ? "0" : strerrorname_np(fd_status), abstimes[i].ends ? "" : standing(&now.it_value));
      setting.it_interval = (struct timespec){INT64_MAX, 0}; /* once, and hardly again */
      setting.it_value = (struct timespec){0, 1000};
      timerfd_settime(fd, 0, &setting, NULL);
      usleep(2000);
      uint64_t count = 0;
      const bool read_it = read(fd, &count, sizeof count) == sizeof count;
      timerfd_gettime(fd, &now);
      printf("  then: %d %d, %s\n", read_it, (int)count, standing(&now.it_value));
    }
    timer_delete(timer);
    close(fd);
  }
  for (int i = 0; i < 5; ++i) {
    static const struct timeval values[] = {{0, 0}, {-1, 0}, {INT64_MAX, 999999}, {0, 1000000}, {0, -1}};
    const struct itimerval setting = {{0, 0}, values[i]};
    struct itimerval now;
    const int status = or_error(setitimer(ITIMER_REAL, &setting, NULL));
    getitimer(ITIMER_REAL, &now);
    printf("setitimer %d: %s, %d\n", i, status == 0 ? "0" : strerrorname_np(status), now.it_value.tv_sec > 864000);
    setitimer(ITIMER_REAL, &never, NULL);
  }
  alarm(UINT32_MAX);
  printf("alarm: %d\n", alarm(0) > 864000);
}

static void sleeps(void)
{
  struct timespec rest = {0, 0};
  const struct timespec far = {INT64_MAX, 0};
  setitimer(ITIMER_REAL, &often, NULL);
  printf("sleep: %u\n", sleep(UINT32_MAX));
  const int status = nanosleep(&far, &rest);
  printf("nanosleep: %d, %d\n", or_error(status) == EINTR, rest.tv_sec > 1000000000);
  struct timeval timeout = {10000000, 0};
  printf("select: %d", select(0, NULL, NULL, NULL, &timeout) == -1 && errno == EINTR);
  printf(", %d\n", timeout.tv_sec == 9999999);
  struct pollfd fd = {pipe_ends[0], POLLIN, 0};
  struct epoll_event event;
  printf("poll: %d %d\n", or_error(poll(&fd, 1, INT32_MAX)) == EINTR, or_error(poll(&fd, 1, -1)) == EINTR);
  printf("epoll_wait: %d %d\n", or_error(epoll_wait(epoll, &event, 1, INT32_MAX)) == EINTR,
         or_error(epoll_wait(epoll, &event, 1, -1)) == EINTR);
  setitimer(ITIMER_REAL, &never, NULL);
  const double begin = seconds();
  printf("poll: %d %d, usleep: %d\n", poll(&fd, 1, 1), epoll_wait(epoll, &event, 1, 1), usleep(1000));
  const double took = seconds() - begin;
  printf("in time: %d\n", took >= 0.003 && took < 20);
}

static void other_clocks(void)
{
  const struct timespec t = {0, 0};
  sem_post(&semaphore);
  printf("sem_clockwait: %s", strerrorname_np(or_error(sem_clockwait(&semaphore, CLOCK_BOOTTIME, &t))));
  const struct timespec impossible = {0, 1000000000};
  printf(" %s", strerrorname_np(or_error(sem_timedwait(&semaphore, &impossible))));
  printf(" %d\n", sem_trywait(&semaphore));
  pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
  printf("pthread_mutex_clocklock: %s\n", strerrorname_np(pthread_mutex_clocklock(&other, CLOCK_BOOTTIME, &t)));
  pthread_mutex_lock(&waiting_mutex);
  printf("pthread_cond_clockwait: %s\n",
         strerrorname_np(pthread_cond_clockwait(&condition, &waiting_mutex, CLOCK_BOOTTIME, &t)));
  pthread_mutex_unlock(&waiting_mutex);
  printf("pthread_rwlock_clockrdlock: %s\n", strerrorname_np(pthread_rwlock_clockrdlock(&lock, CLOCK_BOOTTIME, &t)));
}

int main(void)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  struct sigaction action = {.sa_handler = handle};
  sigaction(SIGALRM, &action, NULL);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&monotonic_condition, &attributes);
  mtx_init(&c_mutex, mtx_timed);
  mtx_init(&c_waiting_mutex, mtx_timed);
  cnd_init(&c_condition);
  sem_init(&semaphore, 0, 0);
  sem_init(&lock_wanted, 0, 0);
  pthread_mutex_lock(&mutex);
  let_hold_lock();
  mtx_lock(&c_mutex);
  epoll = epoll_create1(0);
  set = semget(IPC_PRIVATE, 1, 0600);
  datagrams = socket(AF_INET, SOCK_DGRAM, 0);
  const struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  if (pipe(pipe_ends) != 0 || set < 0 || bind(datagrams, (const struct sockaddr*)&any, sizeof any) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
    return 1;
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_ends[0], &event);
  for (size_t c = 0; c < sizeof calls / sizeof *calls; ++c)
    for (size_t d = 0; d < sizeof abstimes / sizeof *abstimes; ++d) {
      if (calls[c].function == call_semtimedop && !abstimes[d].ends && abstimes[d].t.tv_sec == INT64_MAX)
        continue; /* Linux counts in ticks there, and overflows */
      try(&calls[c], &abstimes[d]);
    }
  joins();
  timers();
  sleeps();
  other_clocks();
  semctl(set, 0, IPC_RMID);
  return 0;
}
