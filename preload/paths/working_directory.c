/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * getcwd and chdir. Each rank has a working directory of its own although ranks share a process, which changes it when
 * another rank goes on; so the runtime is asked to, rather than the kernel.
 */
#include "preload/shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"
#include "preload/paths/paths.h"

_Noreturn void __chk_fail(void);

UMW_PUBLIC char* getcwd(char* buffer, size_t size)
{
  char path[PATH_MAX];
  if (!umw_gate)
    return UMW_REAL(getcwd)(buffer, size);
  if (buffer && size == 0) {
    errno = EINVAL;
    return NULL;
  }
  if (!UMW_REAL(getcwd)(path, sizeof path))
    return NULL;
  const size_t length = strlen(umw_path_shown(path)) + 1;
  if (size != 0 && length > size) {
    errno = ERANGE;
    return NULL;
  }
  if (!buffer && !(buffer = malloc(size != 0 ? size : length)))
    return NULL;
  return memcpy(buffer, path, length);
}

UMW_PUBLIC char* __getcwd_chk(char* buffer, size_t size, size_t room)
{
  if (size > room)
    __chk_fail();
  return getcwd(buffer, size);
}

/* $PWD if it names the working directory, which may be through a link. */
UMW_PUBLIC char* get_current_dir_name(void)
{
  if (!umw_gate)
    return UMW_REAL(get_current_dir_name)();
  const char* told = getenv("PWD");
  struct stat here, there;
  if (told && *told == '/' && stat(".", &here) == 0 && stat(told, &there) == 0 && here.st_dev == there.st_dev &&
      here.st_ino == there.st_ino)
    return strdup(told);
  return getcwd(NULL, 0);
}

/* The other processes of the node see it in /proc/PID/cwd (runtime/procfs/process_files.cpp). */
static int moved(int result)
{
  if (result != 0)
    return result;
  char path[PATH_MAX], link[PATH_MAX], draft[PATH_MAX];
  umw_path_directory_changed();
  if (getcwd(path, sizeof path) &&
      snprintf(link, sizeof link, "%s/cwd.%d", umw_gate->session_directory, umw_gate->pid) < PATH_MAX &&
      snprintf(draft, sizeof draft, "%s.new", link) < PATH_MAX && UMW_REAL(symlink)(path, draft) == 0)
    UMW_REAL(rename)(draft, link);
  return 0;
}

UMW_PUBLIC int chdir(const char* path)
{
  struct umw_path room;
  if (!umw_gate)
    return UMW_REAL(chdir)(path);
  if (!path) {
    errno = EFAULT;
    return -1;
  }
  return moved(umw_result(umw_change_directory(umw_path_of(path, &room), -1)));
}

UMW_PUBLIC int fchdir(int fd)
{
  if (!umw_gate)
    return UMW_REAL(fchdir)(fd);
  return moved(umw_result(umw_change_directory(NULL, umw_open_descriptor(fd))));
}
