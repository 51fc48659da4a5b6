/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Asynchronous I/O, aio(7). The C library does it in threads of its own, which would be outside of the simulation. What
 * never waits (a file, of which the simulation does not know how long it takes) is done at once; for everything else
 * the descriptor gets a simulated thread while there are requests for it, which does them one after another, those of
 * higher priority first, as the C library's does. Results are kept in the control block where the C library keeps them.
 */
#define _LARGEFILE64_SOURCE
#include "preload/threads/notify.h"

#include <aio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "preload/abi/time_units.h"

enum operation { op_read, op_write, op_sync, op_data_sync };

/* Of a lio_listio that does not wait. */
struct list {
  int left;
  struct sigevent event;
};

struct request {
  struct aiocb* block;
  enum operation operation;
  int priority;
  struct list* list;
  struct request* next;
};

struct descriptor {
  int fd;
  struct request* first; /* the one that is being done, then the others in the order in which they will be */
  struct descriptor* next;
};
static struct descriptor* descriptors; /* those with requests, and a thread */

static struct descriptor** find(int fd)
{
  struct descriptor** link = &descriptors;
  while (*link && (*link)->fd != fd)
    link = &(*link)->next;
  return link;
}

/* Pipes, sockets and the like ignore the offset. */
static ssize_t perform(const struct request* request)
{
  const struct aiocb* block = request->block;
  const int fd = block->aio_fildes;
  void* buffer = (void*)block->aio_buf;
  ssize_t result;
  do
    switch (request->operation) {
    case op_read:
      result = pread(fd, buffer, block->aio_nbytes, block->aio_offset);
      if (result < 0 && errno == ESPIPE)
        result = read(fd, buffer, block->aio_nbytes);
      break;
    case op_write:
      result = pwrite(fd, buffer, block->aio_nbytes, block->aio_offset);
      if (result < 0 && errno == ESPIPE)
        result = write(fd, buffer, block->aio_nbytes);
      break;
    case op_sync:
      result = fsync(fd);
      break;
    default:
      result = fdatasync(fd);
    }
  while (result < 0 && errno == EINTR);
  return result;
}

static void set_result(struct aiocb* block, ssize_t result, int error)
{
  block->__return_value = result;
  __atomic_store_n(&block->__error_code, error, __ATOMIC_RELEASE); /* from here on it may be gone */
}

/* The block is the program's again as soon as it can see that the request is over. */
static void complete(struct request* request, ssize_t result, int error)
{
  const struct sigevent event = request->block->aio_sigevent;
  struct list* list = request->list;
  set_result(request->block, result, error);
  free(request);
  umw_changed();
  umw_notify(&event, SI_ASYNCIO);
  if (list && --list->left == 0) {
    umw_notify(&list->event, SI_ASYNCIO);
    free(list);
  }
}

static void do_first(struct request* request)
{
  const int before = errno;
  errno = 0;
  const ssize_t result = perform(request);
  const int error = result < 0 ? errno : 0;
  complete(request, result, error);
  errno = before;
}

static void* serve(void* argument)
{
  struct descriptor* own = argument;
  while (own->first) {
    struct request* request = own->first;
    const int before = errno;
    const ssize_t result = perform(request);
    const int error = result < 0 ? errno : 0;
    errno = before;
    own->first = request->next;
    complete(request, result, error);
  }
  struct descriptor** link = find(own->fd);
  *link = own->next;
  free(own);
  return NULL;
}

static bool never_waits(int fd)
{
  struct stat status;
  return fstat(fd, &status) != 0 || S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) || S_ISDIR(status.st_mode);
}

static bool syncs(const struct request* request)
{
  return request->operation == op_sync || request->operation == op_data_sync;
}

/* Behind the one that is being done, and all of its priority or a higher one; a sync behind all there are, and before
 * all that come. */
static void append(struct descriptor* descriptor, struct request* request)
{
  struct request** link = &descriptor->first;
  while (*link &&
         (link == &descriptor->first || syncs(request) || syncs(*link) || (*link)->priority >= request->priority))
    link = &(*link)->next;
  request->next = *link;
  *link = request;
}

/* An errno. */
static int enqueue(struct aiocb* block, enum operation operation, struct list* list)
{
  struct request* request = malloc(sizeof *request);
  if (!request)
    return EAGAIN;
  *request = (struct request){block, operation, -block->aio_reqprio, list, NULL};
  if (!syncs(request) && (block->aio_reqprio < 0 || block->aio_reqprio > sysconf(_SC_AIO_PRIO_DELTA_MAX))) {
    free(request);
    set_result(block, -1, EINVAL);
    return EINVAL;
  }
  set_result(block, 0, EINPROGRESS);
  if (list)
    ++list->left;
  struct descriptor* descriptor = *find(block->aio_fildes);
  if (descriptor) {
    append(descriptor, request);
    return 0;
  }
  if (never_waits(block->aio_fildes)) {
    do_first(request);
    return 0;
  }
  descriptor = malloc(sizeof *descriptor);
  if (descriptor) {
    *descriptor = (struct descriptor){block->aio_fildes, request, descriptors};
    descriptors = descriptor;
    if (umw_start_helper(NULL, serve, descriptor) == 0)
      return 0;
    *find(block->aio_fildes) = descriptor->next;
    free(descriptor);
  }
  if (list)
    --list->left;
  free(request);
  set_result(block, -1, EAGAIN);
  return EAGAIN;
}

static int failed(int error)
{
  errno = error;
  return -1;
}

static int status_of(int error)
{
  return error == 0 ? 0 : failed(error);
}

UMW_PUBLIC int aio_read(struct aiocb* block)
{
  return umw_gate ? status_of(enqueue(block, op_read, NULL)) : UMW_REAL(aio_read)(block);
}

UMW_PUBLIC int aio_write(struct aiocb* block)
{
  return umw_gate ? status_of(enqueue(block, op_write, NULL)) : UMW_REAL(aio_write)(block);
}

UMW_PUBLIC int aio_fsync(int operation, struct aiocb* block)
{
  if (!umw_gate)
    return UMW_REAL(aio_fsync)(operation, block);
  if (operation != O_SYNC && operation != O_DSYNC)
    return failed(EINVAL);
  const int flags = fcntl(block->aio_fildes, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
    return failed(EBADF);
  return status_of(enqueue(block, operation == O_SYNC ? op_sync : op_data_sync, NULL));
}

UMW_PUBLIC int aio_error(const struct aiocb* block)
{
  if (!umw_gate)
    return UMW_REAL(aio_error)(block);
  if (__atomic_load_n(&block->__error_code, __ATOMIC_ACQUIRE) == EINPROGRESS)
    umw_yield(0); /* it will ask again: others get on first */
  return __atomic_load_n(&block->__error_code, __ATOMIC_ACQUIRE);
}

UMW_PUBLIC int aio_suspend(const struct aiocb* const blocks[], int count, const struct timespec* restrict timeout)
{
  if (!umw_gate)
    return UMW_REAL(aio_suspend)(blocks, count, timeout);
  if (count < 0)
    return failed(EINVAL);
  const unsigned handled = umw_interruptions.handled;
  const int64_t begin = timeout ? umw_now_ps(NULL) : 0;
  const int64_t duration = timeout ? umw_ps_of_timespec(timeout) : -1;
  for (;;) {
    const uint64_t seen = umw_gate->wakes; /* from before the look, see threads/waiting.h */
    bool any = false;
    for (int i = 0; i < count; ++i) {
      if (blocks[i] && __atomic_load_n(&blocks[i]->__error_code, __ATOMIC_ACQUIRE) != EINPROGRESS)
        return 0;
      any = any || blocks[i];
    }
    if (!any)
      return 0;
    umw_test_cancel();
    if (timeout && (timeout->tv_nsec < 0 || timeout->tv_nsec >= 1000000000))
      return failed(EINVAL);
    const int64_t left = !timeout ? -1 : duration <= 0 ? 0 : umw_ps_left(begin, duration, umw_now_ps(NULL));
    if (left == 0)
      return failed(EAGAIN);
    umw_wait_for_change(seen, left);
    if (umw_interruptions.handled != handled)
      return failed(EINTR);
  }
}

UMW_PUBLIC int aio_cancel(int fd, struct aiocb* block)
{
  if (!umw_gate)
    return UMW_REAL(aio_cancel)(fd, block);
  if (fcntl(fd, F_GETFL) < 0)
    return failed(EBADF);
  if (block && block->aio_fildes != fd)
    return failed(EINVAL);
  const struct descriptor* descriptor = *find(fd);
  if (!descriptor || !descriptor->first || (block && block->__error_code != EINPROGRESS))
    return AIO_ALLDONE;
  if (block && descriptor->first->block == block)
    return AIO_NOTCANCELED;
  struct request* cancelled = NULL;
  for (struct request** link = &descriptor->first->next; *link;)
    if (!block || (*link)->block == block) {
      struct request* request = *link;
      *link = request->next;
      request->next = cancelled;
      cancelled = request;
    } else {
      link = &(*link)->next;
    }
  while (cancelled) { /* each may let others run */
    struct request* request = cancelled;
    cancelled = request->next;
    complete(request, -1, ECANCELED);
  }
  return block ? AIO_CANCELED : AIO_NOTCANCELED; /* without a block the first, which is being done, is meant, too */
}

static int wait_for_list(struct aiocb* const blocks[], int count)
{
  const unsigned handled = umw_interruptions.handled;
  for (;;) {
    const uint64_t seen = umw_gate->wakes;
    bool over = true, failure = false;
    for (int i = 0; i < count; ++i)
      if (blocks[i] && blocks[i]->aio_lio_opcode != LIO_NOP) {
        const int error = __atomic_load_n(&blocks[i]->__error_code, __ATOMIC_ACQUIRE);
        over = over && error != EINPROGRESS;
        failure = failure || (error != 0 && error != EINPROGRESS);
      }
    if (over)
      return failure ? failed(EIO) : 0;
    umw_test_cancel();
    umw_wait_for_change(seen, -1);
    if (umw_interruptions.handled != handled)
      return failed(EINTR);
  }
}

UMW_PUBLIC int lio_listio(int mode, struct aiocb* const blocks[restrict], int count, struct sigevent* restrict event)
{
  if (!umw_gate)
    return UMW_REAL(lio_listio)(mode, blocks, count, event);
  if ((mode != LIO_WAIT && mode != LIO_NOWAIT) || count < 0)
    return failed(EINVAL);
  struct list* list = NULL;
  if (mode == LIO_NOWAIT && event && event->sigev_notify != SIGEV_NONE) {
    list = malloc(sizeof *list);
    if (!list)
      return failed(EAGAIN);
    *list = (struct list){1, *event}; /* this call's own, until all are under way */
  }
  bool refused = false;
  for (int i = 0; i < count; ++i) {
    if (!blocks[i] || blocks[i]->aio_lio_opcode == LIO_NOP)
      continue;
    const int operation = blocks[i]->aio_lio_opcode;
    int error = EINVAL;
    if (operation == LIO_READ || operation == LIO_WRITE)
      error = enqueue(blocks[i], operation == LIO_READ ? op_read : op_write, list);
    else
      set_result(blocks[i], -1, EINVAL);
    refused = refused || error != 0;
  }
  if (list && --list->left == 0) {
    umw_notify(&list->event, SI_ASYNCIO);
    free(list);
  }
  if (mode == LIO_WAIT && wait_for_list(blocks, count) != 0)
    return -1;
  return refused ? failed(EIO) : 0;
}

/* The C library's threads; here there are as many as are needed. */
UMW_PUBLIC void aio_init(const struct aioinit* settings)
{
  if (!umw_gate)
    UMW_REAL(aio_init)(settings);
}

/* Offsets have 64 bits anyway. */
UMW_PUBLIC int aio_read64(struct aiocb64* block)
{
  return aio_read((struct aiocb*)block);
}

UMW_PUBLIC int aio_write64(struct aiocb64* block)
{
  return aio_write((struct aiocb*)block);
}

UMW_PUBLIC int aio_fsync64(int operation, struct aiocb64* block)
{
  return aio_fsync(operation, (struct aiocb*)block);
}

UMW_PUBLIC int aio_error64(const struct aiocb64* block)
{
  return aio_error((const struct aiocb*)block);
}

UMW_PUBLIC int aio_suspend64(const struct aiocb64* const blocks[], int count, const struct timespec* restrict timeout)
{
  return aio_suspend((const struct aiocb* const*)blocks, count, timeout);
}

UMW_PUBLIC int aio_cancel64(int fd, struct aiocb64* block)
{
  return aio_cancel(fd, (struct aiocb*)block);
}

UMW_PUBLIC int lio_listio64(int mode, struct aiocb64* const blocks[restrict], int count,
                            struct sigevent* restrict event)
{
  return lio_listio(mode, (struct aiocb* const*)blocks, count, event);
}
