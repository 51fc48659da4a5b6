// SPDX-License-Identifier: LGPL-2.1-or-later
// Queues of events that are not about data: what a program writes itself, and addresses that were entered.
#include "provider.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct queued_event {
  struct queued_event* next;
  uint32_t event;
  size_t size;
  unsigned char data[];
};

int umw_fi_add_event(struct event_queue* queue, uint32_t event, const void* entry, size_t size)
{
  struct queued_event* const added = malloc(sizeof *added + size);
  if (added == NULL)
    return -FI_ENOMEM;
  *added = (struct queued_event){.event = event, .size = size};
  memcpy(added->data, entry, size);
  pthread_mutex_lock(&queue->lock);
  if (queue->last != NULL)
    queue->last->next = added;
  else
    queue->first = added;
  queue->last = added;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  return 0;
}

static ssize_t take(struct event_queue* queue, uint32_t* event, void* buffer, size_t length, uint64_t flags)
{
  struct queued_event* const first = queue->first;
  if (first == NULL)
    return -FI_EAGAIN;
  if (length < first->size)
    return -FI_ETOOSMALL;
  *event = first->event;
  const ssize_t size = (ssize_t)first->size;
  memcpy(buffer, first->data, first->size);
  if ((flags & FI_PEEK) == 0) {
    queue->first = first->next;
    if (queue->first == NULL)
      queue->last = NULL;
    free(first);
  }
  return size;
}

static ssize_t read_event(struct fid_eq* fid, uint32_t* event, void* buffer, size_t length, uint64_t flags)
{
  struct event_queue* const queue = CONTAINER(struct event_queue, fid, fid);
  pthread_mutex_lock(&queue->lock);
  const ssize_t got = take(queue, event, buffer, length, flags);
  pthread_mutex_unlock(&queue->lock);
  return got;
}

static ssize_t read_failure(struct fid_eq* fid, struct fi_eq_err_entry* entry, uint64_t flags)
{
  (void)fid, (void)entry, (void)flags;
  return -FI_EAGAIN; // nothing that is done here fails later
}

static ssize_t write_event(struct fid_eq* fid, uint32_t event, const void* buffer, size_t length, uint64_t flags)
{
  (void)flags;
  const int error = umw_fi_add_event(CONTAINER(struct event_queue, fid, fid), event, buffer, length);
  return error != 0 ? error : (ssize_t)length;
}

static ssize_t wait_for_event(struct fid_eq* fid, uint32_t* event, void* buffer, size_t length, int timeout,
                              uint64_t flags)
{
  struct event_queue* const queue = CONTAINER(struct event_queue, fid, fid);
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  if (timeout > 0) {
    end.tv_nsec += timeout % 1000 * 1000000L;
    end.tv_sec += timeout / 1000 + end.tv_nsec / 1000000000L;
    end.tv_nsec %= 1000000000L;
  }
  pthread_mutex_lock(&queue->lock);
  ssize_t got = 0;
  while ((got = take(queue, event, buffer, length, flags)) == -FI_EAGAIN && timeout != 0) {
    if (timeout < 0)
      pthread_cond_wait(&queue->changed, &queue->lock);
    else if (pthread_cond_timedwait(&queue->changed, &queue->lock, &end) == ETIMEDOUT)
      break;
  }
  pthread_mutex_unlock(&queue->lock);
  return got;
}

static const char* text_of(struct fid_eq* fid, int error, const void* data, char* buffer, size_t length)
{
  (void)fid, (void)data;
  const char* const text = fi_strerror(error);
  if (buffer != NULL && length > 0) {
    strncpy(buffer, text, length - 1);
    buffer[length - 1] = '\0';
  }
  return text;
}

static int close_queue(struct fid* fid)
{
  struct event_queue* const queue = CONTAINER(struct event_queue, fid.fid, fid);
  while (queue->first != NULL) {
    struct queued_event* const next = queue->first->next;
    free(queue->first);
    queue->first = next;
  }
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->lock);
  free(queue);
  return 0;
}

static struct fi_ops fid_calls = {.size = sizeof(struct fi_ops),
                                  .close = close_queue,
                                  .bind = umw_fi_no_bind,
                                  .control = umw_fi_no_control,
                                  .ops_open = umw_fi_no_ops_open};
static struct fi_ops_eq calls = {.size = sizeof(struct fi_ops_eq),
                                 .read = read_event,
                                 .readerr = read_failure,
                                 .write = write_event,
                                 .sread = wait_for_event,
                                 .strerror = text_of};

int umw_fi_eq_open(struct fid_fabric* fabric, struct fi_eq_attr* attr, struct fid_eq** queue, void* context)
{
  (void)fabric;
  if (attr != NULL && attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC &&
      attr->wait_obj != FI_WAIT_YIELD)
    return -FI_ENOSYS;
  struct event_queue* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return -FI_ENOMEM;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->changed, NULL);
  made->fid.fid = (struct fid){.fclass = FI_CLASS_EQ, .context = context, .ops = &fid_calls};
  made->fid.ops = &calls;
  *queue = &made->fid;
  return 0;
}
