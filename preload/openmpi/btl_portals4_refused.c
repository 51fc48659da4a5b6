/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Linked into Open MPI's btl portals4: messages for which the target has no room.
 *
 * A target that computes gives no receive block back. Once all are full its NIC drops what comes, and says so in the
 * acknowledgement, at which Open MPI does not look: the message is lost, and the run hangs. Here such a message is sent
 * again, one at first, more when that is taken, later and later as long as it is not. Messages may overtake each other
 * by that: pml ob1 puts them in order by their sequence numbers.
 */
#include "opal_config.h"

#include <time.h>

#include "btl_portals4.h"
#include "btl_portals4_frag.h"

enum { first_pause_ns = 5000, longest_pause_ns = 1000000, most_at_once = 64, drain_timeout_ns = 1000000000 };

static struct {
  mca_btl_portals4_frag_t *first, *last; /* refused, the oldest first, linked by rdma_cb.data; only Gets use rdma_cb */
  int under_way, at_once;                /* sent again and not answered; so many may be */
  long pause_ns;
  struct timespec refused, taken; /* the last one, when */
  int over;                       /* nobody takes any more */
} again = {.at_once = 1, .pause_ns = first_pause_ns};

static mca_btl_portals4_frag_t* next_of(mca_btl_portals4_frag_t* fragment)
{
  return (mca_btl_portals4_frag_t*)fragment->rdma_cb.data;
}

/* Told from others by a mark; what a fragment of the free list has there is anything else. */
static int was_sent_again(const mca_btl_portals4_frag_t* fragment)
{
  return fragment->rdma_cb.context == &again;
}

static long ns_since(const struct timespec* then)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - then->tv_sec) * 1000000000L + now.tv_nsec - then->tv_nsec;
}

/* In order of their sequence: those that were sent again come first. */
static void refuse(mca_btl_portals4_frag_t* fragment)
{
  if (was_sent_again(fragment)) {
    fragment->rdma_cb.data = again.first;
    again.first = fragment;
    if (!again.last)
      again.last = fragment;
  } else {
    fragment->rdma_cb.data = NULL;
    if (again.last)
      again.last->rdma_cb.data = fragment;
    else
      again.first = fragment;
    again.last = fragment;
  }
  again.at_once = 1;
  clock_gettime(CLOCK_MONOTONIC, &again.refused);
  if (again.taken.tv_sec == 0)
    again.taken = again.refused;
}

/* As mca_btl_portals4_send() does it. It is under way for that: portals_outstanding_ops counts it. */
static int send_again(mca_btl_portals4_frag_t* fragment)
{
  const mca_btl_portals4_module_t* module = mca_btl_portals4_component.btls[0];
  const ptl_size_t length = fragment->segments[0].base.seg_len;
  const int tag = fragment->hdr.tag;
  const ptl_match_bits_t kind = length > module->super.btl_eager_limit ? BTL_PORTALS4_LONG_MSG : BTL_PORTALS4_SHORT_MSG;
  ptl_match_bits_t bits;
  BTL_PORTALS4_SET_SEND_BITS(bits, 0, 0, tag, kind);
  fragment->rdma_cb.context = &again;
  if (PtlPut(module->send_md_h, (ptl_size_t)fragment->segments[0].base.seg_addr.pval, length, PTL_ACK_REQ,
             fragment->endpoint->ptl_proc, module->recv_idx, bits, 0, fragment, tag) != PTL_OK) {
    refuse(fragment);
    return 0;
  }
  ++again.under_way;
  return 1;
}

static void send_refused(void)
{
  if (again.under_way == 0 && again.at_once == 1 && ns_since(&again.refused) < again.pause_ns)
    return;
  while (again.first && again.under_way < again.at_once) {
    mca_btl_portals4_frag_t* fragment = again.first;
    again.first = next_of(fragment);
    if (!again.first)
      again.last = NULL;
    if (!send_again(fragment))
      return;
  }
}

void umw_give_up_refused(void);
int umw_left(const ptl_event_t* event); /* btl_portals4_sends.c */
#if OPAL_MAJOR_VERSION >= 5
extern const ptl_event_t* umw_event_taken; /* btl_portals4_origins.c */
#endif

/* While MPI ends: what nobody takes for a second is for nobody. */
void umw_give_up_refused(void)
{
  if (!again.first || ns_since(&again.taken) < drain_timeout_ns)
    return;
  again.over = 1;
  for (mca_btl_portals4_frag_t* fragment = again.first; fragment; fragment = next_of(fragment))
    OPAL_THREAD_ADD_FETCH32(&mca_btl_portals4_component.btls[0]->portals_outstanding_ops, -1);
  again.first = again.last = NULL;
}

/* The linker has the component call the one where it means the other (--wrap). */
int __real_PtlEQPoll(const ptl_handle_eq_t* queues, unsigned int size, ptl_time_t timeout, ptl_event_t* event,
                     unsigned int* which);

int __wrap_PtlEQPoll(const ptl_handle_eq_t* queues, unsigned int size, ptl_time_t timeout, ptl_event_t* event,
                     unsigned int* which)
{
  if (__builtin_expect(again.first != NULL, 0))
    send_refused();
  int result;
  do
    result = __real_PtlEQPoll(queues, size, timeout, event, which);
  while (result == PTL_OK && umw_left(event));
#if OPAL_MAJOR_VERSION >= 5
  umw_event_taken = event;
#endif
  if (result != PTL_OK || event->type != PTL_EVENT_ACK)
    return result;
  mca_btl_portals4_frag_t* fragment = event->user_ptr;
  const int sent_again = fragment && was_sent_again(fragment);
  if (sent_again)
    --again.under_way;
  if (__builtin_expect(event->ni_fail_type == PTL_NI_DROPPED, 0) && !again.over && fragment) {
    if (sent_again)
      again.pause_ns = again.pause_ns * 2 < longest_pause_ns ? again.pause_ns * 2 : longest_pause_ns;
    refuse(fragment);
    return PTL_EQ_EMPTY;
  }
  if (sent_again) {
    fragment->rdma_cb.context = NULL;
    again.at_once = again.at_once * 2 < most_at_once ? again.at_once * 2 : most_at_once;
    again.pause_ns = first_pause_ns;
    clock_gettime(CLOCK_MONOTONIC, &again.taken);
  }
  return result;
}
