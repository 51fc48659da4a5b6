// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading and writing remote memory. Lists of buffers become an operation of Portals for each piece that is in one
// buffer on either side; a transfer is over with the last of them.
#include "provider.h"

#include <stdlib.h>

int umw_fi_new_transfer(struct endpoint* endpoint, fi_addr_t to, uint64_t flags, void* context, bool message,
                        struct request** made)
{
  struct domain* const domain = endpoint->domain;
  struct peer* const peer = umw_fi_peer(endpoint, to);
  if (domain->transmits >= TRANSMITS)
    umw_fi_progress(domain);
  if (peer == NULL)
    return -FI_EINVAL;
  if (!endpoint->enabled)
    return -FI_EOPBADSTATE;
  struct request* const request = domain->transmits < TRANSMITS ? umw_fi_new_request(endpoint, TRANSFER) : NULL;
  if (request == NULL)
    return -FI_EAGAIN;
  const uint64_t given = message ? flags : flags | endpoint->transmit_flags;
  request->peer = peer;
  request->context = context;
  request->silent = endpoint->transmit_selective && (given & FI_COMPLETION) == 0;
  umw_fi_begin(request);
  *made = request;
  return 0;
}

static void end(struct request* request)
{
  if (request->failure != PTL_NI_OK) {
    const int error = request->failure == PTL_NI_UNDELIVERABLE ? FI_EHOSTUNREACH : FI_EACCES;
    umw_fi_fail(request, error, request->failure, 0, 0);
  } else {
    umw_fi_complete(request, request->flags, request->length, NULL);
  }
  free(request->claimed); // an atomic's own memory
  umw_fi_end(request);
}

ssize_t umw_fi_transfer_started(struct request* request, unsigned parts, int error)
{
  request->parts += parts;
  if (error == PTL_OK && request->parts > 0)
    return 0;
  if (request->parts > 0) { // what was started goes on: it fails with the last of it
    request->failure = PTL_NI_DROPPED;
    return 0;
  }
  if (error == PTL_OK) { // nothing to move
    end(request);
    return 0;
  }
  free(request->claimed);
  umw_fi_end(request);
  return umw_fi_error(error);
}

void umw_fi_transfer_event(struct request* request, const ptl_event_t* event)
{
  if (event->ni_fail_type != PTL_NI_OK)
    request->failure = event->ni_fail_type;
  request->received += event->mlength;
  if (--request->parts > 0)
    return;
  if (request->failure == PTL_NI_OK && request->received < request->length)
    request->failure = PTL_NI_SEGV; // beyond the end of the region
  end(request);
}

static int start(struct piece* piece)
{
  const struct request* const request = piece->request;
  const struct domain* const domain = request->endpoint->domain;
  const struct name* const name = &request->peer->name;
  const ptl_process_t target = {.phys = {name->nid, name->pid}};
  if (request->flags & FI_READ)
    return PtlGet(domain->md, piece->from, piece->length, target, piece->index, piece->key, piece->to, &piece->origin);
  return PtlPut(domain->md, piece->from, piece->length, PTL_ACK_REQ, target, piece->index, piece->key, piece->to,
                &piece->origin, piece->header);
}

void umw_fi_piece_event(struct piece* piece, const ptl_event_t* event)
{
  if (event->ni_fail_type == PTL_NI_PT_DISABLED && start(piece) == PTL_OK)
    return; // the target's event queue was full
  umw_fi_transfer_event(piece->request, event);
}

struct transfer {
  const struct iovec* iov;
  size_t count;
  fi_addr_t peer;
  const struct fi_rma_iov* remote;
  size_t remote_count;
  uint64_t data, flags;
  void* context;
  bool reads, message;
};

static size_t total(const struct transfer* transfer, size_t* remote)
{
  size_t length = 0;
  *remote = 0;
  for (size_t i = 0; i < transfer->count; ++i)
    length += transfer->iov[i].iov_len;
  for (size_t i = 0; i < transfer->remote_count; ++i)
    *remote += transfer->remote[i].len;
  return length;
}

static ssize_t move(struct fid_ep* fid, const struct transfer* transfer, bool silent)
{
  struct endpoint* const endpoint = CONTAINER(struct endpoint, fid, fid);
  size_t remote_length = 0;
  const size_t length = total(transfer, &remote_length);
  if (transfer->count > IOV_LIMIT || transfer->remote_count > IOV_LIMIT || length != remote_length ||
      ((transfer->flags & FI_INJECT) && length > INJECT_SIZE))
    return -FI_EINVAL;
  struct request* request = NULL;
  const int error =
      umw_fi_new_transfer(endpoint, transfer->peer, transfer->flags, transfer->context, transfer->message, &request);
  if (error != 0)
    return error;
  request->silent |= silent;
  request->flags = FI_RMA | (transfer->reads ? FI_READ : FI_WRITE);
  request->length = length;
  const struct iovec* iov = transfer->iov;
  struct iovec inlined;
  if ((transfer->flags & FI_INJECT) && !transfer->reads) {
    inlined = (struct iovec){request->inlined, umw_fi_inline(request, transfer->iov, transfer->count)};
    iov = &inlined;
  }
  const struct name* const name = &request->peer->name;
  const bool carries = (transfer->flags & FI_REMOTE_CQ_DATA) != 0 && !transfer->reads;
  unsigned parts = 0;
  int code = PTL_OK;
  size_t local = 0, local_done = 0, remote = 0, remote_done = 0, moved = 0;
  do {
    while (moved < length && local_done == iov[local].iov_len) {
      ++local;
      local_done = 0;
    }
    while (moved < length && remote_done == transfer->remote[remote].len) {
      ++remote;
      remote_done = 0;
    }
    size_t bytes = length - moved;
    if (bytes > 0) {
      if (bytes > iov[local].iov_len - local_done)
        bytes = iov[local].iov_len - local_done;
      if (bytes > transfer->remote[remote].len - remote_done)
        bytes = transfer->remote[remote].len - remote_done;
    }
    // The data for the completion queue comes with the last piece.
    const bool with_data = carries && moved + bytes == length;
    struct piece* const piece = &request->pieces[parts];
    *piece = (struct piece){.origin = OF_PIECE,
                            .request = request,
                            .from = bytes > 0 ? (ptl_size_t)(uintptr_t)iov[local].iov_base + local_done : 0,
                            .length = bytes,
                            .to = transfer->remote[remote].addr + remote_done,
                            .key = transfer->remote[remote].key,
                            .header = (uint64_t)name->endpoint << INDEX_SHIFT |
                                      (with_data ? DATA_BIT | (transfer->data & (DATA_BIT - 1)) : 0),
                            .index = with_data ? name->noisy_pt : name->quiet_pt};
    code = start(piece);
    if (code == PTL_OK)
      ++parts;
    moved += bytes;
    local_done += bytes;
    remote_done += bytes;
  } while (code == PTL_OK && moved < length);
  return umw_fi_transfer_started(request, parts, code);
}

static ssize_t move_locked(struct fid_ep* fid, const struct transfer* transfer, bool silent)
{
  struct domain* const domain = CONTAINER(struct endpoint, fid, fid)->domain;
  umw_fi_lock(domain);
  const ssize_t error = move(fid, transfer, silent);
  umw_fi_unlock(domain);
  return error;
}

static ssize_t move_list(struct fid_ep* fid, const struct iovec* iov, size_t count, fi_addr_t peer, uint64_t address,
                         uint64_t key, uint64_t data, uint64_t flags, void* context, bool reads, bool silent)
{
  size_t length = 0;
  for (size_t i = 0; i < count; ++i)
    length += iov[i].iov_len;
  const struct fi_rma_iov remote = {address, length, key};
  const struct transfer transfer = {iov, count, peer, &remote, 1, data, flags, context, reads, false};
  return move_locked(fid, &transfer, silent);
}

static ssize_t read_one(struct fid_ep* fid, void* buffer, size_t length, void* desc, fi_addr_t peer, uint64_t address,
                        uint64_t key, void* context)
{
  (void)desc;
  const struct iovec iov = {buffer, length};
  return move_list(fid, &iov, 1, peer, address, key, 0, 0, context, true, false);
}

static ssize_t read_list(struct fid_ep* fid, const struct iovec* iov, void** desc, size_t count, fi_addr_t peer,
                         uint64_t address, uint64_t key, void* context)
{
  (void)desc;
  return move_list(fid, iov, count, peer, address, key, 0, 0, context, true, false);
}

static ssize_t move_message(struct fid_ep* fid, const struct fi_msg_rma* message, uint64_t flags, bool reads)
{
  const struct transfer transfer = {message->msg_iov,
                                    message->iov_count,
                                    message->addr,
                                    message->rma_iov,
                                    message->rma_iov_count,
                                    message->data,
                                    flags,
                                    message->context,
                                    reads,
                                    true};
  return move_locked(fid, &transfer, false);
}

static ssize_t read_message(struct fid_ep* fid, const struct fi_msg_rma* message, uint64_t flags)
{
  return move_message(fid, message, flags, true);
}

static ssize_t write_one(struct fid_ep* fid, const void* buffer, size_t length, void* desc, fi_addr_t peer,
                         uint64_t address, uint64_t key, void* context)
{
  (void)desc;
  const struct iovec iov = {(void*)buffer, length};
  return move_list(fid, &iov, 1, peer, address, key, 0, 0, context, false, false);
}

static ssize_t write_list(struct fid_ep* fid, const struct iovec* iov, void** desc, size_t count, fi_addr_t peer,
                          uint64_t address, uint64_t key, void* context)
{
  (void)desc;
  return move_list(fid, iov, count, peer, address, key, 0, 0, context, false, false);
}

static ssize_t write_message(struct fid_ep* fid, const struct fi_msg_rma* message, uint64_t flags)
{
  return move_message(fid, message, flags, false);
}

static ssize_t inject(struct fid_ep* fid, const void* buffer, size_t length, fi_addr_t peer, uint64_t address,
                      uint64_t key)
{
  const struct iovec iov = {(void*)buffer, length};
  return move_list(fid, &iov, 1, peer, address, key, 0, FI_INJECT, NULL, false, true);
}

static ssize_t write_data(struct fid_ep* fid, const void* buffer, size_t length, void* desc, uint64_t data,
                          fi_addr_t peer, uint64_t address, uint64_t key, void* context)
{
  (void)desc;
  const struct iovec iov = {(void*)buffer, length};
  return move_list(fid, &iov, 1, peer, address, key, data, FI_REMOTE_CQ_DATA, context, false, false);
}

static ssize_t inject_data(struct fid_ep* fid, const void* buffer, size_t length, uint64_t data, fi_addr_t peer,
                           uint64_t address, uint64_t key)
{
  const struct iovec iov = {(void*)buffer, length};
  return move_list(fid, &iov, 1, peer, address, key, data, FI_REMOTE_CQ_DATA | FI_INJECT, NULL, false, true);
}

struct fi_ops_rma umw_fi_rma_calls = {.size = sizeof(struct fi_ops_rma),
                                      .read = read_one,
                                      .readv = read_list,
                                      .readmsg = read_message,
                                      .write = write_one,
                                      .writev = write_list,
                                      .writemsg = write_message,
                                      .inject = inject,
                                      .writedata = write_data,
                                      .injectdata = inject_data};
