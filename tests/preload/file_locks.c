/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Locks of files between processes: fcntl(2), lockf(3), flock(2). What the program says is equal natively and
 * simulated.
 *
 *   file_locks DIRECTORY COUNT        COUNT processes, which have the directory in common
 *   file_locks DIRECTORY COUNT wait   two wait for each other for ever
 */
#include "node_peers.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/stat.h>

static const char* directory;
static int peers;

static const char* path_of(const char* name)
{
  static char paths[8][256];
  static int next;
  char* path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

static int open_file(const char* name, int flags)
{
  const int fd = open(path_of(name), flags | O_CREAT, 0600);
  CHECK(fd >= 0);
  return fd;
}

/* All are here. Each has a file of its own for each meeting. */
static void meet_all(void)
{
  static int meeting;
  char name[64];
  snprintf(name, sizeof name, "meeting-%d-%d", ++meeting, peer);
  close(open_file(name, O_WRONLY));
  for (int i = 0; i < peers; ++i) {
    snprintf(name, sizeof name, "meeting-%d-%d", meeting, i);
    while (access(path_of(name), F_OK) != 0)
      usleep(1000);
  }
}

static int request(int fd, int command, int type, off_t start, off_t length)
{
  struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  return fcntl(fd, command, &lock);
}

enum kind { by_fcntl, by_lockf, by_flock, by_description, kinds };
static const char* const names[] = {"fcntl", "lockf", "flock", "open file description"};

static void take(enum kind kind, int fd)
{
  switch (kind) {
  case by_fcntl:
    CHECK(request(fd, F_SETLKW, F_WRLCK, 0, 0) == 0);
    break;
  case by_lockf:
    CHECK(lseek(fd, 0, SEEK_SET) == 0 && lockf(fd, F_LOCK, 0) == 0);
    break;
  case by_flock:
    CHECK(flock(fd, LOCK_EX) == 0);
    break;
  default:
    CHECK(request(fd, F_OFD_SETLKW, F_WRLCK, 0, 0) == 0);
  }
}

static void give(enum kind kind, int fd)
{
  switch (kind) {
  case by_fcntl:
    CHECK(request(fd, F_SETLK, F_UNLCK, 0, 0) == 0);
    break;
  case by_lockf:
    CHECK(lseek(fd, 0, SEEK_SET) == 0 && lockf(fd, F_ULOCK, 0) == 0);
    break;
  case by_flock:
    CHECK(flock(fd, LOCK_UN) == 0);
    break;
  default:
    CHECK(request(fd, F_OFD_SETLK, F_UNLCK, 0, 0) == 0);
  }
}

static int number_in(int fd)
{
  char text[32] = "";
  CHECK(pread(fd, text, sizeof text - 1, 0) >= 0);
  return atoi(text);
}

static void counters(void)
{
  enum { rounds = 100 };
  for (enum kind kind = 0; kind < kinds; ++kind) {
    const int fd = open_file(names[kind], O_RDWR);
    for (int i = 0; i < rounds; ++i) {
      char text[32];
      take(kind, fd);
      const int length = snprintf(text, sizeof text, "%d\n", number_in(fd) + 1);
      if (i % 10 == 0)
        usleep(10);
      CHECK(pwrite(fd, text, (size_t)length, 0) == length);
      give(kind, fd);
    }
    meet_all();
    say("%s: %d", names[kind], number_in(fd));
    CHECK(number_in(fd) == rounds * peers);
    close(fd);
  }
}

/* A loop of attempts, without anything else in it, ends when the other gives the lock back. */
static void attempts(void)
{
  const int fd = open_file("attempts", O_RDWR);
  if (peer == 0)
    CHECK(flock(fd, LOCK_EX) == 0 && request(fd, F_SETLK, F_WRLCK, 0, 0) == 0);
  meet_all();
  if (peer == 0) {
    usleep(2000);
    CHECK(flock(fd, LOCK_UN) == 0);
    usleep(2000);
  } else if (peer == 1) {
    while (flock(fd, LOCK_EX | LOCK_NB) != 0)
      CHECK(errno == EWOULDBLOCK);
    while (request(fd, F_SETLK, F_WRLCK, 0, 0) != 0)
      CHECK(errno == EAGAIN || errno == EACCES);
    say("attempts: got both");
  }
  close(fd);
  meet_all();
}

/* What the others see of peer 0's locks. */
static void show(const char* what)
{
  meet_all();
  if (peer == 1) {
    const int fd = open_file("shown", O_RDWR);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK(fcntl(fd, F_GETLK, &lock) == 0);
    if (lock.l_type == F_UNLCK)
      say("%s: no lock", what);
    else
      say("%s: %s from %d, %d bytes, %s", what, lock.l_type == F_WRLCK ? "exclusive" : "shared", (int)lock.l_start,
          (int)lock.l_len, lock.l_pid > 0 && lock.l_pid != getpid() ? "of a process" : "of an open file");
    const int others = flock(fd, LOCK_EX | LOCK_NB);
    say("%s: flock %s", what, others == 0 ? "free" : strerror(errno));
    lseek(fd, 0, SEEK_SET);
    CHECK(lockf(fd, F_TEST, 0) == 0 || errno == EACCES);
    errno = 0;
    const int tried = request(fd, F_SETLK, F_RDLCK, 0, 0);
    say("%s: shared lock of all %s", what, tried == 0 ? "given" : strerror(errno));
    close(fd);
  }
  meet_all();
}

static void ends_of_locks(void)
{
  int fd = -1, copy = -1, another = -1;
  if (peer == 0) {
    fd = open_file("shown", O_RDWR);
    CHECK(ftruncate(fd, 100) == 0);
    CHECK(request(fd, F_SETLK, F_WRLCK, 0, 100) == 0);
    CHECK(request(fd, F_SETLK, F_UNLCK, 10, 70) == 0);
    CHECK(request(fd, F_SETLK, F_UNLCK, 0, 10) == 0);
  }
  show("a part of it");
  if (peer == 0)
    CHECK(request(fd, F_SETLK, F_RDLCK, 0, 0) == 0);
  show("shared");
  if (peer == 0) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -10, .l_len = -5};
    CHECK(request(fd, F_SETLK, F_UNLCK, 0, 0) == 0);
    CHECK(fcntl(fd, F_SETLK, &lock) == 0);
  }
  show("before the end");
  if (peer == 0) {
    another = open_file("shown", O_RDONLY);
    close(another);
  }
  show("another descriptor closed");
  if (peer == 0) {
    FILE* stream = fopen(path_of("shown"), "r");
    CHECK(stream);
    CHECK(request(fd, F_SETLK, F_WRLCK, 5, 1) == 0);
    fclose(stream);
  }
  show("a stream of it closed");
  if (peer == 0) {
    another = open_file("shown", O_RDONLY);
    const int other_file = open_file("another", O_RDWR);
    CHECK(request(fd, F_SETLK, F_WRLCK, 5, 1) == 0);
    CHECK(dup2(other_file, another) == another);
    close(other_file);
    close(another);
  }
  show("a descriptor of it replaced");
  if (peer == 0)
    CHECK(request(fd, F_OFD_SETLK, F_WRLCK, 7, 3) == 0);
  show("an open file's");
  if (peer == 0) {
    copy = dup(fd);
    another = open_file("shown", O_RDWR);
    CHECK(request(another, F_OFD_SETLK, F_WRLCK, 8, 1) < 0 && errno == EAGAIN);
    CHECK(request(another, F_SETLK, F_WRLCK, 8, 1) < 0 && errno == EAGAIN);
    CHECK(request(copy, F_OFD_SETLK, F_WRLCK, 8, 9) == 0);
    close(another);
    close(fd);
  }
  show("an open file's, one descriptor closed");
  if (peer == 0)
    close(copy);
  show("an open file's, all closed");
  if (peer == 0) {
    fd = open_file("shown", O_RDONLY);
    copy = fcntl(fd, F_DUPFD, 50);
    CHECK(flock(fd, LOCK_EX) == 0 && flock(copy, LOCK_EX | LOCK_NB) == 0);
    another = open_file("shown", O_RDWR);
    CHECK(flock(another, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK);
    close(fd);
  }
  show("flock");
  if (peer == 0)
    CHECK(flock(copy, LOCK_SH) == 0 && flock(another, LOCK_SH) == 0);
  show("flock shared by two");
  if (peer == 0) {
    close(another);
    CHECK(flock(copy, LOCK_UN) == 0);
    close(copy);
  }
  show("flock given back");
}

static void errors(void)
{
  if (peer != 0)
    return;
  const int in = open_file("another", O_RDONLY), out = open_file("another", O_WRONLY);
  errno = 0;
  int result = request(in, F_SETLK, F_WRLCK, 0, 0);
  say("exclusive, open for reading: %d %s", result, strerror(errno));
  result = request(out, F_SETLK, F_RDLCK, 0, 0);
  say("shared, open for writing: %d %s", result, strerror(errno));
  result = request(out, F_SETLK, F_WRLCK, -1, 0);
  say("before the beginning: %d %s", result, strerror(errno));
  result = request(out, F_SETLK, 77, 0, 0);
  say("of no type: %d %s", result, strerror(errno));
  result = request(-1, F_SETLK, F_WRLCK, 0, 0);
  say("no descriptor: %d %s", result, strerror(errno));
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_pid = 1};
  result = fcntl(out, F_OFD_SETLK, &lock);
  say("an open file's, with a pid: %d %s", result, strerror(errno));
  lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = INT64_MAX};
  result = fcntl(out, F_SETLK, &lock);
  say("too far: %d %s", result, strerror(errno));
  result = flock(in, 77);
  say("flock of no kind: %d %s", result, strerror(errno));
  result = flock(99, LOCK_EX);
  say("flock of no descriptor: %d %s", result, strerror(errno));
  result = lockf(in, F_LOCK, 0);
  say("lockf, open for reading: %d %s", result, strerror(errno));
  close(in);
  close(out);
}

/* Many requests in an order that is always the same, by a process and three of its open files: what the kernel says of
 * each. */
static void many_requests(void)
{
  if (peer != 0)
    return;
  enum { files = 3, steps = 3000 };
  int fds[files + 1];
  for (int i = 0; i <= files; ++i)
    fds[i] = open_file("many", O_RDWR);
  unsigned state = 1, sum = 0;
  for (int step = 0; step < steps; ++step) {
    state = state * 1103515245 + 12345;
    const unsigned random = state >> 8;
    const unsigned who = random % (files + 1);
    struct flock lock = {.l_type = (short)(random / 4 % 3), .l_whence = SEEK_SET};
    lock.l_start = random / 16 % 40;
    lock.l_len = (off_t)(random / 1024 % 20);
    if (random % 7 == 0 && lock.l_start >= lock.l_len)
      lock.l_len = -lock.l_len;
    const bool asks = random % 5 == 0 && lock.l_type != F_UNLCK;
    const int command = who == files ? asks ? F_GETLK : F_SETLK : asks ? F_OFD_GETLK : F_OFD_SETLK;
    const int result = fcntl(fds[who], command, &lock);
    const unsigned seen = result == 0 && asks
                              ? (unsigned)lock.l_type + 3U * (unsigned)lock.l_start + 200U * (unsigned)lock.l_len +
                                    (lock.l_type != F_UNLCK && lock.l_pid == -1 ? 7777U : 0)
                              : (unsigned)(result == 0 ? 1 : errno);
    sum = sum * 31 + seen;
    if (step % 500 == 499)
      say("after %d requests: %u", step + 1, sum);
  }
  for (int i = 0; i <= files; ++i)
    close(fds[i]);
}

static volatile sig_atomic_t handled;

static void handle(int signal)
{
  (void)signal;
  ++handled;
}

static void* interrupt_main(void* thread)
{
  usleep(50000);
  pthread_kill(*(pthread_t*)thread, SIGUSR1);
  return NULL;
}

static void interrupted(void)
{
  const int fd = open_file("interrupted", O_RDWR);
  if (peer == 0)
    CHECK(request(fd, F_SETLKW, F_WRLCK, 0, 0) == 0 && flock(fd, LOCK_EX) == 0);
  meet_all();
  if (peer == 1) {
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 2; ++i) {
      pthread_t self = pthread_self(), other;
      CHECK(pthread_create(&other, NULL, interrupt_main, &self) == 0);
      errno = 0;
      const int result = i == 0 ? request(fd, F_SETLKW, F_WRLCK, 0, 0) : flock(fd, LOCK_EX);
      say("interrupted: %d %s, %d", result, strerror(errno), (int)handled);
      pthread_join(other, NULL);
    }
  }
  meet_all();
  if (peer == 1) { /* the lock comes after the handler has run */
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t self = pthread_self(), other;
    CHECK(pthread_create(&other, NULL, interrupt_main, &self) == 0);
    const int result = request(fd, F_SETLKW, F_WRLCK, 0, 0);
    say("restarted: %d, %d", result, (int)handled);
    pthread_join(other, NULL);
  } else if (peer == 0) {
    const double begin = seconds();
    usleep(200000);
    CHECK(seconds() - begin >= 0.2);
  }
  close(fd); /* peer 0's: now it may have it */
  meet_all();
}

static void deadlock(void)
{
  const int fd = open_file("cycle", O_RDWR);
  if (peer < 2)
    CHECK(request(fd, F_SETLKW, F_WRLCK, peer, 1) == 0);
  meet_all();
  if (peer == 0)
    CHECK(request(fd, F_SETLKW, F_WRLCK, 1, 1) == 0);
  if (peer == 1) {
    usleep(200000);
    errno = 0;
    const int result = request(fd, F_SETLKW, F_WRLCK, 0, 1);
    say("a cycle: %d %s", result, strerror(errno));
    CHECK(request(fd, F_SETLK, F_UNLCK, 1, 1) == 0);
  }
  meet_all();
  close(fd);
}

/* The last of them gets what the others leave behind at their end. */
static void ends(void)
{
  const int fd = open_file("end", O_RDWR), again = open_file("end", O_RDWR);
  if (peer != peers - 1) {
    CHECK(request(fd, F_SETLKW, F_RDLCK, 0, 0) == 0 && flock(fd, LOCK_SH) == 0 &&
          request(again, F_OFD_SETLKW, F_RDLCK, 0, 0) == 0);
    meet_all();
    usleep(20000);
    fflush(stdout);
    if (peer == 0)
      _exit(0);
    exit(0);
  }
  meet_all();
  CHECK(request(fd, F_SETLK, F_WRLCK, 0, 0) < 0 && flock(fd, LOCK_EX | LOCK_NB) < 0);
  CHECK(request(fd, F_SETLKW, F_WRLCK, 0, 0) == 0 && flock(fd, LOCK_EX) == 0);
  say("has it after the others' end");
}

int main(int argc, char** argv)
{
  if (argc < 3)
    return 2;
  directory = argv[1];
  peers = atoi(argv[2]);
  become_peers(peers);
  if (argc > 3) {
    const int fd = open_file("wait", O_RDWR);
    const int other = open_file(peer == 0 ? "wait 1" : "wait 0", O_RDWR);
    const int own = open_file(peer == 0 ? "wait 0" : "wait 1", O_RDWR);
    CHECK(flock(own, LOCK_EX) == 0);
    meet_all();
    flock(other, LOCK_EX);
    return close(fd);
  }
  counters();
  attempts();
  ends_of_locks();
  errors();
  many_requests();
  interrupted();
  deadlock();
  ends();
  return 0;
}
