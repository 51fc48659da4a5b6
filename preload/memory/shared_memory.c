/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Named shared memory and named semaphores. The C library keeps them in /dev/shm, which all runs on this machine have
 * in common, while programs make names from process ids, which all runs have in common, too. Here they are files in the
 * directory of the simulated node: ranks of a node share them, others do not, and none is left when the run ends in
 * whatever way. What is right and what is not about a name follows glibc 2.36 (posix/shm-directory.c, nptl/sem_open.c).
 */
#include "preload/shim.h"

#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"
#include "preload/memory/shm_room.h"

#if __GLIBC_PREREQ(2, 41) /* at the latest */
enum { too_long_for_semaphores = ENAMETOOLONG };
#else
enum { too_long_for_semaphores = EINVAL };
#endif

/* The file of a name, in a buffer of PATH_MAX; false: `error`, or the name is too long. */
static bool locate(const char* prefix, const char* name, int error, char* path)
{
  while (*name == '/')
    ++name;
  const bool too_long = *prefix && strlen(name) > NAME_MAX;
  if (*name == '\0' || strchr(name, '/') || too_long) {
    errno = too_long && error == EINVAL ? too_long_for_semaphores : error;
    return false;
  }
  if (snprintf(path, PATH_MAX, "%s/shm/%s%s", umw_gate->session_directory, prefix, name) < PATH_MAX)
    return true;
  errno = ENAMETOOLONG;
  return false;
}

UMW_PUBLIC int shm_open(const char* name, int flags, mode_t mode)
{
  if (!umw_gate)
    return UMW_REAL(shm_open)(name, flags, mode);
  char path[PATH_MAX];
  if (!locate("", name, EINVAL, path))
    return -1;
  umw_shm_used = true;
  if (!umw_may_open(1))
    return -1;
  const int fd = UMW_UNINTERRUPTED(umw_note_opened(UMW_REAL(open)(path, flags | O_NOFOLLOW | O_CLOEXEC, mode)));
  if (fd < 0 && errno == EISDIR)
    errno = EINVAL;
  return fd;
}

static int remove_name(const char* prefix, const char* name)
{
  char path[PATH_MAX];
  if (!locate(prefix, name, ENOENT, path))
    return -1;
  return unlink(path);
}

UMW_PUBLIC int shm_unlink(const char* name)
{
  return umw_gate ? remove_name("", name) : UMW_REAL(shm_unlink)(name);
}

/* --- named semaphores: opened again they are at the same place, and stay there until closed as often (sem_open(3))
 * --------- */

struct named {
  sem_t* semaphore;
  dev_t device;
  ino_t inode;
  unsigned opened;
  struct named* next;
};
static struct named* all_named;

static const char prefix_of_semaphores[] = "sem.";

/* The semaphore in an open file, which is closed. */
static sem_t* map_semaphore(int fd)
{
  struct stat status;
  struct named* named = NULL;
  if (UMW_REAL(fstat)(fd, &status) == 0) {
    named = all_named;
    while (named && (named->inode != status.st_ino || named->device != status.st_dev))
      named = named->next;
    if (!named) {
      sem_t* semaphore = umw_map(NULL, sizeof *semaphore, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (semaphore != MAP_FAILED && (named = calloc(1, sizeof *named))) {
        *named = (struct named){semaphore, status.st_dev, status.st_ino, 0, all_named};
        all_named = named;
      } else if (semaphore != MAP_FAILED) {
        munmap(semaphore, sizeof *semaphore);
      }
    }
  }
  const int saved = errno;
  UMW_REAL(close)(fd);
  errno = saved;
  if (!named)
    return SEM_FAILED;
  ++named->opened;
  return named->semaphore;
}

/* Makes the file as a whole: nobody may find it half made. Its descriptor, or -1. */
static int create_semaphore(const char* path, mode_t mode, unsigned value)
{
  char draft[PATH_MAX];
  sem_t semaphore;
  memset(&semaphore, 0, sizeof semaphore);
  if (sem_init(&semaphore, 1, value) != 0)
    return -1;
  if (snprintf(draft, sizeof draft, "%s/semaphore.%d", umw_gate->session_directory, umw_gate->pid) >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return -1;
  }
  int fd = UMW_REAL(open)(draft, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd < 0)
    return -1;
  if (UMW_REAL(write)(fd, &semaphore, sizeof semaphore) != (ssize_t)sizeof semaphore || link(draft, path) != 0) {
    const int saved = errno;
    UMW_REAL(close)(fd);
    errno = saved;
    fd = -1;
  }
  const int saved = errno;
  unlink(draft);
  errno = saved;
  return fd;
}

static sem_t* open_semaphore(const char* name, int flags, mode_t mode, unsigned value)
{
  char path[PATH_MAX];
  if (!locate(prefix_of_semaphores, name, EINVAL, path))
    return SEM_FAILED;
  for (;;) {
    int fd = -1;
    if (!(flags & O_CREAT) || !(flags & O_EXCL)) {
      fd = UMW_REAL(open)(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
      if (fd < 0 && (errno != ENOENT || !(flags & O_CREAT)))
        return SEM_FAILED;
    }
    if (fd < 0)
      fd = create_semaphore(path, mode, value);
    if (fd >= 0)
      return map_semaphore(fd);
    if (errno != EEXIST || (flags & O_EXCL))
      return SEM_FAILED;
  }
}

UMW_PUBLIC sem_t* sem_open(const char* name, int flags, ...)
{
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t); /* only there with O_CREAT; passing them on always does no harm */
  const unsigned value = va_arg(list, unsigned);
  va_end(list);
  return umw_gate ? open_semaphore(name, flags, mode, value) : UMW_REAL(sem_open)(name, flags, mode, value);
}

UMW_PUBLIC int sem_close(sem_t* semaphore)
{
  for (struct named** link = &all_named; *link; link = &(*link)->next) {
    struct named* named = *link;
    if (named->semaphore != semaphore)
      continue;
    if (--named->opened > 0)
      return 0;
    *link = named->next;
    free(named);
    return munmap(semaphore, sizeof *semaphore);
  }
  return UMW_REAL(sem_close)(semaphore);
}

UMW_PUBLIC int sem_unlink(const char* name)
{
  return umw_gate ? remove_name(prefix_of_semaphores, name) : UMW_REAL(sem_unlink)(name);
}
