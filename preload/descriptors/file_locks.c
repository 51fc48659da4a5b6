/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/shim.h"

#include "preload/descriptors/descriptors.h"
#include "preload/descriptors/file_locks.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { most_known = umw_most_numbers };

/* Descriptors of one open file description form a ring, in which each knows the next; and the number the runtime knows
 * it by, once it was locked. Both are 0 for one that is alone and has none, so that only pages in use are touched. */
static int next_xor[most_known];
static uint32_t description[most_known];
static uint32_t last_description;

static bool in_table(int fd)
{
  return fd >= 0 && fd < most_known;
}

static int next_of(int fd)
{
  return next_xor[fd] ^ fd;
}

static void set_next(int fd, int next)
{
  next_xor[fd] = next ^ fd;
}

/* Files on which the process has had a lock. */
static struct place {
  uint64_t device, inode;
} * locked;
static size_t locked_count;

void umw_locks_copied(int from, int to)
{
  if (!in_table(from) || !in_table(to) || from == to)
    return;
  set_next(to, next_of(from));
  set_next(from, to);
  description[to] = description[from];
}

static void close_description(int fd)
{
  if (!in_table(fd))
    return;
  const int next = next_of(fd);
  if (next != fd) {
    int before = next;
    while (next_of(before) != fd)
      before = next_of(before);
    set_next(before, next);
    set_next(fd, fd);
  } else if (description[fd] != 0 && umw_gate) {
    umw_description_closed(description[fd]);
  }
  description[fd] = 0;
}

static void close_file(int fd)
{
  struct stat status;
  if (UMW_REAL(fstat)(fd, &status) != 0)
    return;
  for (size_t i = 0; i < locked_count; ++i)
    if (locked[i].device == status.st_dev && locked[i].inode == status.st_ino) {
      locked[i] = locked[--locked_count];
      umw_file_closed(status.st_dev, status.st_ino);
      return;
    }
}

void umw_locks_closing(int fd)
{
  const int error = errno;
  if (locked_count > 0 && umw_gate && fd >= 0)
    close_file(fd);
  close_description(fd);
  errno = error;
}

static bool remember(const struct stat* status)
{
  for (size_t i = 0; i < locked_count; ++i)
    if (locked[i].device == status->st_dev && locked[i].inode == status->st_ino)
      return true;
  struct place* more = realloc(locked, (locked_count + 1) * sizeof *more);
  if (!more)
    return false;
  locked = more;
  locked[locked_count++] = (struct place){status->st_dev, status->st_ino};
  return true;
}

/* 0: there is no room for it. */
static uint32_t description_of(int fd)
{
  if (!in_table(fd))
    return 0;
  if (description[fd] == 0) {
    const uint32_t number = ++last_description;
    int each = fd;
    do {
      description[each] = number;
      each = next_of(each);
    } while (each != fd);
  }
  return description[fd];
}

static int fail(int error)
{
  errno = error;
  return -1;
}

/* A wait is restarted after handlers with SA_RESTART, signal(7). */
static int request(const struct stat* file, bool as_a_whole, uint32_t of, int mode, int64_t first, int64_t last,
                   bool waits)
{
  const unsigned final = umw_interruptions.final;
  int result;
  do {
    if (waits)
      umw_test_cancel();
    result = umw_file_lock(file->st_dev, file->st_ino, as_a_whole, of, mode, first, last, waits);
  } while (result == -EINTR && umw_interruptions.final == final);
  return umw_result(result);
}

/* --- fcntl -------------------------------------------------------------------------------------------------------- */

bool umw_is_lock_command(int command)
{
  return command == F_SETLK || command == F_SETLKW || command == F_GETLK || command == F_OFD_SETLK ||
         command == F_OFD_SETLKW || command == F_OFD_GETLK;
}

/* As flock64_to_posix_lock() of Linux' fs/locks.c. */
static bool range_of(int fd, const struct flock* lock, const struct stat* status, int64_t* first, int64_t* last)
{
  int64_t base = 0;
  if (lock->l_whence == SEEK_CUR) {
    const int error = errno;
    const off_t here = UMW_REAL(lseek)(fd, 0, SEEK_CUR);
    errno = error;
    base = here > 0 ? here : 0;
  } else if (lock->l_whence == SEEK_END) {
    base = status->st_size;
  } else if (lock->l_whence != SEEK_SET) {
    errno = EINVAL;
    return false;
  }
  int64_t begin, end;
  errno = EOVERFLOW;
  if (lock->l_start > INT64_MAX - base)
    return false;
  begin = base + lock->l_start;
  if (lock->l_len > 0) {
    if (begin >= 0 && lock->l_len - 1 > INT64_MAX - begin)
      return false;
    end = begin + lock->l_len - 1;
  } else if (lock->l_len < 0) {
    end = begin - 1;
    begin = begin < 0 ? -1 : begin + lock->l_len;
  } else {
    end = INT64_MAX;
  }
  errno = EINVAL;
  if (begin < 0)
    return false;
  *first = begin;
  *last = end;
  return true;
}

static int mode_of(short type)
{
  return type == F_RDLCK ? UMW_LOCK_SHARED : type == F_WRLCK ? UMW_LOCK_EXCLUSIVE : UMW_LOCK_NONE;
}

static int test(const struct stat* status, uint32_t of, struct flock* lock, int64_t first, int64_t last)
{
  int mode = mode_of(lock->l_type), pid = 0;
  umw_file_lock_test(status->st_dev, status->st_ino, of, &mode, &first, &last, &pid);
  if (mode == UMW_LOCK_NONE) {
    lock->l_type = F_UNLCK;
    return 0;
  }
  *lock = (struct flock){.l_type = mode == UMW_LOCK_SHARED ? F_RDLCK : F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = first,
                         .l_len = last == INT64_MAX ? 0 : last - first + 1,
                         .l_pid = pid};
  return 0;
}

int umw_lock_command(int fd, int command, struct flock* lock)
{
  const int error = errno;
  const bool of_description = command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK;
  const bool asks = command == F_GETLK || command == F_OFD_GETLK;
  struct stat status;
  int64_t first, last;
  const int flags = UMW_REAL(fcntl)(fd, F_GETFL);
  if (flags < 0 || flags & O_PATH || UMW_REAL(fstat)(fd, &status) != 0)
    return fail(EBADF);
  if (!lock)
    return fail(EFAULT);
  const short type = lock->l_type;
  if ((type != F_RDLCK && type != F_WRLCK && (type != F_UNLCK || asks)) || (of_description && lock->l_pid != 0))
    return fail(EINVAL);
  if (!range_of(fd, lock, &status, &first, &last))
    return -1;
  const int access = flags & O_ACCMODE;
  if (!asks && ((type == F_RDLCK && access == O_WRONLY) || (type == F_WRLCK && access == O_RDONLY)))
    return fail(EBADF);
  uint32_t of = 0;
  if (of_description && (of = description_of(fd)) == 0)
    return fail(ENOLCK);
  if (!of_description && type != F_UNLCK && !asks && !remember(&status))
    return fail(ENOLCK);
  errno = error;
  return asks ? test(&status, of, lock, first, last)
              : request(&status, false, of, mode_of(type), first, last, command == F_SETLKW || command == F_OFD_SETLKW);
}

UMW_PUBLIC int lockf(int fd, int command, off_t size)
{
  if (!umw_gate)
    return UMW_REAL(lockf)(fd, command, size);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_start = 0, .l_len = size};
  switch (command) {
  case F_TEST:
    lock.l_type = F_RDLCK;
    if (fcntl(fd, F_GETLK, &lock) < 0)
      return -1;
    return lock.l_type == F_UNLCK || lock.l_pid == umw_gate->pid ? 0 : fail(EACCES);
  case F_ULOCK:
    lock.l_type = F_UNLCK;
    return fcntl(fd, F_SETLK, &lock);
  case F_LOCK:
    return fcntl(fd, F_SETLKW, &lock);
  case F_TLOCK:
    return fcntl(fd, F_SETLK, &lock);
  default:
    return fail(EINVAL);
  }
}

UMW_PUBLIC int lockf64(int fd, int command, off64_t size)
{
  return umw_gate ? lockf(fd, command, size) : UMW_REAL(lockf64)(fd, command, size);
}

/* --- flock -------------------------------------------------------------------------------------------------------- */

UMW_PUBLIC int flock(int fd, int operation)
{
  struct stat status;
  if (!umw_gate)
    return UMW_REAL(flock)(fd, operation);
  const int what = operation & ~LOCK_NB;
  if (what != LOCK_SH && what != LOCK_EX && what != LOCK_UN)
    return fail(EINVAL);
  const int own = umw_open_descriptor(fd);
  const int flags = UMW_REAL(fcntl)(own, F_GETFL);
  if (flags < 0 || flags & O_PATH || UMW_REAL(fstat)(own, &status) != 0)
    return fail(EBADF);
  const uint32_t of = description_of(own);
  if (of == 0)
    return fail(ENOLCK);
  return request(&status, true, of,
                 what == LOCK_SH   ? UMW_LOCK_SHARED
                 : what == LOCK_EX ? UMW_LOCK_EXCLUSIVE
                                   : UMW_LOCK_NONE,
                 0, INT64_MAX, !(operation & LOCK_NB));
}
