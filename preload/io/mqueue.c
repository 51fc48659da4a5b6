/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Message queues of POSIX, mq_overview(7): those of the simulated node (runtime/sysv/posix_queues.h), and gone with the
 * run. The descriptor is an eventfd that can be read as long as there are messages. */
#include "preload/threads/notify.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>

#include "preload/abi/time_units.h"
#include "preload/descriptors/descriptors.h"

struct queue {
  int fd, number; /* fd: the process's */
  struct queue* next;
};
static struct queue* queues; /* what is open */

static int failed(int error)
{
  errno = error;
  return -1;
}

static struct queue** find(int own)
{
  struct queue** link = &queues;
  while (*link && (*link)->fd != own)
    link = &(*link)->next;
  return link;
}

/* Or -1: the runtime knows none of that number. */
static int number_of(mqd_t fd)
{
  struct queue** link = find(umw_open_descriptor(fd));
  return *link ? (*link)->number : -1;
}

void umw_queue_fd_closed(int own)
{
  struct queue** link = find(own);
  struct queue* queue = *link;
  if (!queue || !umw_gate)
    return;
  *link = queue->next;
  umw_queue_close(queue->number);
  free(queue);
}

static mqd_t open_queue(const char* name, int flags, mode_t mode, const struct mq_attr* attributes)
{
  if (!umw_may_open(1))
    return -1;
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int own = umw_descriptor(fd);
  struct queue* queue = fd < 0 ? NULL : malloc(sizeof *queue);
  if (!queue)
    return fd < 0 ? -1 : (umw_close(own), failed(ENOMEM));
  const int64_t shape[2] = {attributes ? attributes->mq_maxmsg : 0, attributes ? attributes->mq_msgsize : 0};
  const mode_t mask = umask(0);
  umask(mask);
  *queue =
      (struct queue){own, umw_queue_open(name, flags, (int)(mode & ~mask), attributes ? shape : NULL, own), queues};
  if (queue->number < 0) {
    const int error = -queue->number;
    free(queue);
    umw_close(own);
    return failed(error);
  }
  queues = queue;
  return fd;
}

UMW_PUBLIC mqd_t mq_open(const char* name, int flags, ...)
{
  mode_t mode = 0;
  struct mq_attr* attributes = NULL;
  if (flags & O_CREAT) {
    va_list list;
    va_start(list, flags);
    mode = va_arg(list, mode_t);
    attributes = va_arg(list, struct mq_attr*);
    va_end(list);
  }
  return umw_gate ? open_queue(name, flags, mode, attributes) : UMW_REAL(mq_open)(name, flags, mode, attributes);
}

/* What -D_FORTIFY_SOURCE makes of it. */
_Noreturn void __chk_fail(void);
mqd_t __mq_open_2(const char* name, int flags);
UMW_PUBLIC mqd_t __mq_open_2(const char* name, int flags)
{
  if (flags & O_CREAT)
    __chk_fail();
  return mq_open(name, flags);
}

UMW_PUBLIC int mq_close(mqd_t fd)
{
  if (!umw_gate)
    return UMW_REAL(mq_close)(fd);
  const int own = umw_descriptor(fd);
  if (!*find(own))
    return failed(EBADF);
  umw_queue_fd_closed(own);
  return umw_close(own);
}

UMW_PUBLIC int mq_unlink(const char* name)
{
  return umw_gate ? umw_result(umw_queue_unlink(name)) : UMW_REAL(mq_unlink)(name);
}

/* `wanted` null: the flags stay. */
static int attributes_of(mqd_t fd, const struct mq_attr* wanted, struct mq_attr* old)
{
  int64_t before[4] = {0, 0, 0, 0};
  const int status = umw_queue_attributes(number_of(fd), wanted ? (int)wanted->mq_flags : -1, before);
  if (status == 0 && old)
    *old = (struct mq_attr){
        .mq_flags = before[0], .mq_maxmsg = before[1], .mq_msgsize = before[2], .mq_curmsgs = before[3]};
  return umw_result(status);
}

UMW_PUBLIC int mq_setattr(mqd_t fd, const struct mq_attr* restrict attributes, struct mq_attr* restrict old)
{
  return umw_gate ? attributes_of(fd, attributes, old) : UMW_REAL(mq_setattr)(fd, attributes, old);
}

UMW_PUBLIC int mq_getattr(mqd_t fd, struct mq_attr* attributes)
{
  return umw_gate ? attributes_of(fd, NULL, attributes) : UMW_REAL(mq_getattr)(fd, attributes);
}

/* Negative: no limit. */
static int64_t time_left(const struct timespec* abstime)
{
  struct timespec now;
  if (!abstime)
    return -1;
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t left = umw_ps_between(&now, abstime);
  return left > 0 ? left : 0;
}

/* `abstime` null: no limit. */
static int send_until(mqd_t fd, const char* text, size_t size, unsigned priority, const struct timespec* abstime)
{
  if (abstime && !umw_is_time(abstime)) /* also where it need not wait */
    return failed(EINVAL);
  const unsigned final = umw_interruptions.final; /* else it is restarted, also with a time, signal(7) */
  for (;;) {
    umw_test_cancel();
    const int status = umw_queue_send(number_of(fd), text, size, priority, time_left(abstime));
    if (status != -EINTR || umw_interruptions.final != final)
      return umw_result(status);
  }
}

static ssize_t receive_until(mqd_t fd, char* text, size_t size, unsigned* priority, const struct timespec* abstime)
{
  if (abstime && !umw_is_time(abstime))
    return failed(EINVAL);
  const unsigned final = umw_interruptions.final;
  for (;;) {
    umw_test_cancel();
    uint32_t found = 0;
    const int64_t result = umw_queue_receive(number_of(fd), text, size, &found, time_left(abstime));
    if (result >= 0 && priority)
      *priority = found;
    if (result != -EINTR || umw_interruptions.final != final)
      return umw_result(result);
  }
}

UMW_PUBLIC int mq_timedsend(mqd_t fd, const char* text, size_t size, unsigned priority, const struct timespec* abstime)
{
  return umw_gate ? send_until(fd, text, size, priority, abstime)
                  : UMW_REAL(mq_timedsend)(fd, text, size, priority, abstime);
}

UMW_PUBLIC int mq_send(mqd_t fd, const char* text, size_t size, unsigned priority)
{
  return umw_gate ? send_until(fd, text, size, priority, NULL) : UMW_REAL(mq_send)(fd, text, size, priority);
}

UMW_PUBLIC ssize_t mq_timedreceive(mqd_t fd, char* restrict text, size_t size, unsigned* restrict priority,
                                   const struct timespec* restrict abstime)
{
  return umw_gate ? receive_until(fd, text, size, priority, abstime)
                  : UMW_REAL(mq_timedreceive)(fd, text, size, priority, abstime);
}

UMW_PUBLIC ssize_t mq_receive(mqd_t fd, char* text, size_t size, unsigned* priority)
{
  return umw_gate ? receive_until(fd, text, size, priority, NULL) : UMW_REAL(mq_receive)(fd, text, size, priority);
}

UMW_PUBLIC int mq_notify(mqd_t fd, const struct sigevent* event)
{
  if (!umw_gate)
    return UMW_REAL(mq_notify)(fd, event);
  if (!event)
    return umw_result(umw_queue_notify(number_of(fd), -1, 0, 0));
  int number = 0, tid = 0;
  uint64_t value = (uint64_t)event->sigev_value.sival_ptr;
  struct umw_due* due = NULL;
  if (event->sigev_notify == SIGEV_THREAD) {
    const int error = umw_due_helper(&tid);
    due = error == 0 ? malloc(sizeof *due) : NULL;
    if (!due)
      return failed(error == 0 ? ENOMEM : error);
    *due = (struct umw_due){event->sigev_notify_function, event->sigev_value, event->sigev_notify_attributes, true};
    number = UMW_DUE_SIGNAL;
    value = (uint64_t)due;
  } else if (event->sigev_notify == SIGEV_SIGNAL) {
    number = event->sigev_signo;
  }
  if ((event->sigev_notify != SIGEV_THREAD && event->sigev_notify != SIGEV_SIGNAL &&
       event->sigev_notify != SIGEV_NONE) ||
      number < 0 || number >= NSIG)
    return failed(EINVAL);
  const int status = umw_queue_notify(number_of(fd), number, tid, value);
  if (status != 0)
    free(due);
  return umw_result(status);
}
