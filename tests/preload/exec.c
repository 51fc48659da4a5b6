/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * exec, stage by stage: the program executes itself, with another environment, through a script, by a descriptor; each
 * stage tells what it has been left. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void must(int holds, const char* what)
{
  if (holds)
    return;
  printf("FAILED: %s (%s)\n", what, strerror(errno));
  exit(1);
}

static void never(void)
{
  printf("FAILED: a handler of atexit has run\n");
  fflush(stdout);
}

static void on_signal(int number)
{
  (void)number;
}

static void* look_on(void* unused)
{
  for (;;)
    usleep(1000);
  return unused;
}

static const char* disposition(int number)
{
  struct sigaction action;
  sigaction(number, NULL, &action);
  return action.sa_handler == SIG_DFL ? "default" : action.sa_handler == SIG_IGN ? "ignored" : "handled";
}

static long long now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* What makes a difference: the stage before has told its own in these variables. */
static void tell(int argc, char** argv)
{
  printf("stage %s as %s:", argc > 1 ? argv[1] : "0", strrchr(argv[0], '/') ? "a path" : argv[0]);
  for (int i = 2; i < argc; ++i)
    printf(" '%s'", argv[i]);
  printf("\n");
  const char* pid = getenv("PID_BEFORE");
  const char* abstime = getenv("DATE_BEFORE");
  if (pid)
    printf("pid %s\n", atoi(pid) == getpid() ? "kept" : "changed");
  if (abstime)
    printf("clock %s\n", atoll(abstime) <= now() ? "goes on" : "went back");
  sigset_t mask;
  sigprocmask(SIG_SETMASK, NULL, &mask);
  const mode_t file_mask = umask(0);
  umask(file_mask);
  char directory[4096];
  must(getcwd(directory, sizeof directory) != NULL, "getcwd");
  printf("USR1 %s, USR2 %s, TERM %s, umask %03o, directory %s, VALUE=%s, home %s\n", disposition(SIGUSR1),
         disposition(SIGUSR2), sigismember(&mask, SIGTERM) ? "blocked" : "open", (unsigned)file_mask, directory,
         getenv("VALUE") ? getenv("VALUE") : "", getenv("HOME") ? "there" : "gone");
  fflush(stdout);
}

static void remember(void)
{
  char text[32];
  snprintf(text, sizeof text, "%d", getpid());
  setenv("PID_BEFORE", text, 1);
  snprintf(text, sizeof text, "%lld", now());
  setenv("DATE_BEFORE", text, 1);
}

static void refusals(const char* self)
{
  char* argv[] = {"x", NULL};
  must(execv("/no/such/program", argv) == -1 && errno == ENOENT, "ENOENT");
  must(execvp("no-such-program-anywhere", argv) == -1 && errno == ENOENT, "ENOENT in PATH");
  must(execv("/", argv) == -1 && errno == EACCES, "EACCES of a directory");
  must(execv("/etc/passwd", argv) == -1 && errno == EACCES, "EACCES");
  must(execv("", argv) == -1 && errno == ENOENT, "ENOENT of nothing");
  char path[64];
  snprintf(path, sizeof path, "/tmp/exec-%d-%lld", getpid(), now());
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  must(write(fd, "plain text\n", 11) == 11 && close(fd) == 0, "a file");
  must(execv(path, argv) == -1 && errno == ENOEXEC, "ENOEXEC");
  fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  must(write(fd, "#!/no/such/interpreter\n", 23) == 23 && close(fd) == 0, "a script");
  must(execv(path, argv) == -1 && errno == ENOENT, "ENOENT of an interpreter");
  unlink(path);
  printf("refused as it should be, and still %s\n", access(self, X_OK) == 0 ? "here" : "?");
}

static void first(char* self)
{
  refusals(self);
  int kept[2], closed[2];
  must(pipe(kept) == 0 && pipe2(closed, O_CLOEXEC) == 0, "pipes");
  must(write(kept[1], "through the pipe", 16) == 16, "write");
  signal(SIGUSR1, on_signal);
  signal(SIGUSR2, SIG_IGN);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTERM);
  sigprocmask(SIG_BLOCK, &mask, NULL);
  umask(027);
  must(chdir("/usr") == 0, "chdir");
  atexit(never);
  pthread_t thread;
  must(pthread_create(&thread, NULL, look_on, NULL) == 0, "pthread_create");
  usleep(3000);
  setenv("VALUE", "of the first", 1);
  remember();
  char numbers[4][16];
  for (int i = 0; i < 2; ++i) {
    snprintf(numbers[i], sizeof numbers[i], "%d", kept[i]);
    snprintf(numbers[i + 2], sizeof numbers[i + 2], "%d", closed[i]);
  }
  setenv("KEPT_READ", numbers[0], 1);
  setenv("KEPT_WRITE", numbers[1], 1);
  setenv("CLOSED_READ", numbers[2], 1);
  setenv("CLOSED_WRITE", numbers[3], 1);
  fflush(stdout);
  printf("never seen"); /* what a stream holds goes with it */
  char* argv[] = {"another name", "1", "", "two words", NULL};
  execv(self, argv);
  must(0, "execv");
}

static void second(char* self)
{
  char text[32] = "";
  must(read(atoi(getenv("KEPT_READ")), text, sizeof text - 1) == 16, "a pipe that was kept");
  printf("got '%s'; closed ones: %d %d\n", text, fcntl(atoi(getenv("CLOSED_READ")), F_GETFD),
         fcntl(atoi(getenv("CLOSED_WRITE")), F_GETFD));
  close(atoi(getenv("KEPT_READ")));
  close(atoi(getenv("KEPT_WRITE")));
  fflush(stdout);
  char* argv[] = {self, "2", NULL};
  char* envp[] = {"VALUE=alone", "PATH=/usr/bin:/bin", NULL};
  execve(self, argv, envp);
  must(0, "execve");
}

static void third(char* self)
{
  remember();
  setenv("VALUE", "through the shell", 1);
  execlp("sh", "sh", "-c", "echo in the shell; exec \"$0\" 3 \"$1\"", self, "an argument", NULL);
  must(0, "execlp");
}

static void fourth(char* self)
{
  char path[64];
  snprintf(path, sizeof path, "/tmp/exec-%d-%lld.sh", getpid(), now());
  const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  const char text[] = "rm -f \"$0\"; echo \"a script without first line: $1\"; exec env VALUE=of_env \"$2\" 4\n";
  must(write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1 && fchmod(fd, 0755) == 0 && close(fd) == 0,
       "a script");
  execlp(path, "script", "argument", self, NULL); /* execvp(3) has the shell read it */
  must(0, "execlp of a script");
}

static void fifth(char* self)
{
  const int fd = open(self, O_RDONLY | O_CLOEXEC);
  char* argv[] = {self, "5", NULL};
  setenv("VALUE", "by descriptor", 1);
  fexecve(fd, argv, environ);
  must(0, "fexecve");
}

/* Many times, one after another. */
static void sixth(char* self, int left)
{
  if (left == 0) {
    printf("the last one\n");
    exit(7);
  }
  char number[16];
  snprintf(number, sizeof number, "%d", left - 1);
  char* argv[] = {self, "5", number, NULL};
  execv("/proc/self/exe", argv);
  must(0, "execv of /proc/self/exe");
}

int main(int argc, char** argv)
{
  char self[4096] = "";
  must(readlink("/proc/self/exe", self, sizeof self - 1) > 0, "readlink");
  const int stage = argc > 1 ? atoi(argv[1]) : 0;
  if (stage != 5 || argc == 2)
    tell(argc, argv);
  void (*const stages[])(char*) = {first, second, third, fourth, fifth};
  if (stage < 5)
    stages[stage](self);
  sixth(self, argc > 2 ? atoi(argv[2]) : 20);
}
