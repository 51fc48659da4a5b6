/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * exec. A rank becomes the new program within its process (runtime/rank_host/program_change.h): same rank, pid and
 * time. Children (fork, posix_spawn, system, popen) are processes of their own, whose exec is the kernel's.
 */
#include "preload/shim.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"
#include "preload/paths/paths.h"

/* What execve(2) finds out by looking at the file. 0, or an errno. */
static int look_at(const char* path)
{
  struct stat status;
  if (stat(path, &status) != 0)
    return errno;
  if (!S_ISREG(status.st_mode) || access(path, X_OK) != 0)
    return EACCES;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) /* may be executed, not read */
    return 0;
  char head[4] = {0};
  const ssize_t size = read(fd, head, sizeof head);
  close(fd);
  return (size >= 4 && memcmp(head, "\177ELF", 4) == 0) || (size >= 2 && memcmp(head, "#!", 2) == 0) ? 0 : ENOEXEC;
}

/* Returns if that fails. */
static int execute(const char* path, char* const argv[], char* const envp[])
{
  const int error = look_at(path);
  if (error) {
    errno = error;
    return -1;
  }
  struct umw_path room;
  const int result = umw_exec_find(umw_path_of(path, &room), argv, envp);
  if (result == 0) {
    /* Nothing is written that streams still hold, and no handler of atexit(3) runs, execve(2). */
    umw_release_robust_mutexes();
    umw_gate->kept_fds = umw_descriptors_to_keep();
    umw_gate->kept_ignored = umw_explicitly_ignored();
    umw_exec(0);
  }
  return umw_result(result);
}

UMW_PUBLIC int execve(const char* path, char* const argv[], char* const envp[])
{
  return umw_gate ? execute(path, argv, envp) : UMW_REAL(execve)(path, argv, envp);
}

/* What the kernel does not know to execute is a script of the shell, execvp(3). */
static int execute_or_interpret(const char* path, char* const argv[], char* const envp[])
{
  execute(path, argv, envp);
  if (errno != ENOEXEC || look_at(path) != ENOEXEC)
    return -1;
  size_t count = 0;
  while (argv && argv[count])
    ++count;
  const char** words = malloc((count + 3) * sizeof *words);
  if (!words)
    return -1;
  words[0] = "/bin/sh";
  words[1] = path;
  for (size_t i = 1; i <= count; ++i)
    words[i + 1] = argv[i];
  words[count > 0 ? count + 1 : 2] = NULL;
  execute("/bin/sh", (char* const*)words, envp);
  free(words);
  return -1;
}

/* Through the directories of PATH, execvp(3). */
static int search(const char* file, char* const argv[], char* const envp[])
{
  if (strchr(file, '/') || !*file)
    return execute_or_interpret(file, argv, envp);
  const char* directories = getenv("PATH");
  if (!directories)
    directories = "/bin:/usr/bin";
  bool denied = false;
  for (const char* begin = directories;; ++begin) {
    const char* end = strchrnul(begin, ':');
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%.*s%s%s", (int)(end - begin), begin, end > begin ? "/" : "", file);
    if (length > 0 && (size_t)length < sizeof path) {
      execute_or_interpret(path, argv, envp);
      if (errno == EACCES)
        denied = true;
      else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV && errno != ETIMEDOUT)
        return -1;
    }
    if (!*end)
      break;
    begin = end;
  }
  errno = denied ? EACCES : ENOENT;
  return -1;
}

UMW_PUBLIC int execv(const char* path, char* const argv[])
{
  return umw_gate ? execute(path, argv, environ) : UMW_REAL(execv)(path, argv);
}

UMW_PUBLIC int execvp(const char* file, char* const argv[])
{
  return umw_gate ? search(file, argv, environ) : UMW_REAL(execvp)(file, argv);
}

UMW_PUBLIC int execvpe(const char* file, char* const argv[], char* const envp[])
{
  return umw_gate ? search(file, argv, envp) : UMW_REAL(execvpe)(file, argv, envp);
}

UMW_PUBLIC int fexecve(int fd, char* const argv[], char* const envp[])
{
  if (!umw_gate)
    return UMW_REAL(fexecve)(fd, argv, envp);
  char link[32], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", umw_open_descriptor(fd));
  const ssize_t length = UMW_REAL(readlink)(link, path, sizeof path - 1);
  if (length < 0)
    return -1;
  path[length] = '\0';
  return execute(path, argv, envp);
}

/* The arguments of the list forms as a vector; its end is followed by the environment for execle. */
static char** collect(const char* first, va_list list, char*** environment)
{
  size_t count = 1;
  va_list again;
  va_copy(again, list);
  while (va_arg(again, char*))
    ++count;
  if (environment)
    *environment = va_arg(again, char**);
  va_end(again);
  char** argv = malloc((count + 1) * sizeof *argv);
  if (!argv)
    return NULL;
  argv[0] = (char*)first;
  for (size_t i = 1; i < count; ++i)
    argv[i] = va_arg(list, char*);
  argv[count] = NULL;
  return argv;
}

static int list_form(int (*call)(const char*, char* const[], char* const[]), const char* path, char** argv,
                     char** environment)
{
  const int status = argv ? call(path, argv, environment) : -1;
  free(argv);
  return status;
}

UMW_PUBLIC int execl(const char* path, const char* first, ...)
{
  va_list list;
  va_start(list, first);
  char** argv = collect(first, list, NULL);
  va_end(list);
  return list_form(execve, path, argv, environ);
}

UMW_PUBLIC int execlp(const char* file, const char* first, ...)
{
  va_list list;
  va_start(list, first);
  char** argv = collect(first, list, NULL);
  va_end(list);
  return list_form(execvpe, file, argv, environ);
}

UMW_PUBLIC int execle(const char* path, const char* first, ...)
{
  va_list list;
  char** environment = NULL;
  va_start(list, first);
  char** argv = collect(first, list, &environment);
  va_end(list);
  return list_form(execve, path, argv, environment);
}
