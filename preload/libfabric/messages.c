// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages, tagged and not, from the call to the network. A receive is an entry of the priority list, so the interface
// matches. A short message that finds none goes to a block of the target (unexpected.c); a long one is sent whole, and
// if none is there, fetched by the target later from where it lies: it is exposed under its place before it is sent.
//
// Every message is acknowledged. One that flow control has refused is sent again, and those to the same peer behind it
// wait, so that they arrive in their order: `held` has them, and one at a time is tried until one gets through.
#include "provider.h"

#include <stdlib.h>
#include <string.h>

void umw_fi_as_list(const struct request* request, ptl_iovec_t* list)
{
  for (size_t i = 0; i < request->iov_count; ++i)
    list[i] = (ptl_iovec_t){request->iov[i].iov_base, request->iov[i].iov_len};
}

// ---- Places of long messages ----

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
  ptl_iovec_t list[IOV_LIMIT];
  ptl_me_t me = {.start = request->iov[0].iov_base,
                 .length = request->length,
                 .ct_handle = PTL_CT_NONE,
                 .uid = PTL_UID_ANY,
                 .options = PTL_ME_OP_GET | PTL_ME_USE_ONCE | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE,
                 .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                 .match_bits = request->place};
  if (request->iov_count > 1) {
    umw_fi_as_list(request, list);
    me.start = list;
    me.length = request->iov_count;
    me.options |= PTL_IOVEC;
  }
  const int code = PtlMEAppend(domain->ni, domain->read_pt, &me, PTL_PRIORITY_LIST, &request->origin, &request->me);
  if (code != PTL_OK)
    leave_place(domain, request);
  return umw_fi_error(code);
}

// ---- Sending ----

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
  struct domain* const domain = request->endpoint->domain;
  const struct name* const to = &request->peer->name;
  const ptl_process_t target = {.phys = {to->nid, to->pid}};
  const bool list = request->md != PTL_INVALID_HANDLE;
  const int code = PtlPut(list ? request->md : domain->md, list ? 0 : (ptl_size_t)(uintptr_t)request->iov[0].iov_base,
                          request->length, PTL_ACK_REQ, target, request->tagged ? to->tagged_pt : to->message_pt,
                          request->match, 0, &request->origin, request->header);
  if (code == PTL_OK)
    ++request->peer->under_way;
  return code;
}

static void end_send(struct request* request)
{
  struct domain* const domain = request->endpoint->domain;
  if (request->long_message)
    leave_place(domain, request);
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
    if (peer->refused && event->ni_fail_type == PTL_NI_OK) {
      peer->refused = false;
      send_held(peer, true);
    }
    request->acknowledged = true;
    if (event->ni_fail_type != PTL_NI_OK)
      request->failure = event->ni_fail_type;
    if (request->long_message && (event->ni_fail_type != PTL_NI_OK || event->ptl_list == PTL_PRIORITY_LIST)) {
      PtlMEUnlink(request->me); // nobody will fetch it
      request->fetched = true;
    }
  }
  if (!request->acknowledged || (request->long_message && !request->fetched))
    return;
  if (request->failure != PTL_NI_OK)
    umw_fi_fail(request, request->failure == PTL_NI_UNDELIVERABLE ? FI_EHOSTUNREACH : FI_EIO, request->failure, 0, 0);
  else
    umw_fi_complete(request, request->flags, request->length, NULL);
  end_send(request);
}

struct outgoing {
  const struct iovec* iov;
  size_t count;
  fi_addr_t to;
  bool tagged;
  uint64_t tag, data, flags;
  void* context;
};

static ssize_t send_message(struct endpoint* endpoint, const struct outgoing* out, bool silent)
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
    size_t done = 0;
    for (size_t i = 0; i < out->count; ++i) {
      if (out->iov[i].iov_len != 0)
        memcpy(request->inlined + done, out->iov[i].iov_base, out->iov[i].iov_len);
      done += out->iov[i].iov_len;
    }
    request->iov[0] = (struct iovec){request->inlined, length};
    request->iov_count = 1;
  } else {
    for (size_t i = 0; i < out->count; ++i)
      request->iov[i] = out->iov[i];
    request->iov_count = out->count;
    if (out->count > 1) {
      ptl_iovec_t list[IOV_LIMIT];
      umw_fi_as_list(request, list);
      const ptl_md_t md = {.start = list,
                           .length = out->count,
                           .options = PTL_MD_EVENT_SEND_DISABLE | PTL_IOVEC,
                           .eq_handle = domain->eq,
                           .ct_handle = PTL_CT_NONE};
      error = umw_fi_error(PtlMDBind(domain->ni, &md, &request->md));
    }
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
    if (error != 0 && request->long_message)
      PtlMEUnlink(request->me);
  }
  if (error != 0)
    end_send(request);
  return error;
}

static ssize_t send_locked(struct fid_ep* fid, const struct outgoing* out, bool silent)
{
  struct endpoint* const endpoint = CONTAINER(struct endpoint, fid, fid);
  umw_fi_lock(endpoint->domain);
  const ssize_t error = send_message(endpoint, out, silent);
  umw_fi_unlock(endpoint->domain);
  return error;
}

static bool is_silent(const struct endpoint* endpoint, uint64_t flags)
{
  return endpoint->transmit_selective && (flags & FI_COMPLETION) == 0;
}

static ssize_t send_by_flags(struct fid_ep* fid, struct outgoing out)
{
  const struct endpoint* const endpoint = CONTAINER(struct endpoint, fid, fid);
  out.flags |= endpoint->transmit_flags & ~(uint64_t)FI_REMOTE_CQ_DATA;
  return send_locked(fid, &out, is_silent(endpoint, out.flags));
}

static ssize_t inject_message(struct fid_ep* fid, const void* buffer, size_t length, fi_addr_t to, bool tagged,
                              uint64_t tag, uint64_t data, uint64_t flags)
{
  const struct iovec iov = {(void*)buffer, length};
  const struct outgoing out = {&iov, 1, to, tagged, tag, data, flags | FI_INJECT, NULL};
  return send_locked(fid, &out, true);
}

static ssize_t message_send(struct fid_ep* fid, const void* buffer, size_t length, void* desc, fi_addr_t to,
                            void* context)
{
  (void)desc;
  const struct iovec iov = {(void*)buffer, length};
  return send_by_flags(fid, (struct outgoing){&iov, 1, to, false, 0, 0, 0, context});
}

static ssize_t message_sendv(struct fid_ep* fid, const struct iovec* iov, void** desc, size_t count, fi_addr_t to,
                             void* context)
{
  (void)desc;
  return send_by_flags(fid, (struct outgoing){iov, count, to, false, 0, 0, 0, context});
}

static ssize_t message_sendmsg(struct fid_ep* fid, const struct fi_msg* message, uint64_t flags)
{
  const struct outgoing out = {message->msg_iov, message->iov_count, message->addr, false, 0, message->data, flags,
                               message->context};
  return send_locked(fid, &out, is_silent(CONTAINER(struct endpoint, fid, fid), flags));
}

static ssize_t message_inject(struct fid_ep* fid, const void* buffer, size_t length, fi_addr_t to)
{
  return inject_message(fid, buffer, length, to, false, 0, 0, 0);
}

static ssize_t message_senddata(struct fid_ep* fid, const void* buffer, size_t length, void* desc, uint64_t data,
                                fi_addr_t to, void* context)
{
  (void)desc;
  const struct iovec iov = {(void*)buffer, length};
  return send_by_flags(fid, (struct outgoing){&iov, 1, to, false, 0, data, FI_REMOTE_CQ_DATA, context});
}

static ssize_t message_injectdata(struct fid_ep* fid, const void* buffer, size_t length, uint64_t data, fi_addr_t to)
{
  return inject_message(fid, buffer, length, to, false, 0, data, FI_REMOTE_CQ_DATA);
}

static ssize_t tagged_send(struct fid_ep* fid, const void* buffer, size_t length, void* desc, fi_addr_t to,
                           uint64_t tag, void* context)
{
  (void)desc;
  const struct iovec iov = {(void*)buffer, length};
  return send_by_flags(fid, (struct outgoing){&iov, 1, to, true, tag, 0, 0, context});
}

static ssize_t tagged_sendv(struct fid_ep* fid, const struct iovec* iov, void** desc, size_t count, fi_addr_t to,
                            uint64_t tag, void* context)
{
  (void)desc;
  return send_by_flags(fid, (struct outgoing){iov, count, to, true, tag, 0, 0, context});
}

static ssize_t tagged_sendmsg(struct fid_ep* fid, const struct fi_msg_tagged* message, uint64_t flags)
{
  const struct outgoing out = {message->msg_iov, message->iov_count, message->addr, true,
                               message->tag,     message->data,      flags,         message->context};
  return send_locked(fid, &out, is_silent(CONTAINER(struct endpoint, fid, fid), flags));
}

static ssize_t tagged_inject(struct fid_ep* fid, const void* buffer, size_t length, fi_addr_t to, uint64_t tag)
{
  return inject_message(fid, buffer, length, to, true, tag, 0, 0);
}

static ssize_t tagged_senddata(struct fid_ep* fid, const void* buffer, size_t length, void* desc, uint64_t data,
                               fi_addr_t to, uint64_t tag, void* context)
{
  (void)desc;
  const struct iovec iov = {(void*)buffer, length};
  return send_by_flags(fid, (struct outgoing){&iov, 1, to, true, tag, data, FI_REMOTE_CQ_DATA, context});
}

static ssize_t tagged_injectdata(struct fid_ep* fid, const void* buffer, size_t length, uint64_t data, fi_addr_t to,
                                 uint64_t tag)
{
  return inject_message(fid, buffer, length, to, true, tag, data, FI_REMOTE_CQ_DATA);
}

// ---- Receiving ----

struct incoming {
  const struct iovec* iov;
  size_t count;
  fi_addr_t from;
  bool tagged;
  uint64_t tag, ignore, flags;
  void* context;
};

// The entry that takes what a receive asks for.
static int describe(const struct endpoint* endpoint, const struct incoming* in, ptl_me_t* me)
{
  *me = (ptl_me_t){.ct_handle = PTL_CT_NONE,
                   .uid = PTL_UID_ANY,
                   .options = PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE,
                   .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                   .match_bits = in->tag & TAG_MASK,
                   .ignore_bits = LONG_BIT | SOURCE_MASK | (in->ignore & TAG_MASK)};
  if (!in->tagged)
    me->ignore_bits = ~UINT64_C(0);
  if (in->from == FI_ADDR_UNSPEC || (endpoint->caps & FI_DIRECTED_RECV) == 0)
    return 0;
  const struct peer* const peer = umw_fi_peer((struct endpoint*)endpoint, in->from);
  if (peer == NULL)
    return -FI_EINVAL;
  me->match_id.phys.nid = peer->name.nid;
  me->match_id.phys.pid = peer->name.pid;
  me->match_bits |= (uint64_t)peer->name.endpoint << SOURCE_SHIFT;
  me->ignore_bits &= ~SOURCE_MASK;
  return 0;
}

static ssize_t claimed(struct endpoint* endpoint, const struct incoming* in, struct request* request)
{
  for (struct request** at = &endpoint->claimed; *at != NULL; at = &(*at)->next)
    if ((*at)->context == in->context) {
      struct request* const found = *at;
      *at = found->next;
      found->next = NULL;
      found->kind = RECEIVE;
      found->discards = request->discards;
      found->silent = request->silent;
      memcpy(found->iov, request->iov, sizeof found->iov);
      found->iov_count = request->iov_count;
      found->length = request->length;
      umw_fi_free_request(request);
      umw_fi_deliver(found, &found->found, found->claimed);
      return 0;
    }
  umw_fi_free_request(request);
  return -FI_EINVAL;
}

static void post(struct request* request)
{
  struct endpoint* const endpoint = request->endpoint;
  request->next = endpoint->posted;
  if (request->next != NULL)
    request->next->previous = request;
  endpoint->posted = request;
  ++endpoint->domain->receives;
}

void umw_fi_unpost(struct request* request)
{
  struct endpoint* const endpoint = request->endpoint;
  if (request->next != NULL)
    request->next->previous = request->previous;
  if (request->previous != NULL)
    request->previous->next = request->next;
  else
    endpoint->posted = request->next;
  --endpoint->domain->receives;
}

static ssize_t receive(struct endpoint* endpoint, const struct incoming* in)
{
  struct domain* const domain = endpoint->domain;
  if (!endpoint->enabled)
    return -FI_EOPBADSTATE;
  const bool several = (in->flags & FI_MULTI_RECV) != 0 && !in->tagged;
  if (in->count > IOV_LIMIT || (several && in->count != 1) || (in->tag & ~TAG_MASK) != 0)
    return -FI_EINVAL;
  if (domain->receives >= RECEIVES)
    return -FI_EAGAIN;
  ptl_me_t me;
  const int error = describe(endpoint, in, &me);
  if (error != 0)
    return error;
  const bool looks = (in->flags & FI_PEEK) != 0;
  struct request* const request = umw_fi_new_request(endpoint, looks ? SEARCH : several ? MULTIPLE : RECEIVE);
  if (request == NULL)
    return -FI_ENOMEM;
  request->context = in->context;
  request->tagged = in->tagged;
  request->tag = in->tag;
  request->flags = FI_RECV | (in->tagged ? FI_TAGGED : FI_MSG);
  request->silent = endpoint->receive_selective && (in->flags & FI_COMPLETION) == 0;
  request->discards = (in->flags & FI_DISCARD) != 0;
  for (size_t i = 0; i < in->count; ++i) {
    request->iov[i] = in->iov[i];
    request->length += in->iov[i].iov_len;
  }
  request->iov_count = in->count;
  const ptl_pt_index_t index = in->tagged ? endpoint->name.tagged_pt : endpoint->name.message_pt;
  if (looks) {
    me.options |= PTL_ME_USE_ONCE;
    request->match = in->flags & (FI_CLAIM | FI_DISCARD);
    const int code = PtlMESearch(domain->ni, index, &me, request->match != 0 ? PTL_SEARCH_DELETE : PTL_SEARCH_ONLY,
                                 &request->origin);
    if (code != PTL_OK)
      umw_fi_free_request(request);
    return umw_fi_error(code);
  }
  if (in->flags & FI_CLAIM)
    return claimed(endpoint, in, request);
  ptl_iovec_t list[IOV_LIMIT];
  me.start = request->iov[0].iov_base;
  me.length = request->length;
  if (in->count > 1) {
    umw_fi_as_list(request, list);
    me.start = list;
    me.length = in->count;
    me.options |= PTL_IOVEC;
  }
  if (several) {
    me.options |= PTL_ME_MANAGE_LOCAL | PTL_ME_LOCAL_INC_UH_RLENGTH;
    me.min_free = endpoint->min_multi_receive;
  } else {
    me.options |= PTL_ME_USE_ONCE | PTL_ME_EVENT_UNLINK_DISABLE;
  }
  post(request);
  const int code = PtlMEAppend(domain->ni, index, &me, PTL_PRIORITY_LIST, &request->origin, &request->me);
  if (code != PTL_OK) {
    umw_fi_unpost(request);
    umw_fi_free_request(request);
  }
  return umw_fi_error(code);
}

static ssize_t receive_locked(struct fid_ep* fid, const struct incoming* in)
{
  struct endpoint* const endpoint = CONTAINER(struct endpoint, fid, fid);
  umw_fi_lock(endpoint->domain);
  const ssize_t error = receive(endpoint, in);
  umw_fi_unlock(endpoint->domain);
  return error;
}

static ssize_t message_recv(struct fid_ep* fid, void* buffer, size_t length, void* desc, fi_addr_t from, void* context)
{
  (void)desc;
  const struct iovec iov = {buffer, length};
  const struct incoming in = {&iov, 1, from, false, 0, 0, CONTAINER(struct endpoint, fid, fid)->receive_flags, context};
  return receive_locked(fid, &in);
}

static ssize_t message_recvv(struct fid_ep* fid, const struct iovec* iov, void** desc, size_t count, fi_addr_t from,
                             void* context)
{
  (void)desc;
  const struct incoming in = {iov,    count, from, false, 0, 0, CONTAINER(struct endpoint, fid, fid)->receive_flags,
                              context};
  return receive_locked(fid, &in);
}

static ssize_t message_recvmsg(struct fid_ep* fid, const struct fi_msg* message, uint64_t flags)
{
  const struct incoming in = {message->msg_iov, message->iov_count, message->addr, false, 0, 0, flags,
                              message->context};
  return receive_locked(fid, &in);
}

static ssize_t tagged_recv(struct fid_ep* fid, void* buffer, size_t length, void* desc, fi_addr_t from, uint64_t tag,
                           uint64_t ignore, void* context)
{
  (void)desc;
  const struct iovec iov = {buffer, length};
  const struct incoming in = {&iov,   1, from, true, tag, ignore, CONTAINER(struct endpoint, fid, fid)->receive_flags,
                              context};
  return receive_locked(fid, &in);
}

static ssize_t tagged_recvv(struct fid_ep* fid, const struct iovec* iov, void** desc, size_t count, fi_addr_t from,
                            uint64_t tag, uint64_t ignore, void* context)
{
  (void)desc;
  const struct incoming in = {
      iov, count, from, true, tag, ignore, CONTAINER(struct endpoint, fid, fid)->receive_flags, context};
  return receive_locked(fid, &in);
}

static ssize_t tagged_recvmsg(struct fid_ep* fid, const struct fi_msg_tagged* message, uint64_t flags)
{
  const struct incoming in = {message->msg_iov, message->iov_count, message->addr, true,
                              message->tag,     message->ignore,    flags,         message->context};
  return receive_locked(fid, &in);
}

ssize_t umw_fi_cancel(fid_t fid, void* context)
{
  struct endpoint* const endpoint = CONTAINER(struct endpoint, fid.fid, fid);
  ssize_t error = -FI_ENOENT;
  umw_fi_lock(endpoint->domain);
  for (struct request* request = endpoint->posted; request != NULL; request = request->next) {
    if (request->context != context)
      continue;
    error = 0;
    if (PtlMEUnlink(request->me) != PTL_OK)
      break; // a message is coming in: it completes as usual
    umw_fi_unpost(request);
    umw_fi_fail(request, FI_ECANCELED, 0, 0, 0);
    umw_fi_free_request(request);
    break;
  }
  umw_fi_unlock(endpoint->domain);
  return error;
}

struct fi_ops_msg umw_fi_message_calls = {.size = sizeof(struct fi_ops_msg),
                                          .recv = message_recv,
                                          .recvv = message_recvv,
                                          .recvmsg = message_recvmsg,
                                          .send = message_send,
                                          .sendv = message_sendv,
                                          .sendmsg = message_sendmsg,
                                          .inject = message_inject,
                                          .senddata = message_senddata,
                                          .injectdata = message_injectdata};
struct fi_ops_tagged umw_fi_tagged_calls = {.size = sizeof(struct fi_ops_tagged),
                                            .recv = tagged_recv,
                                            .recvv = tagged_recvv,
                                            .recvmsg = tagged_recvmsg,
                                            .send = tagged_send,
                                            .sendv = tagged_sendv,
                                            .sendmsg = tagged_sendmsg,
                                            .inject = tagged_inject,
                                            .senddata = tagged_senddata,
                                            .injectdata = tagged_injectdata};
