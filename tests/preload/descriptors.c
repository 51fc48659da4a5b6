/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numbers of descriptors: 0, 1 and 2 can be closed, replaced and given out again, numbers of the program's own choice
 * (dup2) are its own, and whatever other processes do to theirs does not show. Natively every process has a table of
 * its own; ranks share one.
 *
 *   descriptors COUNT [DIRECTORY]     COUNT processes
 */
#include "node_peers.h"

#include <dirent.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

extern char** environ;

/* Where 2 leads is what is being tested. */
static int report = 2;
#undef CHECK
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      dprintf(report, "[%d] FAILED %s:%d: %s (errno %d)\n", peer, __FILE__, __LINE__, #condition, errno);              \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

static char base[64];
static int peers;
static volatile int* meeting;

static const char* path_of(const char* name)
{
  static char paths[8][256];
  static int next;
  char* path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%d-%s", base, peer, name);
  return path;
}

static int make(const char* name)
{
  const int fd = open(path_of(name), O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0);
  return fd;
}

/* Out of the way of small numbers. */
static int high(int fd)
{
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 70);
  CHECK(copy >= 70 && close(fd) == 0);
  return copy;
}

static int make_high(const char* name)
{
  return high(make(name));
}

/* What a file has, its lines separated by "|". */
static const char* content(const char* name)
{
  static char text[1024];
  const int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0);
  const ssize_t size = read(fd, text, sizeof text - 1);
  CHECK(size >= 0);
  close(fd);
  text[size] = '\0';
  for (char* end = text; (end = strchr(end, '\n'));)
    *end = '|';
  return text;
}

static bool leads_to(int fd, const char* name)
{
  struct stat of_fd, of_name;
  return fstat(fd, &of_fd) == 0 && stat(path_of(name), &of_name) == 0 && of_fd.st_ino == of_name.st_ino;
}

/* --- 0, 1 and 2 --------------------------------------------------------------------------------------------------- */

static void redirected(void)
{
  fflush(stdout);
  const int save = fcntl(1, F_DUPFD, 60), fd = make_high("redirected");
  CHECK(save > 2 && dup2(fd, 1) == 1);
  close(fd);
  printf("by printf\n");
  fflush(stdout);
  CHECK(write(1, "by write\n", 9) == 9);
  dprintf(1, "by %s\n", "dprintf");
  CHECK(leads_to(1, "redirected") && lseek(1, 0, SEEK_CUR) == 30);
  CHECK(dup2(save, 1) == 1 && close(save) == 0);
  say("redirected: %s", content("redirected"));
}

static void closed_and_replaced(void)
{
  fflush(stdout);
  const int save = fcntl(1, F_DUPFD, 60), fd = make_high("replaced");
  CHECK(close(1) == 0);
  struct stat status;
  struct pollfd asked = {1, POLLOUT, 0};
  fd_set set;
  char seen[256] = "";
  FD_ZERO(&set);
  FD_SET(1, &set);
  errno = 0;
#define FAILS(call)                                                                                                    \
  errno = 0;                                                                                                           \
  CHECK((call) < 0);                                                                                                   \
  strcat(seen, errno == EBADF ? "b" : "?")
  FAILS(write(1, "x", 1));
  FAILS(fstat(1, &status));
  FAILS(lseek(1, 0, SEEK_CUR));
  FAILS(fcntl(1, F_GETFD));
  FAILS(fcntl(1, F_GETFL));
  FAILS(dup(1));
  FAILS(dup2(1, 30));
  FAILS(close(1));
  FAILS(ftruncate(1, 0));
  FAILS(fsync(1));
  FAILS(select(2, NULL, &set, NULL, &(struct timeval){0, 0}));
  FAILS(send(1, "x", 1, 0));
  CHECK(!isatty(1) && errno == EBADF);
  CHECK(poll(&asked, 1, 0) == 1 && asked.revents == POLLNVAL);
  CHECK(printf("lost\n") < 0 || fflush(stdout) < 0);
  clearerr(stdout);
  CHECK(dup2(fd, 1) == 1);
  dprintf(1, "found\n");
  printf("and found\n");
  fflush(stdout);
  CHECK(leads_to(1, "replaced"));
  close(1);
  CHECK(dup2(save, 1) == 1);
  close(save);
  close(fd);
  say("closed: %s; replaced: %s", seen, content("replaced"));
}

/* The lowest that is free, at least among these. */
static void lowest(void)
{
  fflush(stdout);
  const int saves[3] = {fcntl(0, F_DUPFD, 60), fcntl(1, F_DUPFD, 60), fcntl(2, F_DUPFD, 60)};
  int ends[2], numbers[12], count = 0;
  close(0);
  numbers[count++] = open(path_of("lowest"), O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(write(0, "text\n", 5) == 5 && lseek(0, 0, SEEK_SET) == 0);
  char line[16] = "";
  CHECK(fgets(line, sizeof line, stdin) && strcmp(line, "text\n") == 0);
  close(0);
  close(2);
  CHECK(pipe(ends) == 0);
  numbers[count++] = ends[0];
  numbers[count++] = ends[1];
  CHECK(write(2, "through", 7) == 7 && read(0, line, sizeof line) == 7);
  close(0);
  close(2);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  numbers[count++] = ends[0];
  numbers[count++] = ends[1];
  CHECK(send(2, "socket", 6, 0) == 6 && recv(0, line, sizeof line, 0) == 6);
  close(0);
  numbers[count++] = dup(2);
  close(0);
  numbers[count++] = fcntl(2, F_DUPFD, 0);
  close(0);
  numbers[count++] = epoll_create1(0);
  close(0);
  DIR* directory = opendir(base);
  CHECK(directory);
  numbers[count++] = dirfd(directory);
  closedir(directory);
  numbers[count++] = socket(AF_INET, SOCK_DGRAM, 0);
  close(0);
  close(1);
  close(2);
  FILE* stream = fopen(path_of("lowest"), "r");
  numbers[count++] = fileno(stream);
  stream = freopen(path_of("lowest"), "w", stream);
  numbers[count++] = fileno(stream);
  fclose(stream);
  clearerr(stdin);
  for (int i = 0; i < 3; ++i) {
    CHECK(dup2(saves[i], i) == i);
    close(saves[i]);
  }
  char text[128] = "";
  for (int i = 0; i < count; ++i)
    sprintf(text + strlen(text), " %d", numbers[i]);
  say("lowest:%s", text);
}

static void streams(void)
{
  fflush(stdout);
  const int save = dup(1);
  CHECK(freopen(path_of("stream"), "w", stdout) == stdout && fileno(stdout) == 1);
  printf("by stdout\n");
  CHECK(write(1, "", 0) == 0);
  fflush(stdout);
  dprintf(1, "by its number\n");
  CHECK(system("echo by a child") == 0);
  const int in = fcntl(0, F_DUPFD, 60);
  close(0);
  FILE* second = fopen(path_of("second"), "w");
  CHECK(second && fileno(second) == 0);
  CHECK(freopen("/nonexistent/file", "w", second) == NULL);
  CHECK(write(0, "x", 1) < 0 && errno == EBADF);
  CHECK(open(path_of("second"), O_WRONLY | O_CREAT | O_TRUNC, 0600) == 0);
  second = fdopen(0, "w");
  CHECK(second && fileno(second) == 0 && fputs("second\n", second) >= 0 && fclose(second) == 0);
  CHECK(fcntl(0, F_GETFD) < 0);
  CHECK(dup2(in, 0) == 0 && close(in) == 0);
  CHECK(dup2(save, 1) == 1 && close(save) == 0);
  say("stream: %s", content("stream"));
  say("second: %s", content("second"));
}

static void flags(void)
{
  char seen[64] = "";
  const int fd = make_high("flags");
  sprintf(seen, "%d", fcntl(1, F_GETFD));
  CHECK(fcntl(2, F_SETFD, FD_CLOEXEC) == 0);
  sprintf(seen + strlen(seen), " %d", fcntl(2, F_GETFD));
  CHECK(fcntl(2, F_SETFD, 0) == 0);
  CHECK(dup3(fd, 40, O_CLOEXEC) == 40);
  sprintf(seen + strlen(seen), " %d", fcntl(40, F_GETFD));
  CHECK(dup2(fd, 40) == 40);
  sprintf(seen + strlen(seen), " %d", fcntl(40, F_GETFD));
  CHECK(dup3(fd, fd, 0) < 0 && errno == EINVAL);
  CHECK(dup2(fd, -1) < 0 && errno == EBADF);
  CHECK(dup2(-1, 1) < 0 && errno == EBADF && write(1, "", 0) == 0);
  CHECK(dup2(fd, fd) == fd);
  close(fd);
  close(40);
  say("flags: %s", seen);
}

static void waits(void)
{
  int ends[2];
  char line[32] = "", byte;
  const int saves[2] = {fcntl(0, F_DUPFD, 60), fcntl(1, F_DUPFD, 60)};
  fflush(stdout);
  CHECK(pipe(ends) == 0 && dup2(ends[0], 0) == 0 && dup2(ends[1], 1) == 1);
  close(ends[0]);
  close(ends[1]);
  struct pollfd asked[3] = {{0, POLLIN, 0}, {1, POLLOUT, 0}, {-1, POLLIN, 0}};
  fd_set in, out;
  const int watch = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = 77};
  CHECK(epoll_ctl(watch, EPOLL_CTL_ADD, 0, &event) == 0);
  CHECK(epoll_wait(watch, &event, 1, 0) == 0);
  CHECK(poll(asked, 3, 0) == 1 && asked[1].revents == POLLOUT);
  CHECK(poll(asked, 1, 10) == 0);
  printf("a line\n");
  fflush(stdout);
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_SET(0, &in);
  FD_SET(1, &out);
  CHECK(poll(asked, 3, 0) == 2 && asked[0].revents == POLLIN);
  CHECK(select(2, &in, &out, NULL, NULL) == 2 && FD_ISSET(0, &in) && FD_ISSET(1, &out));
  CHECK(epoll_wait(watch, &event, 1, -1) == 1 && event.data.u32 == 77);
  CHECK(read(0, line, sizeof line) == 7);
  FD_ZERO(&in);
  FD_SET(0, &in);
  CHECK(select(1, &in, NULL, NULL, &(struct timeval){0, 1000}) == 0 && !FD_ISSET(0, &in));
  CHECK(dup2(saves[1], 1) == 1);
  CHECK(read(0, &byte, 1) == 0); /* nobody can write any more */
  CHECK(dup2(saves[0], 0) == 0);
  close(saves[0]);
  close(saves[1]);
  close(watch);
  line[6] = '\0';
  say("waits: %s", line);
}

/* --- numbers of one's own choice ---------------------------------------------------------------------------------- */

static void chosen(void)
{
  static const int numbers[] = {10, 11, 50, 200};
  enum { count = sizeof numbers / sizeof *numbers };
  for (int i = 0; i < count; ++i) {
    char name[32];
    snprintf(name, sizeof name, "chosen-%d", numbers[i]);
    const int fd = make_high(name);
    CHECK(dup2(fd, numbers[i]) == numbers[i] && close(fd) == 0);
    CHECK(dprintf(numbers[i], "%d of %d\n", numbers[i], peer) > 0);
  }
  meet(meeting, peers);
  for (int i = 0; i < count; ++i) {
    char name[32], text[64] = "", expected[64];
    const int fd = numbers[i];
    snprintf(name, sizeof name, "chosen-%d", fd);
    const int size = snprintf(expected, sizeof expected, "%d of %d\n", fd, peer);
    CHECK(leads_to(fd, name));
    CHECK(pread(fd, text, sizeof text, 0) == size && strcmp(text, expected) == 0);
    CHECK(lseek(fd, 1, SEEK_SET) == 1 && lseek(fd, 0, SEEK_CUR) == 1);
    struct iovec part = {text, sizeof text};
    CHECK(preadv(fd, &part, 1, 0) == size);
    char* mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(mapped != MAP_FAILED && strncmp(mapped, expected, (size_t)size) == 0);
    munmap(mapped, 4096);
    const int copy = make_high("copy");
    CHECK(dup2(copy, 12) == 12);
    off_t from = 0;
    CHECK(sendfile(12, fd, &from, (size_t)size) == size);
    CHECK(copy_file_range(fd, &(off64_t){0}, 12, NULL, (size_t)size, 0) == size);
    CHECK(lseek(copy, 0, SEEK_CUR) == 2 * size);
    close(copy);
    close(12);
    char link[64], target[256] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    CHECK(readlink(link, target, sizeof target - 1) > 0 && strcmp(target, path_of(name)) == 0);
    FILE* stream = fdopen(fd, "r+");
    CHECK(stream && fileno(stream) == fd && fseek(stream, 0, SEEK_END) == 0);
    fprintf(stream, "more\n");
    CHECK(fclose(stream) == 0);
    CHECK(fcntl(fd, F_GETFD) < 0 && errno == EBADF);
    CHECK(write(fd, "x", 1) < 0 || !emulated); /* natively nothing else is there, either */
    say("chosen: %s", content(name));
  }
  meet(meeting, peers);
}

static void directories(void)
{
  const int fd = high(open(base, O_RDONLY | O_DIRECTORY));
  CHECK(dup2(fd, 13) == 13 && close(fd) == 0);
  char name[32];
  struct stat status;
  snprintf(name, sizeof name, "%d-below", peer);
  const int below = openat(13, name, O_CREAT | O_RDWR, 0600);
  CHECK(below >= 0 && fstatat(13, name, &status, 0) == 0 && faccessat(13, name, R_OK, 0) == 0);
  close(below);
  CHECK(unlinkat(13, name, 0) == 0);
  DIR* directory = fdopendir(13);
  CHECK(directory && dirfd(directory) == 13 && readdir(directory) && closedir(directory) == 0);
  CHECK(fcntl(13, F_GETFD) < 0);
}

/* Peer 0 closes all there may be; what the others have open goes on. */
static void closed_by_others(void)
{
  const int fd = peer == 0 ? -1 : make_high("kept");
  int ends[2] = {-1, -1};
  if (peer != 0)
    CHECK(dup2(fd, 20) == 20 &&
          pipe(ends) == 0); /* which may be 20 otherwise: ranks of a process use each other's numbers up */
  meet(meeting, peers);
  if (peer == 0) {
    report = 2;
    for (int i = 3; i < 1024; ++i)
      close(i);
  }
  meet(meeting, peers);
  if (peer == 0) {
    int opened = 0;
    for (int i = 3; i < 1024; ++i)
      opened += fcntl(i, F_GETFD) >= 0;
    CHECK(opened == 0);
    closefrom(3);
    close_range(3, ~0U, 0);
  }
  meet(meeting, peers);
  if (peer != 0) {
    char byte = 0;
    CHECK(write(fd, "kept", 4) == 4 && write(20, " and kept", 9) == 9);
    CHECK(write(ends[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 1 && byte == 'x');
    close(fd);
    close(20);
    close(ends[0]);
    close(ends[1]);
    say("others: %s", content("kept"));
  }
  report = high(dup(2));
}

/* --- children ----------------------------------------------------------------------------------------------------- */

static void wait_for(pid_t child)
{
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void children(void)
{
  fflush(stdout);
  const int saves[3] = {fcntl(0, F_DUPFD, 60), fcntl(1, F_DUPFD, 60), fcntl(2, F_DUPFD, 60)};
  const int in = make_high("in"), out = make_high("out"), nine = make_high("nine");
  CHECK(write(in, "input\n", 6) == 6 && lseek(in, 0, SEEK_SET) == 0);
  CHECK(dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2 && dup2(nine, 9) == 9 &&
        dup3(nine, 8, O_CLOEXEC) == 8);
  CHECK(system("read line; echo system has $line; echo nine by system >&9; (echo >&8) 2>/dev/null || echo no eight") ==
        0);
  FILE* stream = popen("cat; echo popen >&2", "w");
  CHECK(stream && fputs("to popen\n", stream) >= 0);
  CHECK(pclose(stream) == 0);
  stream = popen("echo from popen", "r");
  char line[64] = "";
  CHECK(stream && fgets(line, sizeof line, stream) && pclose(stream) == 0);
  dprintf(1, "%s", line);
  pid_t child = fork();
  if (child == 0) {
    dprintf(1, "by a child\n");
    printf("by its stream\n");
    fflush(stdout);
    execl("/bin/sh", "sh", "-c",
          "echo fork and exec; echo to stderr >&2; echo nine by exec >&9; (echo >&8) 2>/dev/null || echo no eight",
          NULL);
    _exit(1);
  }
  wait_for(child);
  close(0); /* a child has none, either */
  child = fork();
  if (child == 0)
    _exit(fcntl(0, F_GETFD) >= 0 || errno != EBADF || open("/dev/null", O_RDONLY) != 0);
  wait_for(child);
  char* const argv[] = {
      "sh", "-c", "echo spawn; echo nine by spawn >&9; { : <&0; } 2>/dev/null || echo no stdin; echo five >&5", NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, 1, 5);
  CHECK(posix_spawn(&child, "/bin/sh", &actions, NULL, argv, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  wait_for(child);
  for (int i = 0; i < 3; ++i)
    CHECK(dup2(saves[i], i) == i && close(saves[i]) == 0);
  close(in);
  close(out);
  close(nine);
  close(9);
  close(8);
  say("children: %s", content("out"));
  say("nine: %s", content("nine"));
}

/* A child has nothing of another process: its pipe ends when its parent closes the other end. */
static void ends_of_pipes(void)
{
  int ends[2];
  CHECK(pipe(ends) == 0);
  meet(meeting, peers);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    close(ends[1]);
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  meet(meeting, peers);
  close(ends[1]);
  wait_for(child);
  close(ends[0]);
}

/* What others open where a process has nothing, again and again, it never sees. */
static void not_there(void)
{
  const int fd = make_high("there");
  meet(meeting, peers);
  for (int i = 0; i < 20000; ++i)
    if (peer % 2 == 0)
      CHECK(dup2(fd, 30) == 30 && close(30) == 0);
    else
      CHECK(lseek(30, 0, SEEK_CUR) < 0 && close(30) < 0 && dup2(30, fd) < 0 && errno == EBADF);
  close(fd);
  meet(meeting, peers);
}

/* --- many, against a model ---------------------------------------------------------------------------------------- */

static void many(void)
{
  enum { files = 5, numbers = 14, steps = 1500 };
  static const int domain[numbers] = {0, 1, 2, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  int source[files], model[numbers], saves[3];
  fflush(stdout);
  for (int i = 0; i < 3; ++i)
    saves[i] = fcntl(i, F_DUPFD, 60);
  for (int i = 0; i < files; ++i) {
    char name[32];
    snprintf(name, sizeof name, "many-%d", i);
    source[i] = make_high(name);
  }
  for (int i = 0; i < numbers; ++i) {
    close(domain[i]);
    model[i] = -1;
  }
  unsigned state = 7 + (unsigned)peer;
  for (int step = 0; step < steps; ++step) {
    state = state * 1103515245 + 12345;
    const unsigned random = state >> 8;
    const int at = (int)(random / 8 % numbers), file = (int)(random / 256 % files);
    if (random % 8 < 4) {
      CHECK(dup2(source[file], domain[at]) == domain[at]);
      model[at] = file;
    } else if (random % 8 < 6) {
      CHECK((close(domain[at]) == 0) == (model[at] >= 0));
      model[at] = -1;
    } else {
      const int other = (int)(random / 2048 % numbers);
      CHECK((dup2(domain[other], domain[at]) == domain[at]) == (model[other] >= 0));
      if (model[other] >= 0)
        model[at] = model[other];
    }
    char name[32];
    if (model[0] < 0 || model[1] < 0 || model[2] < 0) {
      const int lowest_free = model[0] < 0 ? 0 : model[1] < 0 ? 1 : 2;
      snprintf(name, sizeof name, "many-%d", file);
      CHECK(open(path_of(name), O_RDWR) == lowest_free);
      model[lowest_free] = file;
    }
    for (int i = 0; i < numbers; ++i) {
      struct stat status;
      snprintf(name, sizeof name, "many-%d", model[i]);
      CHECK(model[i] >= 0 ? leads_to(domain[i], name) : fstat(domain[i], &status) < 0 && errno == EBADF);
    }
    if (step % 50 == 0)
      usleep(1);
  }
  for (int i = 0; i < numbers; ++i)
    close(domain[i]);
  for (int i = 0; i < 3; ++i)
    CHECK(dup2(saves[i], i) == i && close(saves[i]) == 0);
  for (int i = 0; i < files; ++i)
    close(source[i]);
  say("many: as the model says");
}

/* What a process has open ends with it. */
static void end_of_peer(void)
{
  char* path = (char*)meeting + 1024;
  if (peer == 0) {
    snprintf(path, 128, "%s-fifo", base);
    CHECK(mkfifo(path, 0600) == 0);
  }
  meet(meeting, peers);
  if (peer == 0) {
    const int fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && dup2(fd, 2) == 2 && dup2(fd, 14) == 14 && write(14, "to the end", 10) == 10);
  } else if (peer == 1) {
    char text[32] = "";
    size_t size = 0;
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && unlink(path) == 0);
    for (ssize_t n; (n = read(fd, text + size, sizeof text - size)) != 0; size += (size_t)n)
      CHECK(n > 0);
    say("end: %s", text);
    shm_unlink(name_of("descriptors"));
  }
}

int main(int argc, char** argv)
{
  if (argc < 2)
    return 2;
  peers = atoi(argv[1]);
  become_peers(peers);
  meeting = common_memory("descriptors", 4096);
  strcpy(base, "/tmp/umwelt-descriptors-XXXXXX");
  CHECK(mkdtemp(base));
  report = high(dup(2));
  redirected();
  closed_and_replaced();
  lowest();
  flags();
  waits();
  meet(meeting, peers);
  chosen();
  directories();
  closed_by_others();
  children();
  ends_of_pipes();
  not_there();
  many();
  streams();
  fflush(stdout);
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", base);
  CHECK(system(command) == 0);
  meet(meeting, peers);
  end_of_peer();
  return 0;
}
