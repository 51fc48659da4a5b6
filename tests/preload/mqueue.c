/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Message queues of POSIX among processes of a node: priorities, waiting with and without a time, notifications,
 * polling, and what each call says to bad input. */
#include "node_peers.h"

#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>

enum { peers = 3, rounds = 30 };

#define FAILS(call, error) CHECK((long)(call) == -1 && errno == (error))

static struct common {
  volatile int word;
  long sum;
} * common;

static char text[100];

static mqd_t make(const char* what, long messages)
{
  struct mq_attr attributes = {.mq_maxmsg = messages, .mq_msgsize = sizeof text};
  const mqd_t queue = mq_open(name_of(what), O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
  CHECK(queue >= 0);
  return queue;
}

static struct timespec from_now(double time)
{
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  const double nanoseconds = (double)t.tv_nsec + time * 1e9;
  t.tv_sec += (time_t)(nanoseconds / 1e9);
  t.tv_nsec = (long)(nanoseconds - (double)(time_t)(nanoseconds / 1e9) * 1e9);
  return t;
}

static void bad_input(void)
{
  char long_name[300] = "/";
  memset(long_name + 1, 'x', 290);
  struct mq_attr attributes = {.mq_maxmsg = 0, .mq_msgsize = 10}, found;
  FAILS(mq_open("no-slash", O_RDWR), EINVAL);
  FAILS(mq_open("/", O_RDWR), ENOENT);
  FAILS(mq_open("/a/b", O_RDWR), EACCES);
  FAILS(mq_open(long_name, O_RDWR), ENAMETOOLONG);
  FAILS(mq_open(name_of("none"), O_RDWR), ENOENT);
  FAILS(mq_open(name_of("none"), O_RDWR | O_CREAT, 0600, &attributes), EINVAL);
  FAILS(mq_unlink(name_of("none")), ENOENT);
  const mqd_t queue = make("bad", 2);
  FAILS(mq_open(name_of("bad"), O_CREAT | O_EXCL | O_RDWR, 0600, NULL), EEXIST);
  const mqd_t writer = mq_open(name_of("bad"), O_WRONLY | O_NONBLOCK);
  CHECK(writer >= 0 && writer != queue);
  FAILS(mq_receive(writer, text, sizeof text, NULL), EBADF);
  FAILS(mq_receive(queue, text, sizeof text - 1, NULL), EMSGSIZE);
  FAILS(mq_send(queue, text, sizeof text + 1, 0), EMSGSIZE);
  FAILS(mq_send(queue, text, 1, 32768), EINVAL);
  FAILS(mq_send(-1, text, 1, 0), EBADF);
  FAILS(mq_getattr(0, &found), EBADF);
  CHECK(mq_getattr(writer, &found) == 0);
  CHECK(found.mq_flags == O_NONBLOCK && found.mq_maxmsg == 2 && found.mq_msgsize == sizeof text &&
        found.mq_curmsgs == 0);
  CHECK(mq_send(writer, text, 0, 0) == 0 && mq_send(writer, text, 1, 0) == 0);
  FAILS(mq_send(writer, text, 1, 0), EAGAIN);
  CHECK(mq_getattr(queue, &found) == 0 && found.mq_flags == 0 && found.mq_curmsgs == 2);
  found.mq_flags = O_NONBLOCK;
  found.mq_maxmsg = 1000; /* not looked at */
  CHECK(mq_setattr(queue, &found, &attributes) == 0 && attributes.mq_flags == 0 && attributes.mq_maxmsg == 2);
  CHECK(mq_receive(queue, text, sizeof text, NULL) == 0 && mq_receive(queue, text, sizeof text, NULL) == 1);
  FAILS(mq_receive(queue, text, sizeof text, NULL), EAGAIN);
  CHECK(mq_unlink(name_of("bad")) == 0); /* what is open remains */
  CHECK(mq_send(writer, "x", 1, 0) == 0 && mq_receive(queue, text, sizeof text, NULL) == 1);
  FAILS(mq_open(name_of("bad"), O_RDWR), ENOENT);
  CHECK(mq_close(queue) == 0 && close(writer) == 0);
  FAILS(mq_close(queue), EBADF);
  FAILS(mq_send(writer, text, 1, 0), EBADF);
  say("bad input is told");
}

static void handle(int number)
{
  (void)number;
}

static void abstimes(void)
{
  const mqd_t queue = make("times", 1);
  const struct timespec epoch = {0, 0}, before = {-1, 0}, impossible = {0, 1000000000}, after = {INT64_MAX, 0};
  CHECK(mq_timedsend(queue, "x", 1, 0, &epoch) == 0); /* there is room */
  FAILS(mq_timedsend(queue, "x", 1, 0, &epoch), ETIMEDOUT);
  FAILS(mq_timedsend(queue, "x", 1, 0, &before), EINVAL);
  FAILS(mq_timedsend(queue, "x", 1, 0, &impossible), EINVAL);
  FAILS(mq_timedreceive(queue, text, sizeof text, NULL, &impossible), EINVAL);
  CHECK(mq_timedreceive(queue, text, sizeof text, NULL, &epoch) == 1);
  FAILS(mq_timedreceive(queue, text, sizeof text, NULL, &epoch), ETIMEDOUT);
  double begin = seconds();
  const struct timespec soon = from_now(0.01);
  FAILS(mq_timedreceive(queue, text, sizeof text, NULL, &soon), ETIMEDOUT);
  CHECK(seconds() - begin > 0.0099 && seconds() - begin < 20);
  struct sigaction action = {.sa_handler = handle};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  FAILS(mq_timedreceive(queue, text, sizeof text, NULL, &after), EINTR);
  FAILS(mq_receive(queue, text, sizeof text, NULL), EINTR);
  CHECK(mq_send(queue, "x", 1, 0) == 0);
  FAILS(mq_timedsend(queue, "x", 1, 0, &after), EINTR);
  setitimer(ITIMER_REAL, &never, NULL);
  CHECK(mq_unlink(name_of("times")) == 0 && mq_close(queue) == 0);
  say("times");
}

/* Peer 0 serves the others, whose requests have priorities. */
static void serve(void)
{
  mqd_t requests = -1, answers = -1;
  if (peer == 0) {
    requests = make("requests", 8);
    answers = make("answers-1", 1);
    mq_close(make("answers-2", 1));
    mq_close(answers);
  }
  meet(&common->word, peers);
  char own[32];
  snprintf(own, sizeof own, "answers-%d", peer == 0 ? 1 : peer);
  unsigned priority = 0;
  if (peer != 0) {
    requests = mq_open(name_of("requests"), O_WRONLY);
    answers = mq_open(name_of(own), O_RDONLY);
    CHECK(requests >= 0 && answers >= 0);
    for (int i = 0; i < rounds; ++i) {
      const int request[2] = {peer, i};
      CHECK(mq_send(requests, (const char*)request, sizeof request, (unsigned)(i % 7)) == 0);
      if (i % 5 == 4)
        for (int j = 0; j < 5; ++j)
          CHECK(mq_receive(answers, text, sizeof text, &priority) == sizeof(int));
    }
    mq_close(answers);
  } else {
    const mqd_t to[] = {-1, mq_open(name_of("answers-1"), O_WRONLY), mq_open(name_of("answers-2"), O_WRONLY)};
    long sum = 0;
    for (int i = 0; i < rounds * (peers - 1); ++i) {
      int request[2];
      CHECK(mq_receive(requests, text, sizeof text, &priority) == sizeof request);
      memcpy(request, text, sizeof request);
      CHECK(priority == (unsigned)(request[1] % 7));
      sum += request[0] * 1000 + request[1];
      CHECK(mq_send(to[request[0]], (const char*)&request[1], sizeof(int), 1) == 0);
    }
    mq_close(to[1]);
    mq_close(to[2]);
    CHECK(mq_unlink(name_of("requests")) == 0 && mq_unlink(name_of("answers-1")) == 0);
    CHECK(mq_unlink(name_of("answers-2")) == 0);
    say("served: %ld", sum);
  }
  mq_close(requests);
  meet(&common->word, peers);
}

static void priorities(void)
{
  const mqd_t queue = make("priorities", 10);
  const unsigned of[] = {3, 1, 3, 9, 0, 1, 32767};
  for (unsigned i = 0; i < 7; ++i) {
    const char letter = (char)('a' + i);
    CHECK(mq_send(queue, &letter, 1, of[i]) == 0);
  }
  char order[8] = "";
  for (unsigned i = 0; i < 7; ++i)
    CHECK(mq_receive(queue, order + i, sizeof text, NULL) == 1 || errno == EMSGSIZE);
  say("order: %s", order);
  CHECK(mq_unlink(name_of("priorities")) == 0 && mq_close(queue) == 0);
}

static sem_t told;
static volatile int value;
static volatile sig_atomic_t code, sender;

static void tell(union sigval v)
{
  value = v.sival_int;
  sem_post(&told);
}

static void on_signal(int number, siginfo_t* information, void* context)
{
  (void)number, (void)context;
  value = information->si_value.sival_int;
  code = information->si_code;
  sender = (sig_atomic_t)information->si_pid;
}

static void notifications(void)
{
  const mqd_t queue = peer == 0 ? make("notices", 4) : -1;
  meet(&common->word, peers);
  if (peer == 1) {
    const mqd_t to = mq_open(name_of("notices"), O_WRONLY);
    for (int i = 0; i < 3; ++i) {
      meet(&common->word, peers);
      meet(&common->word, peers);
      CHECK(mq_send(to, "x", 1, 0) == 0 && mq_send(to, "y", 1, 0) == 0);
      common->sum = getpid();
      meet(&common->word, peers);
    }
    mq_close(to);
    return;
  }
  if (peer == 2) {
    const mqd_t other = mq_open(name_of("notices"), O_RDWR);
    struct sigevent none = {.sigev_notify = SIGEV_NONE};
    for (int i = 0; i < 3; ++i) {
      meet(&common->word, peers);
      FAILS(mq_notify(other, &none), EBUSY);
      CHECK(mq_notify(other, NULL) == 0); /* it is not ours */
      meet(&common->word, peers);
      meet(&common->word, peers);
    }
    mq_close(other);
    return;
  }
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  sigaction(SIGUSR1, &action, NULL);
  sem_init(&told, 0, 0);
  struct sigevent events[3] = {
      {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value = {.sival_int = 11}},
      {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tell, .sigev_value = {.sival_int = 12}},
      {.sigev_notify = SIGEV_NONE}};
  for (int i = 0; i < 3; ++i) {
    value = 0;
    struct pollfd fd = {queue, POLLIN, 0};
    CHECK(poll(&fd, 1, 0) == 0);
    CHECK(mq_notify(queue, &events[i]) == 0);
    FAILS(mq_notify(queue, &events[i]), EBUSY);
    meet(&common->word, peers); /* it is seen, */
    meet(&common->word, peers); /* used, */
    while (poll(&fd, 1, 20000) < 0)
      CHECK(errno == EINTR);
    CHECK(fd.revents == POLLIN);
    if (i == 0)
      while (value == 0)
        usleep(1000);
    if (i == 1)
      while (sem_wait(&told) != 0)
        continue;
    meet(&common->word, peers); /* and over */
    say("told: %d", value);
    CHECK(i != 0 || (code == SI_MESGQ && sender == common->sum));
    CHECK(mq_receive(queue, text, sizeof text, NULL) == 1 && mq_receive(queue, text, sizeof text, NULL) == 1);
    if (i < 2)
      CHECK(mq_notify(queue, NULL) == 0); /* it was for once */
  }
  CHECK(mq_unlink(name_of("notices")) == 0 && mq_close(queue) == 0);
}

int main(void)
{
  become_peers(peers);
  common = common_memory("mqueue", sizeof *common);
  meet(&common->word, peers);
  if (peer == 0)
    shm_unlink(name_of("mqueue"));
  if (peer == 0) {
    bad_input();
    abstimes();
    priorities();
  }
  meet(&common->word, peers);
  serve();
  notifications();
  meet(&common->word, peers);
  say("over");
  return 0;
}
