// SPDX-License-Identifier: LGPL-2.1-or-later
// The calls for messages, tagged and not: sends (sends.c has what becomes of them), and receives, which are entries of
// the priority list, so that the interface matches (arrivals.c has what comes of them).
#include "provider.h"

#include <stdlib.h>
#include <string.h>

static ssize_t send_locked(struct fid_ep* fid, const struct outgoing* out, bool silent)
{
  struct endpoint* const endpoint = CONTAINER(struct endpoint, fid, fid);
  umw_fi_lock(endpoint->domain);
  const ssize_t error = umw_fi_send(endpoint, out, silent);
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
  me.start = request->iov[0].iov_base;
  me.length = request->length;
  if (in->count > 1) {
    me.start = request->iov; // as ptl_iovec_t has it
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
