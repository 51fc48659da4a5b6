/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * exec. A rank shares its process with others, so it cannot replace it. Children (fork, posix_spawn, system, popen) are
 * processes of their own and may.
 */
#include "preload/shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int refuse(const char* path)
{
  char text[512];
  snprintf(
      text, sizeof text,
      "exec of %s refused (ENOSYS): a rank shares its process with others and cannot become another program. Next "
      "step: "
      "give that program to umwelt run itself (with -x NAME=VALUE for what the script sets), or start it as a child",
      path ? path : "a descriptor");
  umw_warn(text);
  errno = ENOSYS;
  return -1;
}

UMW_PUBLIC int execve(const char* path, char* const argv[], char* const envp[])
{
  return umw_gate ? refuse(path) : UMW_REAL(execve)(path, argv, envp);
}

UMW_PUBLIC int execv(const char* path, char* const argv[])
{
  return umw_gate ? refuse(path) : UMW_REAL(execv)(path, argv);
}

UMW_PUBLIC int execvp(const char* file, char* const argv[])
{
  return umw_gate ? refuse(file) : UMW_REAL(execvp)(file, argv);
}

UMW_PUBLIC int execvpe(const char* file, char* const argv[], char* const envp[])
{
  return umw_gate ? refuse(file) : UMW_REAL(execvpe)(file, argv, envp);
}

UMW_PUBLIC int fexecve(int fd, char* const argv[], char* const envp[])
{
  return umw_gate ? refuse(NULL) : UMW_REAL(fexecve)(fd, argv, envp);
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
