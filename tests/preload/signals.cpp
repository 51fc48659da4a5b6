// SPDX-License-Identifier: LGPL-2.1-or-later
// Signals within a process: masks, handlers, waits that they interrupt, threads that send each other some. Same output
// natively and simulated.
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

static std::atomic<int> caught{0};
static std::atomic<int> depth{0};
static std::atomic<pthread_t> where;

static void handler(int)
{
  where = pthread_self();
  ++caught;
}

static void install(int number, int flags, void (*function)(int) = handler)
{
  struct sigaction action = {};
  action.sa_handler = function;
  action.sa_flags = flags;
  sigaction(number, &action, nullptr);
  caught = 0;
}

static sigset_t set_of(int number)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

static void masks()
{
  install(SIGUSR1, 0);
  const sigset_t usr1 = set_of(SIGUSR1);
  sigset_t old;
  sigset_t pending;
  sigprocmask(SIG_BLOCK, &usr1, &old);
  raise(SIGUSR1);
  kill(getpid(), SIGUSR1); // one in each queue: of the thread, and of the process
  kill(getpid(), SIGUSR1);
  sigpending(&pending);
  std::printf("blocked: caught %d, pending %d\n", caught.load(), sigismember(&pending, SIGUSR1));
  sigset_t none;
  sigemptyset(&none);
  const int status = sigsuspend(&none);
  std::printf("sigsuspend: %d %s, caught %d\n", status, std::strerror(errno), caught.load());
  sigprocmask(SIG_SETMASK, nullptr, &pending);
  std::printf("restored: %d\n", sigismember(&pending, SIGUSR1));
  sigprocmask(SIG_SETMASK, &old, nullptr);
  std::printf("unblocked: caught %d\n", caught.load());
  signal(SIGUSR1, SIG_IGN);
  raise(SIGUSR1);
  std::printf("ignored: caught %d\n", caught.load());
  std::printf("errors: %d %d\n", kill(getpid(), 0), kill(getpid(), 999) == -1 && errno == EINVAL);
}

static void nested(int number)
{
  const int now = ++depth;
  if (now < 3)
    raise(number);
  std::printf("depth %d\n", now);
  --depth;
}

static void flags()
{
  install(SIGUSR1, SA_NODEFER, nested);
  raise(SIGUSR1);
  install(SIGUSR2, 0, [](int number) {
    if (depth++ == 0) {
      raise(number); // stays blocked until this one is over
      std::printf("still the first\n");
    } else {
      std::printf("then the second\n");
    }
  });
  raise(SIGUSR2);
  install(SIGUSR1, static_cast<int>(SA_RESETHAND));
  raise(SIGUSR1);
  struct sigaction action = {};
  sigaction(SIGUSR1, nullptr, &action);
  std::printf("SA_RESETHAND: caught %d, default %d\n", caught.load(), action.sa_handler == SIG_DFL);

  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* info, void* context) {
    std::printf("code %d, own %d, value %d, context %d\n", info->si_code, info->si_pid == getpid(),
                info->si_value.sival_int, context != nullptr);
  };
  sigaction(SIGRTMIN, &action, nullptr);
  sigval value = {};
  value.sival_int = 5;
  const sigset_t real_time = set_of(SIGRTMIN);
  pthread_sigmask(SIG_BLOCK, &real_time, nullptr);
  sigqueue(getpid(), SIGRTMIN, value);
  value.sival_int = 6;
  sigqueue(getpid(), SIGRTMIN, value);
  std::printf("queued\n");
  pthread_sigmask(SIG_UNBLOCK, &real_time, nullptr);
}

static void waits()
{
  const sigset_t usr1 = set_of(SIGUSR1);
  sigset_t none;
  sigemptyset(&none);
  install(SIGUSR1, SA_RESTART);
  siginfo_t info = {};
  const timespec soon = {0, 20000000};
  sigprocmask(SIG_BLOCK, &usr1, nullptr);
  int number = sigtimedwait(&usr1, &info, &soon);
  std::printf("sigtimedwait: %d %s\n", number, std::strerror(errno));
  std::thread sender([] {
    usleep(20000);
    kill(getpid(), SIGUSR1);
  });
  const int status = sigwait(&usr1, &number);
  std::printf("sigwait: %d %d, caught %d\n", status, number == SIGUSR1, caught.load());
  sender.join();
  raise(SIGUSR1);
  number = sigwaitinfo(&usr1, &info);
  std::printf("sigwaitinfo: %d, code %d\n", number == SIGUSR1, info.si_code);
  raise(SIGUSR1);
  const timespec second = {1, 0};
  int ready = ppoll(nullptr, 0, &second, &none);
  std::printf("ppoll: %d %s, caught %d\n", ready, std::strerror(errno), caught.load());
  raise(SIGUSR1);
  ready = pselect(0, nullptr, nullptr, nullptr, &second, &none);
  std::printf("pselect: %d %s, caught %d\n", ready, std::strerror(errno), caught.load());
  sigprocmask(SIG_UNBLOCK, &usr1, nullptr);
}

// The other thread is in a wait when the signal comes: one that came too early is followed by another.
template <class Wait> static void interrupted(const char* name, int flags, Wait wait)
{
  static std::atomic<bool> over;
  install(SIGUSR2, flags);
  over = false;
  std::thread other([wait] {
    wait();
    over = true;
  });
  const pthread_t id = other.native_handle();
  int status = 0;
  while (!over && status == 0) {
    usleep(20000);
    status = pthread_kill(id, SIGUSR2);
  }
  usleep(20000);
  status += pthread_kill(id, SIGUSR2); // it has ended, or is about to
  other.join();
  std::printf("%s: sent %d, caught %d, there %d\n", name, status, caught > 0, pthread_equal(where, id) != 0);
}

static void threads()
{
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  interrupted("sem_wait", 0, [] {
    const int status = sem_wait(&semaphore);
    std::printf("sem_wait returned %d %s\n", status, std::strerror(errno));
  });
  interrupted("pause", SA_RESTART, [] { std::printf("pause returned %d\n", pause()); });
  interrupted("usleep", SA_RESTART, [] { std::printf("usleep returned %d\n", usleep(60000000)); });
  interrupted("poll", SA_RESTART, [] { std::printf("poll returned %d\n", poll(nullptr, 0, 60000)); });
  interrupted("spin", SA_RESTART, [] {
    while (caught == 0) {
    }
  });
  install(SIGUSR2, SA_RESTART);
  std::thread restarted([] {
    const int status = sem_wait(&semaphore);
    std::printf("restarted sem_wait returned %d, caught %d\n", status, caught.load());
  });
  usleep(50000);
  pthread_kill(restarted.native_handle(), SIGUSR2);
  usleep(50000);
  sem_post(&semaphore);
  restarted.join();

  const sigset_t usr2 = set_of(SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &usr2, nullptr);
  std::thread heir([] {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    std::printf("inherited: %d\n", sigismember(&mask, SIGUSR2));
  });
  heir.join();
  pthread_sigmask(SIG_UNBLOCK, &usr2, nullptr);
}

static sigjmp_buf back;

static void jump()
{
  install(SIGALRM, 0, [](int) { siglongjmp(back, 1); });
  for (int i = 0; i < 2; ++i) {
    if (sigsetjmp(back, 1) == 0) {
      ualarm(10000, 0);
      sleep(5);
      std::printf("not reached\n");
    } else {
      std::printf("jumped out\n");
    }
  }
  install(SIGSEGV, 0, [](int) { siglongjmp(back, 1); });
  if (sigsetjmp(back, 1) == 0) {
    volatile int* nowhere = nullptr;
    *nowhere = 1;
  } else {
    std::printf("out of a fault\n");
  }
}

static void child()
{
  const pid_t pid = fork();
  if (pid == 0) {
    sleep(60);
    _exit(0);
  }
  const int sent = kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  std::printf("child: sent %d, killed %d\n", sent, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  install(SIGUSR1, 0, [](int) { _exit(9); });
  for (const int number : {SIGUSR1, SIGTERM}) {
    const pid_t other = fork();
    if (other == 0) {
      pause();
      _exit(0);
    }
    kill(other, number);
    waitpid(other, &status, 0);
    std::printf("child: exit %d, signal %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  }
}

int main()
{
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  masks();
  flags();
  waits();
  threads();
  jump();
  child();
  std::thread last([] { kill(getpid(), SIGTERM); });
  pause();
  std::printf("not reached\n");
}
