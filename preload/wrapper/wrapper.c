/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Preloaded into the native processes of a wrapper: asks Umwelt about everything they execute (protocol.h). It may run
 * in the child of a vfork, so it leaves nothing behind in memory.
 */
#include "preload/abi/wrapper_protocol.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

extern char** environ;

static struct sockaddr_un address;
static socklen_t address_length; /* 0: nobody to ask */
static uint32_t own_rank;

/* The variable is read now: `env -i` forgets it before it executes anything. */
__attribute__((constructor)) static void start(void)
{
  const char* value = getenv(UMW_WRAPPER_VARIABLE);
  const char* colon = value ? strrchr(value, ':') : NULL;
  if (!colon || (size_t)(colon - value) >= sizeof address.sun_path - 1)
    return;
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, value, (size_t)(colon - value)); /* [0] = 0: abstract */
  address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)(colon - value));
  own_rank = (uint32_t)strtoul(colon + 1, NULL, 10);
}

static int send_all(int fd, const void* data, size_t bytes)
{
  const char* next = data;
  while (bytes > 0) {
    const ssize_t n = send(fd, next, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return 0;
    next += n;
    bytes -= (size_t)n;
  }
  return 1;
}

static int receive_all(int fd, void* data, size_t bytes)
{
  char* next = data;
  while (bytes > 0) {
    const ssize_t n = recv(fd, next, bytes, 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return 0;
    next += n;
    bytes -= (size_t)n;
  }
  return 1;
}

static int send_head(int fd, umw_wrapper_head* head)
{
  union {
    char room[CMSG_SPACE(3 * sizeof(int))];
    struct cmsghdr align;
  } control;
  memset(&control, 0, sizeof control);
  int fds[3];
  unsigned count = 0;
  for (int i = 0; i < 3; ++i) {
    head->open[i] = fcntl(i, F_GETFD) >= 0;
    if (head->open[i])
      fds[count++] = i;
  }
  struct iovec data = {head, sizeof *head};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
  if (count > 0) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(rights), fds, count * sizeof(int));
  }
  return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *head;
}

/* The rank lives elsewhere; this process ends as it does. */
static _Noreturn void stand_in(int fd)
{
  int32_t status = SIGKILL; /* Umwelt is gone */
  receive_all(fd, &status, sizeof status);
  if ((status & 0x7f) != 0) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none); /* the dump would be of the wrong process */
    signal(status & 0x7f, SIG_DFL);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    raise(status & 0x7f);
  }
  _exit(status >> 8 & 0xff);
}

/* Returns whether the file is to be executed natively. */
static int ask(const char* file, char* const argv[], char* const envp[], int searched)
{
  if (address_length == 0 || !file || !argv)
    return 1;
  const int saved = errno;
  const int lowest = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int fd = fcntl(lowest, F_DUPFD_CLOEXEC, 3); /* 0, 1, 2 may be closed, and stay so */
  close(lowest);
  if (fd < 0)
    return 1;
  char answer = umw_wrapper_native;
  if (connect(fd, (const struct sockaddr*)&address, address_length) == 0) {
    char directory[PATH_MAX];
    const char* path = getenv("PATH");
    const char* const first[] = {file, path ? path : "", getcwd(directory, sizeof directory) ? directory : "/"};
    umw_wrapper_head head = {.rank = own_rank, .persona = (uint32_t)personality(0xffffffff), .searched = searched != 0};
    for (int i = 0; i < 3; ++i)
      head.bytes += (uint32_t)strlen(first[i]) + 1;
    for (; argv[head.arguments]; ++head.arguments) /* NOLINT(clang-analyzer-core.uninitialized.Branch) */
      head.bytes += (uint32_t)strlen(argv[head.arguments]) + 1;
    for (char* const* entry = envp; entry && *entry; ++entry) /* NOLINT(clang-analyzer-core.uninitialized.Branch) */
      head.bytes += (uint32_t)strlen(*entry) + 1;
    int sent = send_head(fd, &head);
    for (int i = 0; sent && i < 3; ++i)
      sent = send_all(fd, first[i], strlen(first[i]) + 1);
    for (uint32_t i = 0; sent && i < head.arguments; ++i)
      sent = send_all(fd, argv[i], strlen(argv[i]) + 1);
    for (char* const* entry = envp; sent && entry && *entry; ++entry)
      sent = send_all(fd, *entry, strlen(*entry) + 1);
    if (sent && receive_all(fd, &answer, 1) && answer == umw_wrapper_taken)
      stand_in(fd);
  }
  close(fd);
  errno = answer == umw_wrapper_refused ? EPERM : saved;
  return answer != umw_wrapper_refused;
}

PUBLIC int execve(const char* path, char* const argv[], char* const envp[])
{
  static int (*real)(const char*, char* const[], char* const[]);
  if (!real)
    real = (int (*)(const char*, char* const[], char* const[]))dlsym(RTLD_NEXT, "execve");
  return ask(path, argv, envp, 0) ? real(path, argv, envp) : -1;
}

PUBLIC int execvpe(const char* file, char* const argv[], char* const envp[])
{
  static int (*real)(const char*, char* const[], char* const[]);
  if (!real)
    real = (int (*)(const char*, char* const[], char* const[]))dlsym(RTLD_NEXT, "execvpe");
  return ask(file, argv, envp, 1) ? real(file, argv, envp) : -1;
}

PUBLIC int execv(const char* path, char* const argv[])
{
  return execve(path, argv, environ);
}

PUBLIC int execvp(const char* file, char* const argv[])
{
  return execvpe(file, argv, environ);
}

/* The arguments from `first` on as a vector in `argv`, which has room for `count` and a null pointer. */
#define LIST_FORM(call, ...)                                                                                           \
  va_list list;                                                                                                        \
  va_start(list, first);                                                                                               \
  size_t count = 1;                                                                                                    \
  while (va_arg(list, char*))                                                                                          \
    ++count;                                                                                                           \
  va_end(list);                                                                                                        \
  char* argv[count + 1];                                                                                               \
  argv[0] = (char*)first;                                                                                              \
  va_start(list, first);                                                                                               \
  for (size_t i = 1; i <= count; ++i)                                                                                  \
    argv[i] = va_arg(list, char*);                                                                                     \
  __VA_ARGS__                                                                                                          \
  va_end(list);                                                                                                        \
  return call

PUBLIC int execl(const char* path, const char* first, ...)
{
  LIST_FORM(execve(path, argv, environ), );
}

PUBLIC int execlp(const char* file, const char* first, ...)
{
  LIST_FORM(execvpe(file, argv, environ), );
}

PUBLIC int execle(const char* path, const char* first, ...)
{
  LIST_FORM(execve(path, argv, envp), char** envp = va_arg(list, char**););
}
