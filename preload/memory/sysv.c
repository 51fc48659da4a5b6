/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * System V IPC: shared memory, semaphores and message queues are those of the simulated node (runtime/sysv), and gone
 * with the run. A segment of shared memory is a file in the node's directory. */
#include "preload/shim.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

#include "preload/abi/time_units.h"

/* --- shared memory ------------------------------------------------------------------------------------------------ */

static struct attached {
  void* address;
  size_t size;
  int id;
  struct attached* next;
} * all_attached;

UMW_PUBLIC int shmget(key_t key, size_t size, int flags)
{
  return umw_gate ? umw_result(umw_shm_get(key, size, flags)) : UMW_REAL(shmget)(key, size, flags);
}

static void* map_segment(int id, size_t size, void* address, int flags)
{
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/sysv/%d", umw_gate->session_directory, id) >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return MAP_FAILED;
  }
  const bool read_only = flags & SHM_RDONLY;
  const int protection = PROT_READ | (read_only ? 0 : PROT_WRITE) | (flags & SHM_EXEC ? PROT_EXEC : 0);
  const int fd = UMW_REAL(open)(path, (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
  if (fd < 0)
    return MAP_FAILED;
  const int where = !address ? 0 : flags & SHM_REMAP ? MAP_FIXED : MAP_FIXED_NOREPLACE;
  void* mapped = umw_map(address, size, protection, MAP_SHARED | where, fd, 0);
  const int error = errno == EEXIST ? EINVAL : errno;
  UMW_REAL(close)(fd);
  errno = error;
  return mapped;
}

UMW_PUBLIC void* shmat(int id, const void* address, int flags)
{
  if (!umw_gate)
    return UMW_REAL(shmat)(id, address, flags);
  uintptr_t place = (uintptr_t)address;
  if (place % SHMLBA != 0 && flags & SHM_RND)
    place -= place % SHMLBA;
  if (place % SHMLBA != 0 || (!place && flags & SHM_REMAP)) {
    errno = EINVAL;
    return (void*)-1;
  }
  struct attached* attached = calloc(1, sizeof *attached);
  const int64_t size = attached ? umw_shm_attach(id, flags) : -ENOMEM;
  if (size < 0) {
    free(attached);
    errno = (int)-size;
    return (void*)-1;
  }
  void* mapped = map_segment(id, (size_t)size, (void*)place, flags);
  if (mapped == MAP_FAILED) {
    const int error = errno;
    umw_shm_detach(id);
    free(attached);
    errno = error;
    return (void*)-1;
  }
  *attached = (struct attached){mapped, (size_t)size, id, all_attached};
  all_attached = attached;
  return mapped;
}

UMW_PUBLIC int shmdt(const void* address)
{
  if (!umw_gate)
    return UMW_REAL(shmdt)(address);
  for (struct attached** link = &all_attached; *link; link = &(*link)->next) {
    struct attached* attached = *link;
    if (attached->address != address)
      continue;
    *link = attached->next;
    munmap(attached->address, attached->size);
    umw_shm_detach(attached->id);
    free(attached);
    return 0;
  }
  errno = EINVAL;
  return -1;
}

UMW_PUBLIC int shmctl(int id, int command, struct shmid_ds* status)
{
  if (!umw_gate)
    return UMW_REAL(shmctl)(id, command, status);
  struct shmid_ds none;
  memset(&none, 0, sizeof none);
  if ((command == IPC_STAT || command == IPC_SET) && !status) {
    errno = EFAULT;
    return -1;
  }
  return umw_result(umw_shm_control(id, command, status ? status : &none));
}

/* --- semaphores --------------------------------------------------------------------------------------------------- */

UMW_PUBLIC int semget(key_t key, int count, int flags)
{
  return umw_gate ? umw_result(umw_sem_get(key, count, flags)) : UMW_REAL(semget)(key, count, flags);
}

UMW_PUBLIC int semtimedop(int id, struct sembuf* operations, size_t count, const struct timespec* duration)
{
  if (!umw_gate)
    return UMW_REAL(semtimedop)(id, operations, count, duration);
  if (duration && !umw_is_time(duration)) {
    errno = EINVAL;
    return -1;
  }
  return umw_result(umw_sem_operate(id, operations, count, duration ? umw_ps_of_timespec(duration) : -1));
}

UMW_PUBLIC int semop(int id, struct sembuf* operations, size_t count)
{
  return umw_gate ? semtimedop(id, operations, count, NULL) : UMW_REAL(semop)(id, operations, count);
}

union argument {
  int value;
  struct semid_ds* status;
  unsigned short* values;
};

UMW_PUBLIC int semctl(int id, int number, int command, ...)
{
  va_list list;
  va_start(list, command);
  const union argument argument = va_arg(list, union argument); /* passing one that is not there does no harm */
  va_end(list);
  if (!umw_gate)
    return UMW_REAL(semctl)(id, number, command, argument);
  struct semid_ds none;
  memset(&none, 0, sizeof none);
  unsigned short nothing = 0, *values = &nothing;
  struct semid_ds* status = &none;
  int value = 0, count = 0;
  switch (command) {
  case GETALL:
  case SETALL:
    values = argument.values;
    count = umw_sem_count(id);
    if (count < 0)
      return umw_result(count);
    break;
  case SETVAL:
    value = argument.value;
    break;
  case IPC_STAT:
  case IPC_SET:
    status = argument.status;
    break;
  default:
    break;
  }
  if (!values || !status) {
    errno = EFAULT;
    return -1;
  }
  return umw_result(umw_sem_control(id, number, command, value, status, values, (uint64_t)count));
}

/* --- message queues ----------------------------------------------------------------------------------------------- */

struct message {
  long type;
  char text[];
};

UMW_PUBLIC int msgget(key_t key, int flags)
{
  return umw_gate ? umw_result(umw_msg_get(key, flags)) : UMW_REAL(msgget)(key, flags);
}

UMW_PUBLIC int msgsnd(int id, const void* message, size_t size, int flags)
{
  if (!umw_gate)
    return UMW_REAL(msgsnd)(id, message, size, flags);
  const struct message* sent = message;
  if ((ssize_t)size < 0 || size > 65536) {
    errno = EINVAL;
    return -1;
  }
  return umw_result(umw_msg_send(id, sent->type, sent->text, size, flags));
}

UMW_PUBLIC ssize_t msgrcv(int id, void* message, size_t size, long type, int flags)
{
  if (!umw_gate)
    return UMW_REAL(msgrcv)(id, message, size, type, flags);
  struct message* received = message;
  if ((ssize_t)size < 0) {
    errno = EINVAL;
    return -1;
  }
  int64_t found = type;
  const int64_t result = umw_msg_receive(id, &found, received->text, size < 65536 ? size : 65536, flags);
  if (result >= 0)
    received->type = found;
  return umw_result(result);
}

UMW_PUBLIC int msgctl(int id, int command, struct msqid_ds* status)
{
  if (!umw_gate)
    return UMW_REAL(msgctl)(id, command, status);
  struct msqid_ds none;
  memset(&none, 0, sizeof none);
  if ((command == IPC_STAT || command == IPC_SET) && !status) {
    errno = EFAULT;
    return -1;
  }
  return umw_result(umw_msg_control(id, command, status ? status : &none));
}
