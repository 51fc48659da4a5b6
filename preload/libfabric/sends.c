// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages from the call to the network. A receive is an entry of the priority list, so the interface matches. A short
// message that finds none goes to a block of the target (unexpected.c); a long one is sent whole, and if none is there,
// fetched by the target later from where it lies: it is exposed under its place before it is sent.
//
// Every message is acknowledged. One that flow control has refused is sent again, and those to the same peer behind it
// wait, so that they arrive in their order: `held` has them, and one at a time is tried until one gets through.
#include "provider.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int umw_fi_bind_list(struct request* request)
{
  struct domain* const domain = request->endpoint->domain;
  if (request->iov_count < 2)
    return PTL_OK;
  const ptl_md_t md = {.start = request->iov, // as ptl_iovec_t has it
                       .length = request->iov_count,
                       .options = PTL_MD_EVENT_SEND_DISABLE | PTL_IOVEC,
                       .eq_handle = domain->eq,
                       .ct_handle = PTL_CT_NONE};
  return PtlMDBind(domain->ni, &md, &request->md);
}

struct place umw_fi_place(const struct request* request)
{
  if (request->md != PTL_INVALID_HANDLE)
    return (struct place){request->md, 0};
  return (struct place){request->endpoint->domain->md, (ptl_size_t)(uintptr_t)request->iov[0].iov_base};
}

size_t umw_fi_inline(struct request* request, const struct iovec* iov, size_t count)
{
  size_t done = 0;
  for (size_t i = 0; i < count; ++i) {
    if (iov[i].iov_len != 0)
      memcpy(request->inlined + done, iov[i].iov_base, iov[i].iov_len);
    done += iov[i].iov_len;
  }
  return done;
}

// Places of long messages

static int take_place(struct domain* domain, struct request* request)
{
  if (domain->free_place == domain->place_size) {
    const uint32_t size = domain->place_size == 0 ? 64 : domain->place_size * 2;
    if (size > PLACE_LIMIT)
      return -FI_EAGAIN;
    uint32_t* const next = realloc(domain->next_place, size * sizeof *next);
    if (next == NULL)
      return -FI_ENOMEM;
    for (uint32_t i = domain->place_size; i < size; ++i)
      next[i] = i + 1;
    domain->next_place = next;
    domain->place_size = size;
  }
  request->place = domain->free_place;
  domain->free_place = domain->next_place[request->place];
  return 0;
}

static void leave_place(struct domain* domain, const struct request* request)
{
  domain->next_place[request->place] = domain->free_place;
  domain->free_place = request->place;
}

static int expose(struct domain* domain, struct request* request)
{
  const int error = take_place(domain, request);
  if (error != 0)
    return error;
  ptl_me_t me = {.start = request->iov[0].iov_base,
                 .length = request->length,
                 .ct_handle = PTL_CT_NONE,
                 .uid = PTL_UID_ANY,
                 .options = PTL_ME_OP_GET | PTL_ME_USE_ONCE | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE,
                 .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                 .match_bits = request->place};
  if (request->iov_count > 1) {
    me.start = request->iov;
    me.length = request->iov_count;
    me.options |= PTL_IOVEC;
  }
  const int code = PtlMEAppend(domain->ni, domain->read_pt, &me, PTL_PRIORITY_LIST, &request->origin, &request->me);
  if (code != PTL_OK)
    leave_place(domain, request);
  return umw_fi_error(code);
}

static void hold(struct request* request)
{
  struct request** at = &request->peer->held;
  while (*at != NULL && (*at)->number < request->number)
    at = &(*at)->next;
  request->next = *at;
  *at = request;
}

static int start(struct request* request)
{
  const struct name* const to = &request->peer->name;
  const ptl_process_t target = {.phys = {to->nid, to->pid}};
  const struct place from = umw_fi_place(request);
  const int code =
      PtlPut(from.md, from.offset, request->length, PTL_ACK_REQ, target,
             request->tagged ? to->tagged_pt : to->message_pt, request->match, 0, &request->origin, request->header);
  if (code == PTL_OK)
    ++request->peer->under_way;
  return code;
}

static void end_send(struct request* request)
{
  struct domain* const domain = request->endpoint->domain;
  if (request->long_message) {
    if (!request->fetched)
      PtlMEUnlink(request->me); // nobody will fetch it
    leave_place(domain, request);
  }
  if (request->md != PTL_INVALID_HANDLE)
    PtlMDRelease(request->md);
  umw_fi_end(request);
}

static void send_held(struct peer* peer, bool all)
{
  while (peer->held != NULL) {
    struct request* const next = peer->held;
    peer->held = next->next;
    const int code = start(next);
    if (code != PTL_OK) {
      umw_fi_fail(next, -umw_fi_error(code), 0, 0, 0);
      end_send(next);
    } else if (!all) {
      return;
    }
  }
}

// A later one has got through after one was refused: their order is lost, which nobody must take for a result.
static void overtaken(struct peer* peer)
{
  static const char text[] =
      "libumwelt-fi: expected messages to arrive in their order, got one refused by the target's "
      "flow control and a later one accepted: more messages were unexpected there than it has "
      "room for. Next step: let the target read its completion queue more often\n";
  (void)!write(2, text, sizeof text - 1);
  while (peer->held != NULL) {
    struct request* const request = peer->held;
    peer->held = request->next;
    umw_fi_fail(request, FI_EOVERRUN, PTL_NI_PT_DISABLED, 0, 0);
    end_send(request);
  }
}

void umw_fi_send_event(struct request* request, const ptl_event_t* event)
{
  struct peer* const peer = request->peer;
  if (event->type == PTL_EVENT_GET) {
    request->fetched = true;
    request->failure = event->ni_fail_type;
  } else if (event->type == PTL_EVENT_ACK) {
    --peer->under_way;
    if (event->ni_fail_type == PTL_NI_PT_DISABLED) {
      peer->refused = true;
      hold(request);
      if (peer->under_way == 0)
        send_held(peer, false);
      return;
    }
    if (event->ni_fail_type == PTL_NI_OK && peer->held != NULL && peer->held->number < request->number)
      overtaken(peer);
    if (peer->refused && event->ni_fail_type == PTL_NI_OK) {
      peer->refused = false;
      send_held(peer, true);
    }
    request->acknowledged = true;
    if (event->ni_fail_type != PTL_NI_OK)
      request->failure = event->ni_fail_type;
    request->unwanted = event->ni_fail_type != PTL_NI_OK || event->ptl_list == PTL_PRIORITY_LIST;
  }
  if (!request->acknowledged || (request->long_message && !request->fetched && !request->unwanted))
    return;
  if (request->failure != PTL_NI_OK)
    umw_fi_fail(request, request->failure == PTL_NI_UNDELIVERABLE ? FI_EHOSTUNREACH : FI_EIO, request->failure, 0, 0);
  else
    umw_fi_complete(request, request->flags, request->length, NULL);
  end_send(request);
}

ssize_t umw_fi_send(struct endpoint* endpoint, const struct outgoing* out, bool silent)
{
  struct domain* const domain = endpoint->domain;
  size_t length = 0;
  for (size_t i = 0; i < out->count; ++i)
    length += out->iov[i].iov_len;
  if (!endpoint->enabled || out->count > IOV_LIMIT)
    return !endpoint->enabled ? -FI_EOPBADSTATE : -FI_EINVAL;
  if ((out->tag & ~TAG_MASK) != 0 || ((out->flags & FI_INJECT) && length > INJECT_SIZE))
    return -FI_EINVAL;
  struct peer* const peer = umw_fi_peer(endpoint, out->to);
  if (peer == NULL)
    return -FI_EINVAL;
  if (domain->transmits >= TRANSMITS) {
    umw_fi_progress(domain);
    if (domain->transmits >= TRANSMITS)
      return -FI_EAGAIN;
  }
  struct request* const request = umw_fi_new_request(endpoint, SEND);
  if (request == NULL)
    return -FI_ENOMEM;
  request->peer = peer;
  request->context = out->context;
  request->tagged = out->tagged;
  request->flags = FI_SEND | (out->tagged ? FI_TAGGED : FI_MSG);
  request->silent = silent;
  request->length = length;
  request->match = (uint64_t)endpoint->name.endpoint << SOURCE_SHIFT | out->tag;
  request->header = out->flags & FI_REMOTE_CQ_DATA ? DATA_BIT | (out->data & (DATA_BIT - 1)) : 0;
  int error = 0;
  if (out->flags & FI_INJECT) {
    umw_fi_inline(request, out->iov, out->count);
    request->iov[0] = (struct iovec){request->inlined, length};
    request->iov_count = 1;
  } else {
    for (size_t i = 0; i < out->count; ++i)
      request->iov[i] = out->iov[i];
    request->iov_count = out->count;
    error = umw_fi_error(umw_fi_bind_list(request));
  }
  if (error == 0 && length > domain->eager_size) {
    error = expose(domain, request);
    if (error == 0) {
      request->long_message = true;
      request->match |= LONG_BIT;
      request->header |= (uint64_t)domain->read_pt << INDEX_SHIFT | (uint64_t)request->place << PLACE_SHIFT;
    }
  }
  umw_fi_begin(request);
  if (error == 0) {
    request->number = ++peer->last;
    if (peer->refused)
      hold(request);
    else
      error = umw_fi_error(start(request));
  }
  if (error != 0)
    end_send(request);
  return error;
}
