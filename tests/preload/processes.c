// SPDX-License-Identifier: LGPL-2.1-or-later
// A process finds itself below /proc as it is told by the calls that say who it is; `processes NODE_RANKS`: as one of
// so many ranks on its node, it finds the others, too, and no one else.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

static void expect(const char* what, long got, long expected)
{
  if (got != expected)
    printf("%s: expected %ld, got %ld\n", what, expected, got);
  failures += got != expected;
}

static void expect_text(const char* what, const char* got, const char* expected)
{
  if (strcmp(got, expected) != 0)
    printf("%s: expected '%s', got '%s'\n", what, expected, got);
  failures += strcmp(got, expected) != 0;
}

static size_t load(const char* directory, const char* name, char* text, size_t size)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE* file = fopen(path, "r");
  const size_t length = file ? fread(text, 1, size - 1, file) : 0;
  text[length] = '\0';
  if (file)
    fclose(file);
  return length;
}

static char* link_of(const char* directory, const char* name)
{
  static char text[PATH_MAX];
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s%s%s", directory, *name ? "/" : "", name);
  const ssize_t length = readlink(path, text, sizeof text - 1);
  text[length < 0 ? 0 : length] = '\0';
  return text;
}

static long field(const char* status, const char* name)
{
  const char* line = strstr(status, name);
  return line ? strtol(line + strlen(name), NULL, 10) : -1;
}

static int entries(const char* path)
{
  int count = 0;
  DIR* directory = opendir(path);
  for (struct dirent* entry; directory && (entry = readdir(directory));)
    count += entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
  if (directory)
    closedir(directory);
  return count;
}

static int lists(const char* path, long number)
{
  int found = 0;
  DIR* directory = opendir(path);
  for (struct dirent* entry; directory && (entry = readdir(directory));)
    found += strtol(entry->d_name, NULL, 10) == number;
  if (directory)
    closedir(directory);
  return found;
}

// `directory`: of the process below /proc, as it or another one names it.
static void look(const char* directory, const char* name, long pid, long parent, long group, long session, long threads)
{
  static char text[1 << 16];
  long stat_pid = 0, stat_parent = 0, stat_group = 0, stat_session = 0;
  char stat_name[64], state;
  load(directory, "stat", text, sizeof text);
  expect("fields of stat",
         sscanf(text, "%ld (%63[^)]) %c %ld %ld %ld", &stat_pid, stat_name, &state, &stat_parent, &stat_group,
                &stat_session),
         6);
  expect("pid in stat", stat_pid, pid);
  expect("parent in stat", stat_parent, parent);
  expect("group in stat", stat_group, group);
  expect("session in stat", stat_session, session);
  expect_text("name in stat", stat_name, name);
  load(directory, "status", text, sizeof text);
  expect("Pid", field(text, "\nPid:"), pid);
  expect("Tgid", field(text, "\nTgid:"), pid);
  expect("PPid", field(text, "\nPPid:"), parent);
  expect("Threads", field(text, "\nThreads:"), threads);
  expect("VmRSS", field(text, "\nVmRSS:") > 0, 1);
  load(directory, "comm", text, sizeof text);
  text[strcspn(text, "\n")] = '\0';
  expect_text("comm", text, name);
  expect("maps", load(directory, "maps", text, sizeof text) > 0, 1);
  snprintf(text, sizeof text, "%s/task", directory);
  expect("threads in task", entries(text), threads);
}

static pthread_barrier_t both;
static void* wait_there(void* unused)
{
  char directory[64];
  snprintf(directory, sizeof directory, "/proc/self/task/%d", gettid());
  static char text[8192];
  load(directory, "status", text, sizeof text);
  expect("a thread's Pid", field(text, "\nPid:"), gettid());
  expect("a thread's Tgid", field(text, "\nTgid:"), getpid());
  load("/proc/thread-self", "stat", text, sizeof text);
  expect("thread-self", strtol(text, NULL, 10), gettid());
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  return unused;
}

static int agree(long pid)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld", pid);
  const int there = kill((pid_t)pid, 0) == 0;
  expect("kill(0) and access", access(path, F_OK) == 0, there);
  expect("kill(0) and readdir", lists("/proc", pid), there);
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  expect("kill(0) and open", access(path, R_OK) == 0, there);
  return there;
}

static void itself(char** argv)
{
  static char text[1 << 16];
  char own[64], program[PATH_MAX], name[16];
  snprintf(own, sizeof own, "/proc/%d", getpid());
  realpath(argv[0], program);
  snprintf(name, sizeof name, "%s", strrchr(program, '/') + 1);

  pthread_t thread;
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&thread, NULL, wait_there, NULL);
  pthread_barrier_wait(&both);
  look("/proc/self", name, getpid(), getppid(), getpgrp(), getsid(0), 2);
  look(own, name, getpid(), getppid(), getpgrp(), getsid(0), 2);
  pthread_barrier_wait(&both);
  pthread_join(thread, NULL);
  look(own, name, getpid(), getppid(), getpgrp(), getsid(0), 1);

  snprintf(text, sizeof text, "%d", getpid());
  expect_text("/proc/self", link_of("/proc/self", ""), text);
  struct stat status;
  expect("lstat", lstat("/proc/self", &status), 0);
  expect("a link", S_ISLNK(status.st_mode), 1);
  expect("stat", stat("/proc/self", &status), 0);
  expect("a directory", S_ISDIR(status.st_mode), 1);
  expect_text("exe", link_of(own, "exe"), program);
  load(own, "cmdline", text, sizeof text);
  expect_text("cmdline", text, argv[0]);
  load("/proc/self", "environ", text, sizeof text);
  expect("environ", strstr(text, "=") != NULL, 1);
  expect("only what the program can have", strstr(text, "UMWELT_GATE") == NULL, 1);

  char directory[] = "/tmp/umwelt-processes-XXXXXX";
  char here[PATH_MAX];
  getcwd(here, sizeof here);
  expect_text("cwd", link_of(own, "cwd"), here);
  expect("mkdtemp", mkdtemp(directory) != NULL, 1);
  expect("chdir", chdir(directory), 0);
  expect_text("cwd", link_of("/proc/self", "cwd"), directory);
  const int fd = open("file", O_RDWR | O_CREAT, 0600);
  snprintf(program, sizeof program, "%s/file", directory);
  snprintf(text, sizeof text, "fd/%d", fd);
  expect_text("fd", link_of("/proc/self", text), program);
  snprintf(text, sizeof text, "/dev/fd/%d", fd);
  const int again = open(text, O_RDONLY);
  expect("/dev/fd", again >= 0, 1);
  close(again);
  close(fd);
  unlink("file");
  rmdir(directory);
  chdir(here);
  expect("stdout", stat("/dev/stdout", &status) == 0, fstat(1, &status) == 0);

  expect("itself is there", agree(getpid()), 1);
  expect("so is its parent", agree(getppid()), 1);
  expect("nobody is there", agree(4194305), 0); // above PID_MAX_LIMIT
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  snprintf(text, sizeof text, "/proc/%d", child);
  expect("a child", access(text, F_OK), 0);
  expect("kill of a child", kill(child, SIGKILL), 0);
  expect("wait", waitpid(child, NULL, 0), child);
  expect("no child any more", access(text, F_OK), -1);
  errno = 0;
  expect("cmdline cannot be written", open("/proc/self/cmdline", O_RDONLY | O_DIRECTORY), -1);
  expect("no directory", errno, ENOTDIR);
}

int main(int argc, char** argv)
{
  const int peers = argc > 1 ? atoi(argv[1]) : 0;
  itself(argv);
  if (peers > 0) {
    // pids of ranks are in order
    const int rank = atoi(getenv("OMPI_COMM_WORLD_RANK")), ranks = atoi(getenv("OMPI_COMM_WORLD_SIZE"));
    const int local = atoi(getenv("OMPI_COMM_WORLD_LOCAL_RANK"));
    const long first = getpid() - rank;
    int there = 0;
    char name[16];
    snprintf(name, sizeof name, "%s", strrchr(argv[0], '/') + 1);
    for (long pid = first; pid < first + ranks; ++pid)
      if (agree(pid)) {
        char directory[64];
        ++there;
        snprintf(directory, sizeof directory, "/proc/%ld", pid);
        look(directory, name, pid, getppid(), pid, getppid(), 1);
      }
    expect("ranks of the node", there, peers);
    expect("processes of the node", entries("/proc"), peers + 1);
    sleep(local == 0 ? 2 : 1); // the others end
    if (local == 0)
      expect("processes that are left", entries("/proc"), 2);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
