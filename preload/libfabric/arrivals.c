// SPDX-License-Identifier: LGPL-2.1-or-later
// What has arrived: from the events of a receive to its completion.
#include "provider.h"

#include <stdlib.h>
#include <string.h>

// What a completion says of the message.
static uint64_t describe(struct request* request, const ptl_event_t* event)
{
  const struct endpoint* const endpoint = request->endpoint;
  request->tag = event->match_bits & TAG_MASK;
  request->data = event->hdr_data & DATA_BIT ? event->hdr_data & (DATA_BIT - 1) : 0;
  request->from = FI_ADDR_NOTAVAIL;
  if ((endpoint->caps & FI_SOURCE) && endpoint->av != NULL) {
    const struct name name = {.nid = event->initiator.phys.nid,
                              .pid = event->initiator.phys.pid,
                              .endpoint = (uint16_t)((event->match_bits & SOURCE_MASK) >> SOURCE_SHIFT)};
    request->from = umw_fi_address_of(endpoint->av, &name);
  }
  return request->flags | (event->hdr_data & DATA_BIT ? FI_REMOTE_CQ_DATA : 0);
}

static void release_multiple(struct request* request)
{
  if (!request->unlinked || request->fetching != 0)
    return;
  struct completion_queue* const queue = request->endpoint->receive_queue;
  const struct fi_cq_tagged_entry entry = {.op_context = request->context, .flags = FI_MULTI_RECV};
  if (queue != NULL)
    umw_fi_put_completion(queue, &entry, FI_ADDR_NOTAVAIL);
  umw_fi_unpost(request);
  umw_fi_free_request(request);
}

// A receive that is no MULTIPLE is over.
static void finish(struct request* request, uint64_t flags, size_t arrived, size_t sent)
{
  struct request* const parent = request->parent;
  if (request->md != PTL_INVALID_HANDLE)
    PtlMDRelease(request->md);
  if (request->failure != PTL_NI_OK)
    umw_fi_fail(request, FI_EIO, request->failure, 0, 0);
  else if (arrived < sent && !request->discards)
    umw_fi_fail(request, FI_ETRUNC, 0, arrived, sent - arrived);
  else
    umw_fi_complete(request, flags, request->discards ? sent : arrived, request->iov[0].iov_base);
  free(request->claimed);
  umw_fi_free_request(request);
  if (parent != NULL) {
    --parent->fetching;
    release_multiple(parent);
  }
}

static void copy_out(const struct request* request, const void* data, size_t length)
{
  const char* from = data;
  for (size_t i = 0; i < request->iov_count && length > 0; ++i) {
    const size_t bytes = length < request->iov[i].iov_len ? length : request->iov[i].iov_len;
    memcpy(request->iov[i].iov_base, from, bytes);
    from += bytes;
    length -= bytes;
  }
}

static int fetch(struct request* request)
{
  const ptl_event_t* const event = &request->found;
  if (request->md == PTL_INVALID_HANDLE) { // not the second time
    const int code = umw_fi_bind_list(request);
    if (code != PTL_OK)
      return code;
  }
  const struct place to = umw_fi_place(request);
  return PtlGet(to.md, to.offset, request->received, event->initiator,
                (ptl_pt_index_t)(event->hdr_data >> INDEX_SHIFT) % INDEX_LIMIT, event->hdr_data >> PLACE_SHIFT, 0,
                &request->origin);
}

void umw_fi_deliver(struct request* request, const ptl_event_t* event, const void* data)
{
  const uint64_t flags = describe(request, event);
  const size_t room = request->discards ? 0 : request->length;
  const size_t length = event->rlength < room ? event->rlength : room;
  request->failure = event->ni_fail_type;
  if ((event->match_bits & LONG_BIT) == 0 || request->failure != PTL_NI_OK) {
    if (request->failure == PTL_NI_OK)
      copy_out(request, data, length);
    finish(request, flags, length, event->rlength);
    return;
  }
  // Nothing of it is wanted: the sender has to know all the same.
  request->found = *event;
  request->received = length;
  ++request->endpoint->under_way;
  if (fetch(request) != PTL_OK) {
    --request->endpoint->under_way;
    request->failure = PTL_NI_UNDELIVERABLE;
    finish(request, flags, 0, event->rlength);
  }
}

static void fetched(struct request* request, const ptl_event_t* event)
{
  if (event->ni_fail_type == PTL_NI_PT_DISABLED && fetch(request) == PTL_OK)
    return; // the sender's queue was full
  --request->endpoint->under_way;
  request->failure = event->ni_fail_type;
  const uint64_t flags = request->flags | (request->found.hdr_data & DATA_BIT ? FI_REMOTE_CQ_DATA : 0);
  finish(request, flags, request->received, request->found.rlength);
}

static void arrived_in_multiple(struct request* request, const ptl_event_t* event)
{
  if (event->type == PTL_EVENT_AUTO_UNLINK) {
    request->unlinked = true;
    release_multiple(request);
    return;
  }
  const uint64_t flags = describe(request, event);
  if (event->type == PTL_EVENT_PUT) {
    if (event->ni_fail_type != PTL_NI_OK)
      umw_fi_fail(request, FI_EIO, event->ni_fail_type, 0, 0);
    else if (event->mlength < event->rlength)
      umw_fi_fail(request, FI_ETRUNC, 0, event->mlength, event->rlength - event->mlength);
    else
      umw_fi_complete(request, flags, event->mlength, event->start);
    return;
  }
  // The entry keeps room for what was there before it, message by message (PTL_ME_LOCAL_INC_UH_RLENGTH).
  struct request* const part = umw_fi_new_request(request->endpoint, RECEIVE);
  if (part == NULL)
    abort(); // a message would be lost
  const size_t begin = request->offset < request->length ? request->offset : request->length;
  part->parent = request;
  part->context = request->context;
  part->flags = request->flags;
  part->silent = request->silent;
  part->iov[0] = (struct iovec){(char*)request->iov[0].iov_base + begin, request->length - begin};
  part->iov_count = 1;
  part->length = request->length - begin;
  request->offset += event->rlength;
  ++request->fetching;
  umw_fi_deliver(part, event, event->start);
}

static void searched(struct request* request, const ptl_event_t* event)
{
  if (event->ni_fail_type != PTL_NI_OK) {
    umw_fi_fail(request, FI_ENOMSG, event->ni_fail_type, 0, 0);
    umw_fi_free_request(request);
    return;
  }
  const uint64_t flags = describe(request, event);
  if (request->match == FI_DISCARD) {
    request->kind = RECEIVE;
    umw_fi_deliver(request, event, event->start);
    return;
  }
  umw_fi_complete(request, flags, event->rlength, NULL);
  if (request->match == 0) { // FI_PEEK alone
    umw_fi_free_request(request);
    return;
  }
  // The block that has it is used again as soon as nothing in it is unexpected any more.
  request->found = *event;
  if ((event->match_bits & LONG_BIT) == 0 && event->mlength > 0) {
    request->claimed = malloc(event->mlength);
    if (request->claimed == NULL)
      abort();
    memcpy(request->claimed, event->start, event->mlength);
  }
  if (request->match & FI_DISCARD) { // claimed and discarded at once
    request->kind = RECEIVE;
    request->silent = true;
    umw_fi_deliver(request, &request->found, request->claimed);
    return;
  }
  struct request** end = &request->endpoint->claimed;
  while (*end != NULL)
    end = &(*end)->next;
  *end = request;
}

void umw_fi_message_event(struct request* request, const ptl_event_t* event)
{
  if (event->type == PTL_EVENT_REPLY) {
    fetched(request, event);
  } else if (request->kind == SEARCH) {
    searched(request, event);
  } else if (request->kind == MULTIPLE) {
    arrived_in_multiple(request, event);
  } else if (event->type == PTL_EVENT_PUT) {
    umw_fi_unpost(request);
    const uint64_t flags = describe(request, event);
    request->failure = event->ni_fail_type;
    finish(request, flags, event->mlength, event->rlength);
  } else if (event->type == PTL_EVENT_PUT_OVERFLOW) {
    umw_fi_unpost(request);
    umw_fi_deliver(request, event, event->start);
  }
}
