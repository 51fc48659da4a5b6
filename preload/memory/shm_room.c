/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The size of the node's /dev/shm (--shm-size). Its files lie in a directory of the machine, so what tmpfs would count
 * is counted here: blocks of files that have a name. write(2) and fallocate(2) end where they would in the node; a page
 * that is touched where there is no room left does not raise SIGBUS. */
#include "preload/shim.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/descriptors/descriptor_numbers.h"
#include "preload/memory/shm_room.h"

enum { PAGE = 4096, BLOCK = 512, TMPFS = 0x01021994 };

bool umw_shm_used;

static size_t directory_of_node(char* directory)
{
  const int length = snprintf(directory, PATH_MAX, "%s/shm", umw_gate->session_directory);
  return (size_t)length < PATH_MAX ? (size_t)length : 0;
}

static bool is_in_shm(const char* path)
{
  char directory[PATH_MAX];
  const size_t length = directory_of_node(directory);
  return length > 0 && strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool leads_to_shm(int fd)
{
  char link[40], path[PATH_MAX];
  if (!umw_gate || !umw_shm_used || fd < 0)
    return false;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = UMW_REAL(readlink)(link, path, sizeof path - 1);
  if (length <= 0)
    return false;
  path[length] = '\0';
  return is_in_shm(path);
}

/* Bytes in use below an open directory, which is closed. */
static uint64_t used_below(int directory)
{
  uint64_t used = 0;
  DIR* entries = UMW_REAL(fdopendir)(directory);
  if (!entries) {
    UMW_REAL(close)(directory);
    return 0;
  }
  for (const struct dirent* entry; (entry = readdir(entries));) {
    struct stat status;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
        UMW_REAL(fstatat)(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (S_ISREG(status.st_mode))
      used += (uint64_t)status.st_blocks * BLOCK / (status.st_nlink > 0 ? status.st_nlink : 1);
    else if (S_ISDIR(status.st_mode))
      used +=
          used_below(UMW_REAL(openat)(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));
  }
  closedir(entries);
  return used;
}

static uint64_t free_bytes(void)
{
  char directory[PATH_MAX];
  const int saved = errno;
  if (directory_of_node(directory) == 0)
    return 0;
  const int fd = UMW_REAL(open)(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  const uint64_t used = fd < 0 ? 0 : used_below(fd);
  errno = saved;
  return used < umw_gate->shm_bytes ? umw_gate->shm_bytes - used : 0;
}

static bool concerns_shm(const char* path, int fd)
{
  return umw_gate && (path ? is_in_shm(path) : leads_to_shm(fd));
}

void umw_shm_status(const char* path, int fd, struct statfs* status)
{
  if (!concerns_shm(path, fd))
    return;
  status->f_type = TMPFS;
  status->f_bsize = status->f_frsize = PAGE;
  status->f_blocks = umw_gate->shm_bytes / PAGE;
  status->f_bfree = status->f_bavail = free_bytes() / PAGE;
}

void umw_shm_status_v(const char* path, int fd, struct statvfs* status)
{
  if (!concerns_shm(path, fd))
    return;
  status->f_bsize = status->f_frsize = PAGE;
  status->f_blocks = umw_gate->shm_bytes / PAGE;
  status->f_bfree = status->f_bavail = free_bytes() / PAGE;
}

bool umw_shm_fits(int fd, off_t offset, size_t* size)
{
  struct stat status;
  if (*size == 0 || !leads_to_shm(fd) || UMW_REAL(fstat)(fd, &status) != 0)
    return true;
  if (offset < 0)
    offset = UMW_REAL(fcntl)(fd, F_GETFL) & O_APPEND ? status.st_size : UMW_REAL(lseek)(fd, 0, SEEK_CUR);
  if (offset < 0)
    return true;
  const uint64_t first = (uint64_t)offset;
  const uint64_t present = (uint64_t)status.st_blocks * BLOCK; /* taken for its beginning */
  const uint64_t begin = first / PAGE * PAGE > present ? first / PAGE * PAGE : present;
  if (first + *size <= begin)
    return true;
  const uint64_t end = begin + free_bytes() / PAGE * PAGE; /* of what there is room for */
  if (end <= first) {
    errno = ENOSPC;
    return false;
  }
  *size = *size < end - first ? *size : end - first;
  return true;
}

/* --- calls on descriptors ----------------------------------------------------------------------------------------- */

UMW_PUBLIC int fstatfs(int fd, struct statfs* status)
{
  fd = umw_open_descriptor(fd);
  const int result = UMW_REAL(fstatfs)(fd, status);
  if (result == 0)
    umw_shm_status(NULL, fd, status);
  return result;
}

UMW_PUBLIC int fstatfs64(int fd, struct statfs64* status)
{
  return fstatfs(fd, (struct statfs*)status); /* the same on x86-64 */
}

UMW_PUBLIC int fstatvfs(int fd, struct statvfs* status)
{
  fd = umw_open_descriptor(fd);
  const int result = UMW_REAL(fstatvfs)(fd, status);
  if (result == 0)
    umw_shm_status_v(NULL, fd, status);
  return result;
}

UMW_PUBLIC int fstatvfs64(int fd, struct statvfs64* status)
{
  return fstatvfs(fd, (struct statvfs*)status);
}

/* All of it, or nothing. */
static bool has_room(int fd, off_t offset, off_t size)
{
  if (offset < 0 || size <= 0)
    return true;
  size_t fits = (size_t)size;
  return umw_shm_fits(fd, offset, &fits) && fits == (size_t)size;
}

UMW_PUBLIC int fallocate(int fd, int mode, off_t offset, off_t size)
{
  fd = umw_open_descriptor(fd);
  if ((mode & ~FALLOC_FL_KEEP_SIZE) == 0 && !has_room(fd, offset, size)) {
    errno = ENOSPC;
    return -1;
  }
  return UMW_REAL(fallocate)(fd, mode, offset, size);
}

UMW_PUBLIC int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
  return fallocate(fd, mode, offset, size);
}

UMW_PUBLIC int posix_fallocate(int fd, off_t offset, off_t size)
{
  fd = umw_open_descriptor(fd);
  const int saved = errno;
  const bool fits = has_room(fd, offset, size);
  errno = saved;
  return fits ? UMW_REAL(posix_fallocate)(fd, offset, size) : ENOSPC;
}

UMW_PUBLIC int posix_fallocate64(int fd, off64_t offset, off64_t size)
{
  return posix_fallocate(fd, offset, size);
}

UMW_PUBLIC ssize_t pwrite(int fd, const void* buffer, size_t size, off_t offset)
{
  fd = umw_open_descriptor(fd);
  return umw_shm_fits(fd, offset < 0 ? 0 : offset, &size) ? UMW_REAL(pwrite)(fd, buffer, size, offset) : -1;
}

UMW_PUBLIC ssize_t pwrite64(int fd, const void* buffer, size_t size, off64_t offset)
{
  return pwrite(fd, buffer, size, offset);
}
