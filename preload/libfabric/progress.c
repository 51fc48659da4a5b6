// SPDX-License-Identifier: LGPL-2.1-or-later
// Events of Portals become completions here: whoever reads a queue or a counter of a domain sees to all of its events.
// One thread at a time takes them, so that they are seen in their order; a thread that waits for one lets the lock go
// meanwhile, and others that wait sleep until it has seen to it.
#include "provider.h"

#include <time.h>

void umw_fi_event(struct domain* domain, const ptl_event_t* event)
{
  if (event->type == PTL_EVENT_PT_DISABLED) {
    umw_fi_disabled(domain, event->pt_index);
    return;
  }
  if (event->user_ptr == NULL)
    return;
  switch (*(const enum origin*)event->user_ptr) {
  case OF_REQUEST: {
    struct request* const request = event->user_ptr;
    if (request->kind == SEND)
      umw_fi_send_event(request, event);
    else if (request->kind == TRANSFER)
      umw_fi_transfer_event(request, event);
    else
      umw_fi_message_event(request, event);
    break;
  }
  case OF_BLOCK:
    umw_fi_block_event(event->user_ptr, event);
    break;
  case OF_REGION:
    umw_fi_region_event(event->user_ptr, event);
    break;
  case OF_PIECE:
    umw_fi_piece_event(event->user_ptr, event);
    break;
  case OF_WAKING:
    domain->woken = true;
    break;
  case OF_NOTHING:
    break;
  }
}

void umw_fi_progress(struct domain* domain)
{
  if (domain->taken)
    return; // another thread is at it
  ptl_event_t event;
  for (int most = 256; most > 0; --most) {
    const int code = PtlEQGet(domain->eq, &event);
    if (code != PTL_OK && code != PTL_EQ_DROPPED)
      return;
    umw_fi_event(domain, &event);
  }
}

void umw_fi_wake(struct domain* domain)
{
  // Refused by the entry, which has nothing at that place: an event all the same.
  PtlPut(domain->md, 0, 0, PTL_ACK_REQ, domain->id, domain->read_pt, ~UINT64_C(0), 0, &domain->waking, 0);
}

static bool is_woken(void* argument)
{
  return ((const struct domain*)argument)->woken;
}

void umw_fi_drain(struct domain* domain)
{
  domain->woken = false;
  umw_fi_wake(domain); // comes behind them
  umw_fi_wait(domain, -1, is_woken, domain);
}

static int64_t milliseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int umw_fi_wait(struct domain* domain, int timeout, bool (*reached)(void*), void* argument)
{
  umw_fi_progress(domain);
  if (reached(argument))
    return 0;
  if (timeout == 0)
    return -FI_ETIMEDOUT;
  const int64_t end = timeout < 0 ? 0 : milliseconds() + timeout;
  for (;;) {
    int64_t left = 0;
    if (timeout >= 0 && (left = end - milliseconds()) <= 0)
      return -FI_ETIMEDOUT;
    if (domain->taken) {
      const struct timespec until = {.tv_sec = end / 1000, .tv_nsec = end % 1000 * 1000000};
      if (timeout < 0)
        pthread_cond_wait(&domain->changed, &domain->lock);
      else
        pthread_cond_timedwait(&domain->changed, &domain->lock, &until);
    } else {
      ptl_event_t event;
      unsigned which = 0;
      domain->taken = true;
      umw_fi_unlock(domain);
      const int code = PtlEQPoll(&domain->eq, 1, timeout < 0 ? PTL_TIME_FOREVER : (ptl_time_t)left, &event, &which);
      umw_fi_lock(domain);
      domain->taken = false;
      if (code == PTL_OK || code == PTL_EQ_DROPPED)
        umw_fi_event(domain, &event);
      umw_fi_progress(domain);
      if (domain->safe)
        pthread_cond_broadcast(&domain->changed);
      if (code == PTL_ABORTED)
        return -FI_ECANCELED;
    }
    if (reached(argument))
      return 0;
  }
}
