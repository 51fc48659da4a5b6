// SPDX-License-Identifier: LGPL-2.1-or-later
// The file mode mask and the number of descriptors that a process may open are its own. `limits peers`: as ranks of one
// process, of which only the first changes its own.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/umwelt-limits-XXXXXX";

static const char* below(const char* name)
{
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static unsigned mode_of(const char* name)
{
  struct stat status;
  return stat(below(name), &status) == 0 ? status.st_mode & 07777 : 0;
}

static void masks(void)
{
  printf("umask %o\n", umask(027));
  close(open(below("a"), O_CREAT | O_WRONLY, 0666));
  mkdir(below("b"), 0777);
  printf("%o %o\n", mode_of("a"), mode_of("b"));
  printf("umask %o\n", umask(07070));
  FILE* stream = fopen(below("c"), "w");
  fclose(stream);
  printf("%o\n", mode_of("c"));
  if (fork() == 0) {
    close(open(below("d"), O_CREAT | O_WRONLY, 0666));
    umask(0);
    _exit(0);
  }
  wait(NULL);
  printf("%o\n", mode_of("d"));
  char command[256];
  snprintf(command, sizeof command, "umask; > %s", below("e"));
  fflush(stdout);
  system(command);
  printf("%o\n", mode_of("e"));
  printf("umask %o\n", umask(022));
  for (const char* name = "acde"; *name; ++name)
    unlink(below((char[]){*name, '\0'}));
  rmdir(below("b"));
}

#define refused(...)                                                                                                   \
  do {                                                                                                                 \
    errno = 0;                                                                                                         \
    const long result = (long)(__VA_ARGS__);                                                                           \
    printf("%s: %s\n", #__VA_ARGS__, result == -1 || result == 0 ? strerror(errno) : "is not refused");                \
  } while (0)

static void descriptors(void)
{
  struct rlimit limit, before;
  getrlimit(RLIMIT_NOFILE, &before);
  printf("%d %d\n", before.rlim_cur == (rlim_t)sysconf(_SC_OPEN_MAX), before.rlim_cur == (rlim_t)getdtablesize());
  limit = (struct rlimit){64, before.rlim_max};
  printf("setrlimit %d\n", setrlimit(RLIMIT_NOFILE, &limit));
  getrlimit(RLIMIT_NOFILE, &limit);
  printf("%ld %d\n", (long)limit.rlim_cur, limit.rlim_max == before.rlim_max);
  printf("%ld\n", sysconf(_SC_OPEN_MAX));
  limit = (struct rlimit){65, 64};
  refused(setrlimit(RLIMIT_NOFILE, &limit));

  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
  socklen_t length = sizeof address;
  bind(listening, (struct sockaddr*)&address, length);
  listen(listening, 5);
  getsockname(listening, (struct sockaddr*)&address, &length);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  printf("connect %d\n", connect(client, (struct sockaddr*)&address, length));

  int fds[64], count = 0;
  while (count < 64 && (fds[count] = open("/dev/null", O_RDONLY)) >= 0)
    ++count;
  printf("%d %s\n", count > 32 && count <= 59, strerror(errno));
  int ends[2];
  char pattern[128];
  snprintf(pattern, sizeof pattern, "%s", below("tXXXXXX"));
  refused(open(below("new"), O_CREAT | O_RDWR, 0600));
  printf("made %d\n", access(below("new"), F_OK) == 0);
  refused(creat(below("new"), 0600));
  refused(openat(AT_FDCWD, "/", O_RDONLY));
  refused(fopen("/dev/null", "r"));
  refused(opendir("/"));
  refused(mkstemp(pattern));
  refused(dup(0));
  refused(fcntl(0, F_DUPFD_CLOEXEC, 3));
  refused(fcntl(0, F_DUPFD, 64));
  refused(pipe(ends));
  refused(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  refused(socket(AF_UNIX, SOCK_STREAM, 0));
  refused(socket(AF_INET, SOCK_STREAM, 0));
  refused(accept(listening, NULL, NULL));
  refused(eventfd(0, 0));
  refused(epoll_create1(0));
  refused(inotify_init());
  refused(timerfd_create(CLOCK_MONOTONIC, 0));
  refused(shm_open("/umwelt-limits", O_CREAT | O_RDWR, 0600));
  printf("dup2 %d\n", dup2(fds[0], fds[1]) == fds[1]); // takes no new one
  close(fds[--count]);
  refused(pipe(ends));
  FILE* stream = fopen("/dev/null", "r");
  printf("fopen %d\n", stream != NULL);
  fclose(stream);
  DIR* entries = opendir("/");
  printf("opendir %d\n", entries != NULL);
  closedir(entries);
  const int accepted = accept(listening, NULL, NULL);
  printf("accept %d\n", accepted >= 0);
  close(accepted);
  close(fds[--count]);
  printf("pipe %d\n", pipe(ends));
  close(ends[0]);
  close(ends[1]);
  stream = popen("echo popen", "r"); // and the C library closes it by itself
  printf("%d\n", stream != NULL);
  char line[16] = "";
  if (stream) {
    fgets(line, sizeof line, stream);
    pclose(stream);
  }
  printf("%s", line);
  while (count > 0)
    close(fds[--count]);
  printf("setrlimit %d\n", setrlimit(RLIMIT_NOFILE, &before));
  close(client);
  close(listening);
}

// Programs that do not know what they have open close everything.
static void everything(void)
{
  struct stat status;
  const int one = open("/dev/null", O_RDONLY), two = dup(one);
  printf("close_range %d\n", close_range((unsigned)one, (unsigned)one, 0));
  printf("%d %d\n", fstat(one, &status), fstat(two, &status));
  closefrom(3);
  printf("%d\n", fstat(two, &status));
  refused(close(two));
  refused(close_range(5, 4, 0));
  for (int fd = 3; fd < 1000; ++fd)
    close(fd);
  const int again = open("/dev/null", O_RDONLY);
  printf("%d\n", again >= 3);
  close(again);
}

// The first closes everything and uses up what it has; the others have what they had.
static int peers(int rank)
{
  int failures = 0;
  struct rlimit limit;
  if (rank == 0) {
    umask(0);
    everything();
  }
  usleep(1000);
  getrlimit(RLIMIT_NOFILE, &limit);
  int count = 0, last = -1;
  if (rank == 0)
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0; last = fd)
      ++count;
  const int error = errno;
  usleep(1000);
  if (rank == 0) {
    failures += error != EMFILE || count > (int)limit.rlim_cur - 3 || count < (int)limit.rlim_cur - 64;
    failures += umask(0) != 0;
  } else {
    const int fd = open(below("mine"), O_CREAT | O_WRONLY, 0666);
    failures += fd < 0 || mode_of("mine") != 0644;
    close(fd);
    unlink(below("mine"));
    failures += system("exit 3") != 3 << 8; // needs some, too
  }
  usleep(1000);
  close(last);
  printf("%d failures, %d opened\n", failures, count > 0);
  return failures;
}

int main(int argc, char** argv)
{
  (void)argv;
  if (!mkdtemp(directory))
    return 2;
  int status = 0;
  if (argc > 1) {
    status = peers(atoi(getenv("OMPI_COMM_WORLD_RANK")));
  } else {
    masks();
    descriptors();
    everything();
  }
  rmdir(directory);
  return status;
}
