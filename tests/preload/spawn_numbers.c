/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Children of posix_spawn, popen and system have the descriptors of their parent by its numbers, however many it has
 * chosen itself, and nothing else; and making them disturbs nobody who writes meanwhile.
 *
 *   spawn_numbers            all of it
 *   spawn_numbers child ...  what a child looks at: pairs of a number and an inode, and no others from 3 to 250 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

enum { most = 250 };

static char self[4096];
static int files[2];
static unsigned long inodes[2];

static void must(int holds, const char* what)
{
  if (holds)
    return;
  printf("FAILED: %s (%s)\n", what, strerror(errno));
  fflush(stdout);
  exit(1);
}

static unsigned long inode_of(int fd)
{
  struct stat status;
  return fstat(fd, &status) == 0 ? (unsigned long)status.st_ino : 0;
}

static int look(int count, char** pairs)
{
  unsigned long expected[most] = {0};
  for (int i = 0; i + 1 < count; i += 2)
    expected[atoi(pairs[i])] = strtoul(pairs[i + 1], NULL, 10);
  int bad = 0;
  for (int fd = 3; fd < most; ++fd)
    if (inode_of(fd) != expected[fd]) {
      printf("FAILED: a child has inode %lu by %d, expected %lu\n", inode_of(fd), fd, expected[fd]);
      ++bad;
    }
  return bad != 0;
}

/* What the child is to have. */
static unsigned long has[most];

static void check(const posix_spawn_file_actions_t* actions, const char* what)
{
  char text[2 * most][24];
  char* argv[2 * most + 4] = {self, "child"};
  int count = 2;
  for (int fd = 3; fd < most; ++fd)
    if (has[fd]) {
      snprintf(text[count], sizeof text[0], "%d", fd);
      snprintf(text[count + 1], sizeof text[0], "%lu", has[fd]);
      argv[count] = text[count];
      argv[count + 1] = text[count + 1];
      count += 2;
    }
  pid_t child;
  int status = -1;
  must(posix_spawn(&child, self, actions, NULL, argv, environ) == 0, what);
  must(waitpid(child, &status, 0) == child && status == 0, what);
  printf("%s: as expected\n", what);
  fflush(stdout);
}

static void set(int number, int which, int flags)
{
  must(dup3(files[which], number, flags) == number, "dup3");
  has[number] = flags ? 0 : inodes[which];
}

static void numbers(void)
{
  for (int n = 10; n < 60; ++n)
    set(n, n % 2, n % 5 == 0 ? O_CLOEXEC : 0);
  check(NULL, "numbers of the program's own choice");
  for (int n = 10; n < 59; ++n) { /* each where the next was */
    const int next = fcntl(n + 1, F_DUPFD_CLOEXEC, 100);
    must(dup2(next, n) == n && close(next) == 0, "dup2");
    has[n] = inodes[(n + 1) % 2];
  }
  check(NULL, "exchanged");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  set(30, 0, O_CLOEXEC);
  set(31, 1, O_CLOEXEC);
  set(32, 0, O_CLOEXEC);
  set(33, 0, 0);
  posix_spawn_file_actions_adddup2(&actions, 30, 61); /* of one that the program has closed at exec */
  posix_spawn_file_actions_adddup2(&actions, 31, 31); /* is inherited after all */
  posix_spawn_file_actions_addclose(&actions, 33);
  posix_spawn_file_actions_addopen(&actions, 34, "/", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 35, "/", O_RDONLY | O_CLOEXEC, 0);
  posix_spawn_file_actions_addclose(&actions, 36);
  posix_spawn_file_actions_adddup2(&actions, 61, 36);
  struct stat root;
  must(stat("/", &root) == 0, "stat");
  has[61] = inodes[0];
  has[31] = inodes[1];
  has[33] = 0;
  has[34] = (unsigned long)root.st_ino;
  has[35] =
      (unsigned long)root.st_ino; /* the flag is lost on the way there, glibc's sysdeps/unix/sysv/linux/spawni.c */
  has[36] = inodes[0];
  check(&actions, "with file actions");
  posix_spawn_file_actions_destroy(&actions);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclosefrom_np(&actions, 20);
  for (int n = 20; n < most; ++n)
    has[n] = 0;
  check(&actions, "closed from 20 on");
  posix_spawn_file_actions_destroy(&actions);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, 150, 7); /* is not open */
  pid_t child;
  char* argv[] = {self, "child", NULL};
  printf("from none: %s\n", strerror(posix_spawn(&child, self, &actions, NULL, argv, environ)));
  posix_spawn_file_actions_destroy(&actions);
  printf("no program: %s\n", strerror(posix_spawn(&child, "/no/such/program", NULL, NULL, argv, environ)));
  fflush(stdout);
  for (int n = 10; n < 60; ++n)
    close(n);
}

static void streams(void)
{
  char line[64] = "";
  FILE* first = popen("cat >/dev/null; exit 7", "w");
  FILE* second = popen("cat; exit 3", "we"); /* must not have an end of the first */
  must(first && second && !(fcntl(fileno(first), F_GETFD) & FD_CLOEXEC) && fcntl(fileno(second), F_GETFD) & FD_CLOEXEC,
       "two streams");
  fprintf(second, "through cat\n");
  const int codes[2] = {WEXITSTATUS(pclose(first)), WEXITSTATUS(pclose(second))};
  printf("codes %d and %d\n", codes[0], codes[1]);
  fflush(stdout);
  must(popen("true", "rw") == NULL && errno == EINVAL, "EINVAL");
  must(popen("true", "a") == NULL && errno == EINVAL, "EINVAL");
  const int saves[2] = {fcntl(0, F_DUPFD_CLOEXEC, 100), fcntl(1, F_DUPFD_CLOEXEC, 100)};
  close(0); /* where the pipe comes */
  close(1);
  FILE* reader = popen("echo without 0 and 1", "r");
  must(reader && fgets(line, sizeof line, reader) && pclose(reader) == 0, "reader");
  must(dup2(saves[0], 0) == 0 && dup2(saves[1], 1) == 1, "dup2");
  printf("%s", line);
  reader = popen("sleep 0.1; exit 4", "r");
  int (*volatile other_end)(FILE*) = fclose; /* compilers warn of it */
  must(reader && WEXITSTATUS(other_end(reader)) == 4 && waitpid(-1, NULL, 0) < 0 && errno == ECHILD,
       "fclose waits, too");
  fflush(stdout);
}

/* A child of fork has them, too, also if the highest number is taken. */
static void forked(void)
{
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  const int highest = (int)limit.rlim_cur - 1;
  memset(has, 0, sizeof has);
  for (int n = 10; n < 60; ++n)
    set(n, n % 3 == 0, n % 5 == 0 ? O_CLOEXEC : 0);
  must(dup2(files[1], highest) == highest, "the highest");
  usleep(1000); /* now other ranks do the same */
  int more[20];
  for (int i = 0; i < 20; ++i)
    must((more[i] = dup(files[i % 2])) >= 0, "dup");
  const pid_t child = fork();
  if (child == 0) {
    int bad = inode_of(highest) != inodes[1];
    for (int n = 10; n < 60; ++n)
      bad += inode_of(n) != inodes[n % 3 == 0] || !(fcntl(n, F_GETFD) & FD_CLOEXEC) != (has[n] != 0);
    for (int i = 0; i < 20; ++i) {
      bad += inode_of(more[i]) != inodes[i % 2];
      close(more[i]);
    }
    close(highest);
    if (bad == 0)
      check(NULL, "forked");
    _exit(bad);
  }
  int status = -1;
  must(waitpid(child, &status, 0) == child && status == 0, "a forked child");
  close(highest);
  for (int i = 0; i < 20; ++i)
    close(more[i]);
  for (int n = 10; n < 60; ++n)
    close(n);
}

/* With all numbers taken there are none left that would be nobody's. */
static void in_between(void)
{
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  for (int n = (int)limit.rlim_cur - 1; n > 9; --n)
    (void)!dup2(files[0], n);
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 20; ++i)
      printf("round %d line %d\n", round, i);
    fflush(stdout);
    if (round % 4 == 0)
      must(system("exit 5") == 5 << 8, "system");
    else {
      pid_t child;
      char* argv[] = {"true", NULL};
      must(posix_spawnp(&child, "true", NULL, NULL, argv, environ) == 0 && waitpid(child, NULL, 0) == child, "spawn");
    }
  }
  must(lseek(files[0], 0, SEEK_END) == 0, "the file is empty");
}

int main(int argc, char** argv)
{
  if (argc > 1)
    return look(argc - 2, argv + 2);
  must(readlink("/proc/self/exe", self, sizeof self - 1) > 0, "readlink");
  closefrom(3); /* whatever who has started the test has left open */
  for (int i = 0; i < 2; ++i) {
    char name[] = "/tmp/umwelt-spawn-XXXXXX";
    const int fd = mkostemp(name, O_CLOEXEC);
    files[i] = fcntl(fd, F_DUPFD_CLOEXEC, 200); /* out of the way */
    must(fd >= 0 && files[i] >= 0 && unlink(name) == 0 && close(fd) == 0, "a file");
    inodes[i] = inode_of(files[i]);
  }
  numbers();
  streams();
  forked();
  in_between();
  printf("done\n");
  return 0;
}
