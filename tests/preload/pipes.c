// SPDX-License-Identifier: LGPL-2.1-or-later
// Pipes, FIFOs and sockets of the node: between threads, between a process and its children, and as `pipes peers
// DIRECTORY` between ranks: two of a node talk, a third one on another node cannot.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char directory[] = "/tmp/umwelt-pipes-XXXXXX";
static const char* where = directory;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char* below(const char* name)
{
  static _Thread_local char path[108];
  snprintf(path, sizeof path, "%s/%s", where, name);
  return path;
}

#define say(...)                                                                                                       \
  do {                                                                                                                 \
    errno = 0;                                                                                                         \
    const long result = (long)(__VA_ARGS__);                                                                           \
    printf("%s: %ld %s\n", #__VA_ARGS__, result, result < 0 ? strerror(errno) : "");                                   \
  } while (0)

enum { large = 1 << 20 };

static size_t take(int fd, size_t size) // what is missing at the end
{
  unsigned char data[10000];
  for (ssize_t n; size > 0 && (n = read(fd, data, size < sizeof data ? size : sizeof data)) > 0;)
    size -= (size_t)n;
  return size;
}

struct work {
  int fd;
  const char* path;
};

static void* write_much(void* argument)
{
  const struct work* work = argument;
  char* data = calloc(1, large);
  usleep(20000);
  const int fd = work->path ? open(work->path, O_WRONLY) : work->fd;
  const ssize_t first = write(fd, data, large / 2);
  struct iovec parts[2] = {{data, large / 4}, {data, large / 4}};
  const ssize_t second = writev(fd, parts, 2);
  close(fd);
  free(data);
  return (void*)(first + second);
}

static void much(int in, int out, const char* path)
{
  struct work work = {out, path};
  pthread_t thread;
  void* written;
  pthread_create(&thread, NULL, write_much, &work);
  const int fd = path ? open(path, O_RDONLY) : in;
  const size_t left = take(fd, large);
  pthread_join(thread, &written);
  char byte;
  printf("written %ld, left %zu, then %zd\n", (long)written, left, read(fd, &byte, 1));
  close(fd);
}

static void* write_late(void* argument)
{
  const struct work* work = argument;
  usleep(50000);
  const uint64_t one = 1;
  if (write(work->fd, &one, sizeof one) != sizeof one)
    perror("write");
  return NULL;
}

static void waits(void)
{
  int ends[2];
  pipe(ends);
  const int event = eventfd(0, 0);
  const int set = epoll_create1(0);
  struct epoll_event wanted = {EPOLLIN, {.fd = event}}, found;
  epoll_ctl(set, EPOLL_CTL_ADD, event, &wanted);
  struct work work = {ends[1], NULL};
  pthread_t thread;
  struct pollfd descriptor = {ends[0], POLLIN, 0};
  uint64_t value = 0;

  double begin = now();
  pthread_create(&thread, NULL, write_late, &work);
  say(poll(&descriptor, 1, -1));
  printf("after its time %d\n", now() - begin >= 0.05);
  pthread_join(thread, NULL);
  say(read(ends[0], &value, sizeof value));
  begin = now();
  pthread_create(&thread, NULL, write_late, &work);
  fd_set in;
  FD_ZERO(&in);
  FD_SET(ends[0], &in);
  say(select(ends[0] + 1, &in, NULL, NULL, NULL));
  printf("after its time %d\n", now() - begin >= 0.05);
  pthread_join(thread, NULL);
  say(read(ends[0], &value, sizeof value));
  work.fd = event;
  begin = now();
  pthread_create(&thread, NULL, write_late, &work);
  say(epoll_wait(set, &found, 1, -1));
  printf("after its time %d\n", now() - begin >= 0.05);
  pthread_join(thread, NULL);
  say(read(event, &value, sizeof value));
  begin = now();
  pthread_create(&thread, NULL, write_late, &work);
  say(read(event, &value, sizeof value));
  printf("after its time %d\n", now() - begin >= 0.05);
  pthread_join(thread, NULL);
  begin = now();
  say(poll(&descriptor, 1, 30));
  printf("not before %d\n", now() - begin >= 0.03);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  say(read(ends[0], &value, sizeof value));
  close(ends[1]);
  say(read(ends[0], &value, sizeof value));
  say(write(ends[0], &value, sizeof value));
  close(ends[0]);
  close(event);
  close(set);
}

// Among others that do the same, only peers mean the same name.
static socklen_t abstract(struct sockaddr_un* name, const char* text)
{
  memset(name, 0, sizeof *name);
  name->sun_family = AF_UNIX;
  const int length =
      snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "%s-%d", text, where == directory ? (int)getpid() : 0);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) + (socklen_t)length;
}

static socklen_t named(struct sockaddr_un* name, const char* text)
{
  memset(name, 0, sizeof *name);
  name->sun_family = AF_UNIX;
  strcpy(name->sun_path, below(text));
  return sizeof *name;
}

struct server {
  struct sockaddr_un name;
  socklen_t length;
  int type;
};

static int send_descriptor(int fd, int passed)
{
  char byte = 'd';
  struct iovec part = {&byte, 1};
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr head;
  } control;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  memset(&control, 0, sizeof control);
  control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.head), &passed, sizeof passed);
  return (int)sendmsg(fd, &message, 0);
}

static int receive_descriptor(int fd)
{
  char byte;
  struct iovec part = {&byte, 1};
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr head;
  } control;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  int passed = -1;
  if (recvmsg(fd, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
    memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof passed);
  return passed;
}

static void* be_client(void* argument)
{
  const struct server* server = argument;
  usleep(20000);
  const int fd = socket(AF_UNIX, server->type, 0);
  if (connect(fd, (const struct sockaddr*)&server->name, server->length) != 0)
    perror("connect");
  char data[9000];
  memset(data, 'x', sizeof data);
  if (send(fd, data, sizeof data, 0) != sizeof data)
    perror("send");
  int ends[2];
  pipe(ends);
  send_descriptor(fd, ends[0]);
  if (write(ends[1], "through the other", 17) != 17)
    perror("write");
  close(ends[0]);
  close(ends[1]);
  usleep(20000);
  if (write(fd, "end", 3) != 3)
    perror("write");
  close(fd);
  return NULL;
}

static void serve(struct server* server)
{
  const int listening = socket(AF_UNIX, server->type, 0);
  printf("bind %d\n", bind(listening, (struct sockaddr*)&server->name, server->length));
  struct sockaddr_un name = {0};
  socklen_t length = sizeof name;
  printf("getsockname %d", getsockname(listening, (struct sockaddr*)&name, &length));
  printf(" %d %d\n", name.sun_path[0] == server->name.sun_path[0],
         strcmp(name.sun_path + 1, server->name.sun_path + 1) == 0);
  say(listen(listening, 1));
  pthread_t thread;
  pthread_create(&thread, NULL, be_client, server);
  const int fd = accept(listening, (struct sockaddr*)&name, &length);
  char data[10000];
  say(recv(fd, data, 9000, MSG_WAITALL));
  const int passed = receive_descriptor(fd);
  printf("passed %d\n", passed >= 0);
  const ssize_t size = read(passed, data, sizeof data);
  printf("%.*s\n", (int)size, data);
  close(passed);
  say(read(fd, data, sizeof data));
  say(recv(fd, data, sizeof data, 0));
  pthread_join(thread, NULL);
  close(fd);
  close(listening);
}

static void sockets(void)
{
  struct server server = {.type = SOCK_STREAM};
  server.length = abstract(&server.name, "umwelt-pipes");
  serve(&server);
  server.length = named(&server.name, "socket");
  serve(&server);
  unlink(below("socket"));
  server.type = SOCK_SEQPACKET;
  server.length = abstract(&server.name, "umwelt-packets");
  serve(&server);

  // datagrams, whole and in order; a full queue waits
  const int one = socket(AF_UNIX, SOCK_DGRAM, 0), two = socket(AF_UNIX, SOCK_DGRAM, 0);
  struct sockaddr_un name, from;
  socklen_t length = abstract(&name, "umwelt-datagrams");
  say(bind(one, (struct sockaddr*)&name, length));
  struct sockaddr_un automatic = {.sun_family = AF_UNIX};
  say(bind(two, (struct sockaddr*)&automatic, sizeof(sa_family_t)));
  socklen_t got = sizeof from;
  say(getsockname(two, (struct sockaddr*)&from, &got));
  printf("%u\n", (unsigned)got - (unsigned)offsetof(struct sockaddr_un, sun_path));
  char data[9000] = "";
  int sent = 0;
  while (sent < 10000 && sendto(two, data, 5000, MSG_DONTWAIT, (struct sockaddr*)&name, length) == 5000)
    ++sent;
  printf("full %d\n", sent > 0 && errno == EAGAIN);
  const struct timeval limit = {0, 30000};
  setsockopt(two, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  double begin = now();
  say(sendto(two, data, 5000, 0, (struct sockaddr*)&name, length));
  printf("not before %d\n", now() - begin >= 0.03);
  for (int i = 0; i < sent; ++i)
    if (recv(one, data, sizeof data, 0) != 5000)
      puts("not whole");
  got = sizeof from;
  say(sendto(two, data, 7, 0, (struct sockaddr*)&name, length));
  say(recvfrom(one, data, sizeof data, 0, (struct sockaddr*)&from, &got));
  say(sendto(one, data, 8, 0, (struct sockaddr*)&from, got)); // and back
  say(recv(two, data, sizeof data, 0));
  setsockopt(one, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  begin = now();
  say(recv(one, data, sizeof data, 0));
  printf("not before %d\n", now() - begin >= 0.03);
  close(one);
  close(two);

  int ends[2];
  say(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
  say(write(ends[0], data, 9000));
  say(write(ends[0], data, 5));
  say(read(ends[1], data, sizeof data));
  say(read(ends[1], data, sizeof data));
  say(send_descriptor(ends[0], 1));
  const int out = receive_descriptor(ends[1]);
  say(write(out, "standard output\n", 16));
  close(out);
  close(ends[0]);
  say(read(ends[1], data, sizeof data));
  close(ends[1]);
  const int lost = socket(AF_UNIX, SOCK_STREAM, 0);
  length = abstract(&name, "umwelt-nobody");
  say(connect(lost, (struct sockaddr*)&name, length));
  length = named(&name, "nobody");
  say(connect(lost, (struct sockaddr*)&name, length));
  say(connect(lost, NULL, 0));
  say(accept(lost, NULL, NULL));
  close(lost);
}

static void* print_lines(void* argument)
{
  const struct work* work = argument;
  usleep(20000);
  FILE* stream = work->path ? fopen(work->path, "w") : fdopen(work->fd, "w");
  fprintf(stream, "a line\n");
  fflush(stream);
  usleep(20000);
  fprintf(stream, "another one\n");
  fclose(stream);
  return NULL;
}

static void fifos(void)
{
  say(mkfifo(below("fifo"), 0600));
  char path[108];
  strcpy(path, below("fifo"));
  much(-1, -1, path);
  struct work work = {-1, path};
  pthread_t thread;
  char line[64] = "";
  pthread_create(&thread, NULL, print_lines, &work);
  FILE* stream = fopen(path, "r");
  printf("fileno %d\n", fileno(stream) > 2);
  while (fgets(line, sizeof line, stream))
    printf("%s", line);
  printf("end %d %d\n", feof(stream), ferror(stream));
  pthread_join(thread, NULL);
  say(fclose(stream));
  int ends[2];
  pipe(ends);
  work = (struct work){ends[1], NULL};
  pthread_create(&thread, NULL, print_lines, &work);
  printf("for writing %d\n", fdopen(ends[0], "w") == NULL && errno == EINVAL);
  stream = fdopen(ends[0], "r");
  while (fscanf(stream, "%63s", line) == 1)
    printf("[%s]", line);
  pthread_join(thread, NULL);
  say(fclose(stream));
  printf("closed %d\n", fcntl(ends[0], F_GETFD) < 0);
  say(open(path, O_WRONLY | O_NONBLOCK));
  const int fd = open(path, O_RDONLY | O_NONBLOCK);
  printf("without waiting %d\n", fd >= 0);
  char byte;
  say(read(fd, &byte, 1));
  close(fd);
  unlink(path);
}

// A filter as a child, written to and read from.
static void both_ways(const char* how)
{
  int to[2], from[2];
  char answer[64] = "";
  pipe2(to, O_CLOEXEC);
  pipe2(from, O_CLOEXEC);
  pid_t child = -1;
  char* argv[] = {(char*)"tr", (char*)"a-z", (char*)"A-Z", NULL};
  fflush(stdout);
  if (strcmp(how, "fork") == 0) {
    child = fork();
    if (child == 0) {
      dup2(to[0], 0);
      dup2(from[1], 1);
      execvp("tr", argv);
      _exit(127);
    }
  } else {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    extern char** environ;
    if (posix_spawnp(&child, "tr", &actions, NULL, argv, environ) != 0)
      perror("posix_spawnp");
    posix_spawn_file_actions_destroy(&actions);
  }
  close(to[0]);
  close(from[1]);
  if (write(to[1], "a question", 10) != 10)
    perror("write");
  close(to[1]);
  const ssize_t size = read(from[0], answer, sizeof answer);
  int status = -1;
  waitpid(child, &status, 0);
  printf("%s: %.*s %d, then %zd\n", how, (int)size, answer, status, read(from[0], answer, sizeof answer));
  close(from[0]);
}

static void children(void)
{
  both_ways("fork");
  both_ways("posix_spawn");
  FILE* stream = popen("echo from popen; exit 3", "r");
  char line[64];
  printf("%s", fgets(line, sizeof line, stream));
  printf("pclose %d\n", pclose(stream));
  fflush(stdout);
  stream = popen("cat", "w");
  fprintf(stream, "to popen\n");
  printf("pclose %d\n", pclose(stream));
  printf("system %d\n", system("exit 5"));
  // once there is no child, waits are those of threads again
  int ends[2];
  pipe(ends);
  much(ends[0], ends[1], NULL);
}

// Rank 0 and 1 are on one node, 2 on another; each waits for what another does a second later.
static int peers(int rank)
{
  char byte = 0;
  int failures = 0;
  const double begin = now();
  struct sockaddr_un name, other;
  socklen_t length = abstract(&name, "umwelt-peers");
  if (rank == 0) {
    mkfifo(below("to"), 0600);
    const int fd = open(below("to"), O_RDONLY);
    failures += read(fd, &byte, 1) != 1 || byte != 'w';
    printf("read after %.3f s\n", now() - begin);
    failures += read(fd, &byte, 1) != 0;
    printf("end after %.3f s\n", now() - begin);
    close(fd);
    const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    failures += bind(listening, (struct sockaddr*)&name, length) != 0;
    listen(listening, 1);
    socklen_t size = sizeof other;
    const int connection = accept(listening, (struct sockaddr*)&other, &size);
    printf("accept after %.3f s\n", now() - begin);
    usleep(500000);
    failures += take(connection, large) != 0;
    printf("all after %.3f s\n", now() - begin);
    const int passed = receive_descriptor(connection);
    failures += read(passed, &byte, 1) != 1 || byte != 'p';
    printf("passed after %.3f s\n", now() - begin);
    struct pollfd descriptor = {connection, POLLIN, 0};
    failures += poll(&descriptor, 1, -1) != 1 || read(connection, &byte, 1) != 0;
    printf("closed after %.3f s\n", now() - begin);
    close(passed);
    close(connection);
    close(listening);
    unlink(below("to"));
  } else if (rank == 1) {
    usleep(1000000);
    const int fd = open(below("to"), O_WRONLY);
    usleep(1000000);
    failures += write(fd, "w", 1) != 1;
    usleep(1000000);
    close(fd);
    usleep(1000000);
    const int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    failures += connect(connection, (struct sockaddr*)&name, length) != 0;
    char* data = calloc(1, large);
    failures += write(connection, data, large) != large; // more than fits: until the other reads
    free(data);
    printf("written after %.3f s\n", now() - begin);
    int ends[2];
    pipe(ends);
    usleep(1000000);
    send_descriptor(connection, ends[0]);
    usleep(1000000);
    failures += write(ends[1], "p", 1) != 1;
    usleep(1000000);
    close(connection);
    close(ends[0]);
    close(ends[1]);
  } else {
    usleep(4500000);
    const int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    failures += connect(connection, (struct sockaddr*)&name, length) == 0 || errno != ECONNREFUSED;
    failures += bind(connection, (struct sockaddr*)&name, length) != 0; // the name is free here
    close(connection);
  }
  printf("%d failures\n", failures);
  return failures;
}

int main(int argc, char** argv)
{
  signal(SIGPIPE, SIG_IGN);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc > 2) {
    where = argv[2];
    return peers(atoi(getenv("OMPI_COMM_WORLD_RANK")));
  }
  if (!mkdtemp(directory))
    return 2;
  int ends[2];
  pipe(ends);
  much(ends[0], ends[1], NULL);
  waits();
  fifos();
  sockets();
  children();
  rmdir(directory);
  return 0;
}
