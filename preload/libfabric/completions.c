// SPDX-License-Identifier: LGPL-2.1-or-later
// Completion queues: a ring that grows, and what has failed beside it, with its place among the others.
#include "provider.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void tell(int event_fd)
{
  const uint64_t one = 1;
  if (event_fd >= 0 && write(event_fd, &one, sizeof one) < 0)
    return; // it is readable already
}

static void untell(int event_fd)
{
  uint64_t count = 0;
  if (event_fd >= 0 && read(event_fd, &count, sizeof count) < 0)
    return;
}

void umw_fi_put_completion(struct completion_queue* queue, const struct fi_cq_tagged_entry* entry, fi_addr_t source)
{
  if (queue->count == queue->size) {
    struct completion* const ring = malloc(queue->size * 2 * sizeof *ring);
    if (ring == NULL)
      abort(); // a completion would be lost
    for (size_t i = 0; i < queue->count; ++i)
      ring[i] = queue->ring[(queue->first + i) % queue->size];
    free(queue->ring);
    queue->ring = ring;
    queue->first = 0;
    queue->size *= 2;
  }
  queue->ring[(queue->first + queue->count++) % queue->size] = (struct completion){*entry, source};
  tell(queue->event_fd);
}

static struct completion_queue* queue_of(const struct request* request)
{
  const bool receives = request->kind == RECEIVE || request->kind == MULTIPLE || request->kind == SEARCH;
  return receives ? request->endpoint->receive_queue : request->endpoint->transmit_queue;
}

static struct counter* counter_of(const struct request* request)
{
  const struct endpoint* const endpoint = request->endpoint;
  if (request->flags & FI_SEND)
    return endpoint->on_send;
  if (request->flags & FI_RECV)
    return endpoint->on_receive;
  return request->flags & FI_READ ? endpoint->on_read : endpoint->on_write;
}

void umw_fi_complete(struct request* request, uint64_t flags, size_t length, void* buffer)
{
  struct counter* const counter = counter_of(request);
  if (counter != NULL && request->kind != SEARCH && (flags & (FI_SEND | FI_RECV | FI_READ | FI_WRITE)) != 0)
    umw_fi_count(counter);
  struct completion_queue* const queue = queue_of(request);
  if (queue == NULL || request->silent)
    return;
  const struct fi_cq_tagged_entry entry = {.op_context = request->context,
                                           .flags = flags,
                                           .len = length,
                                           .buf = buffer,
                                           .data = request->data,
                                           .tag = request->tag};
  umw_fi_put_completion(queue, &entry, request->from);
}

void umw_fi_fail(struct request* request, int error, int portals, size_t length, size_t too_long)
{
  struct counter* const counter = counter_of(request);
  if (counter != NULL && request->kind != SEARCH)
    umw_fi_count_error(counter);
  struct completion_queue* const queue = queue_of(request);
  if (queue == NULL)
    return;
  struct failure* const failure = calloc(1, sizeof *failure);
  if (failure == NULL)
    abort();
  failure->entry = (struct fi_cq_err_entry){.op_context = request->context,
                                            .flags = request->flags,
                                            .len = length,
                                            .buf = request->iov[0].iov_base,
                                            .data = request->data,
                                            .tag = request->tag,
                                            .olen = too_long,
                                            .err = error,
                                            .prov_errno = portals};
  failure->place = queue->taken + queue->count;
  if (queue->last_failure != NULL)
    queue->last_failure->next = failure;
  else
    queue->failures = failure;
  queue->last_failure = failure;
  tell(queue->event_fd);
}

static ssize_t take(struct completion_queue* queue, void* buffer, size_t count, fi_addr_t* sources)
{
  // In their order: who sees what came behind a failure knows of it, too.
  if (queue->failures != NULL) {
    const uint64_t before = queue->failures->place - queue->taken;
    if (before == 0)
      return -FI_EAVAIL;
    count = count < before ? count : before;
  }
  if (queue->count == 0) {
    untell(queue->event_fd);
    return -FI_EAGAIN;
  }
  static const size_t sizes[] = {[FI_CQ_FORMAT_CONTEXT] = sizeof(struct fi_cq_entry),
                                 [FI_CQ_FORMAT_MSG] = sizeof(struct fi_cq_msg_entry),
                                 [FI_CQ_FORMAT_DATA] = sizeof(struct fi_cq_data_entry),
                                 [FI_CQ_FORMAT_TAGGED] = sizeof(struct fi_cq_tagged_entry)};
  const size_t size = sizes[queue->format];
  if (count > queue->count)
    count = queue->count;
  for (size_t i = 0; i < count; ++i) {
    const struct completion* const next = &queue->ring[queue->first];
    memcpy((char*)buffer + i * size, &next->entry, size); // each format begins with the shorter one
    if (sources != NULL)
      sources[i] = next->source;
    queue->first = (queue->first + 1) % queue->size;
  }
  queue->count -= count;
  queue->taken += count;
  if (queue->count == 0 && queue->failures == NULL)
    untell(queue->event_fd);
  return (ssize_t)count;
}

static ssize_t read_from(struct fid_cq* fid, void* buffer, size_t count, fi_addr_t* sources)
{
  struct completion_queue* const queue = CONTAINER(struct completion_queue, fid, fid);
  umw_fi_lock(queue->domain);
  if (queue->count == 0 || count == 0)
    umw_fi_progress(queue->domain);
  const ssize_t got = count == 0 ? 0 : take(queue, buffer, count, sources);
  umw_fi_unlock(queue->domain);
  return got;
}

static ssize_t read_some(struct fid_cq* fid, void* buffer, size_t count)
{
  return read_from(fid, buffer, count, NULL);
}

static ssize_t read_failure(struct fid_cq* fid, struct fi_cq_err_entry* entry, uint64_t flags)
{
  (void)flags;
  struct completion_queue* const queue = CONTAINER(struct completion_queue, fid, fid);
  umw_fi_lock(queue->domain);
  struct failure* const first = queue->failures;
  if (first != NULL) {
    void* const data = entry->err_data;
    const size_t room = entry->err_data_size;
    *entry = first->entry;
    if (room != 0) // nothing is told, in the program's own memory
      entry->err_data = data;
    queue->failures = first->next;
    if (queue->failures == NULL)
      queue->last_failure = NULL;
    free(first);
  }
  umw_fi_unlock(queue->domain);
  return first != NULL ? 1 : -FI_EAGAIN;
}

struct wish {
  struct completion_queue* queue;
  size_t count;
};

static bool enough(void* argument)
{
  const struct wish* const wish = argument;
  return wish->queue->count >= wish->count || wish->queue->failures != NULL || wish->queue->signaled;
}

static ssize_t wait_for(struct fid_cq* fid, void* buffer, size_t count, fi_addr_t* sources, const void* condition,
                        int timeout)
{
  (void)condition; // FI_CQ_COND_THRESHOLD is a hint
  struct completion_queue* const queue = CONTAINER(struct completion_queue, fid, fid);
  if (queue->wait == FI_WAIT_NONE)
    return -FI_ENOSYS;
  umw_fi_lock(queue->domain);
  struct wish wish = {queue, 1};
  const int waited = umw_fi_wait(queue->domain, timeout, enough, &wish);
  queue->signaled = false;
  ssize_t got = take(queue, buffer, count, sources);
  if (got == -FI_EAGAIN && waited == -FI_ECANCELED)
    got = -FI_ECANCELED;
  umw_fi_unlock(queue->domain);
  return got;
}

static ssize_t wait_for_some(struct fid_cq* fid, void* buffer, size_t count, const void* condition, int timeout)
{
  return wait_for(fid, buffer, count, NULL, condition, timeout);
}

static int end_wait(struct fid_cq* fid)
{
  struct completion_queue* const queue = CONTAINER(struct completion_queue, fid, fid);
  umw_fi_lock(queue->domain);
  queue->signaled = true;
  if (queue->domain->taken)
    umw_fi_wake(queue->domain);
  if (queue->domain->safe)
    pthread_cond_broadcast(&queue->domain->changed);
  umw_fi_unlock(queue->domain);
  return 0;
}

static const char* text_of(struct fid_cq* fid, int portals, const void* data, char* buffer, size_t length)
{
  (void)fid, (void)data;
  static const char* const texts[] = {"none",
                                      "the process is not there",
                                      "nothing at that place, or no such key",
                                      "the portal table entry is disabled",
                                      "not permitted",
                                      "access not allowed",
                                      "not found",
                                      "memory that is not accessible"};
  const char* const text =
      portals >= 0 && (size_t)portals < sizeof texts / sizeof *texts ? texts[portals] : "no such error";
  if (buffer != NULL && length > 0) {
    strncpy(buffer, text, length - 1);
    buffer[length - 1] = '\0';
  }
  return text;
}

static int close_queue(struct fid* fid)
{
  struct completion_queue* const queue = CONTAINER(struct completion_queue, fid.fid, fid);
  if (queue->users != 0)
    return -FI_EBUSY;
  if (queue->event_fd >= 0) {
    umw_fi_leave_thread(queue->domain);
    close(queue->event_fd);
  }
  while (queue->failures != NULL) {
    struct failure* const next = queue->failures->next;
    free(queue->failures);
    queue->failures = next;
  }
  free(queue->ring);
  __atomic_fetch_sub(&queue->domain->users, 1, __ATOMIC_RELAXED);
  free(queue);
  return 0;
}

static int control(struct fid* fid, int command, void* argument)
{
  const struct completion_queue* const queue = CONTAINER(struct completion_queue, fid.fid, fid);
  switch (command) {
  case FI_GETWAIT:
    if (queue->wait == FI_WAIT_FD) {
      *(int*)argument = queue->event_fd;
      return 0;
    }
    return -FI_ENOSYS;
  case FI_GETWAITOBJ:
    *(enum fi_wait_obj*)argument = queue->wait;
    return 0;
  default:
    return -FI_ENOSYS;
  }
}

static struct fi_ops fid_calls = {.size = sizeof(struct fi_ops),
                                  .close = close_queue,
                                  .bind = umw_fi_no_bind,
                                  .control = control,
                                  .ops_open = umw_fi_no_ops_open};
static struct fi_ops_cq calls = {.size = sizeof(struct fi_ops_cq),
                                 .read = read_some,
                                 .readfrom = read_from,
                                 .readerr = read_failure,
                                 .sread = wait_for_some,
                                 .sreadfrom = wait_for,
                                 .signal = end_wait,
                                 .strerror = text_of};

int umw_fi_cq_open(struct fid_domain* domain, struct fi_cq_attr* attr, struct fid_cq** queue, void* context)
{
  if (attr->wait_obj == FI_WAIT_SET || attr->wait_obj == FI_WAIT_MUTEX_COND || attr->wait_obj == FI_WAIT_POLLFD)
    return -FI_ENOSYS;
  if (attr->format > FI_CQ_FORMAT_TAGGED)
    return -FI_EINVAL;
  struct completion_queue* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return -FI_ENOMEM;
  made->size = 256;
  made->ring = malloc(made->size * sizeof *made->ring);
  made->domain = CONTAINER(struct domain, fid, domain);
  made->format = attr->format == FI_CQ_FORMAT_UNSPEC ? FI_CQ_FORMAT_CONTEXT : attr->format;
  made->wait = attr->wait_obj;
  made->event_fd = attr->wait_obj == FI_WAIT_FD ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;
  int error = made->ring == NULL || (attr->wait_obj == FI_WAIT_FD && made->event_fd < 0) ? -FI_ENOMEM : 0;
  if (error == 0 && made->event_fd >= 0)
    error = umw_fi_want_thread(made->domain);
  if (error != 0) {
    if (made->event_fd >= 0)
      close(made->event_fd);
    free(made->ring);
    free(made);
    return error;
  }
  attr->format = made->format;
  made->fid.fid = (struct fid){.fclass = FI_CLASS_CQ, .context = context, .ops = &fid_calls};
  made->fid.ops = &calls;
  __atomic_fetch_add(&made->domain->users, 1, __ATOMIC_RELAXED);
  *queue = &made->fid;
  return 0;
}
