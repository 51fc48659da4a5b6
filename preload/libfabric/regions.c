// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that others may read and write: an entry under its key in each of the domain's two portal table entries, one
// of which makes events (a write that carries data for the completion queue goes there). Offsets begin at 0.
#include "provider.h"

#include <stdlib.h>
#include <string.h>

void umw_fi_region_event(struct region* region, const ptl_event_t* event)
{
  if (event->ni_fail_type != PTL_NI_OK)
    return;
  const bool reads = event->type == PTL_EVENT_GET;
  const bool writes =
      event->type == PTL_EVENT_PUT || event->type == PTL_EVENT_ATOMIC || event->type == PTL_EVENT_FETCH_ATOMIC;
  if (!reads && !writes)
    return;
  struct domain* const domain = region->domain;
  // A get says nothing about whom it is for: it counts for all.
  const unsigned number = (unsigned)(event->hdr_data >> INDEX_SHIFT) % ENDPOINTS;
  if (region->counter != NULL)
    umw_fi_count(region->counter);
  else
    for (struct endpoint* endpoint = domain->endpoints; endpoint != NULL; endpoint = endpoint->next) {
      struct counter* const counter = reads ? endpoint->on_remote_read : endpoint->on_remote_write;
      if (counter != NULL && (event->type != PTL_EVENT_PUT || endpoint->name.endpoint == number))
        umw_fi_count(counter);
    }
  if (event->type != PTL_EVENT_PUT || (event->hdr_data & DATA_BIT) == 0)
    return;
  struct endpoint* const endpoint = umw_fi_numbered(number);
  if (endpoint == NULL || endpoint->domain != domain || endpoint->receive_queue == NULL)
    return;
  const struct fi_cq_tagged_entry entry = {.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA,
                                           .len = event->mlength,
                                           .data = event->hdr_data & (DATA_BIT - 1)};
  umw_fi_put_completion(endpoint->receive_queue, &entry, FI_ADDR_NOTAVAIL);
}

static int close_region(struct fid* fid)
{
  struct region* const region = CONTAINER(struct region, fid.fid, fid);
  struct domain* const domain = region->domain;
  umw_fi_lock(domain);
  // What comes in keeps an entry in use for a while.
  while (PtlMEUnlink(region->quiet) == PTL_IN_USE)
    umw_fi_progress(domain);
  while (PtlMEUnlink(region->noisy) == PTL_IN_USE)
    umw_fi_progress(domain);
  umw_fi_drain(domain); // no event may name it any more
  for (struct region** at = &domain->regions; *at != NULL; at = &(*at)->next)
    if (*at == region) {
      *at = region->next;
      break;
    }
  umw_fi_unlock(domain);
  __atomic_fetch_sub(&domain->users, 1, __ATOMIC_RELAXED);
  free(region);
  return 0;
}

static int append(struct region* region, bool noisy, const struct fi_mr_attr* attr)
{
  struct domain* const domain = region->domain;
  ptl_me_t me = {.ct_handle = PTL_CT_NONE,
                 .uid = PTL_UID_ANY,
                 .options = PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE,
                 .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                 .match_bits = region->fid.key};
  if (attr->iov_count == 1) {
    me.start = attr->mr_iov[0].iov_base;
    me.length = attr->mr_iov[0].iov_len;
  } else {
    for (size_t i = 0; i < attr->iov_count; ++i)
      region->iov[i] = (ptl_iovec_t){attr->mr_iov[i].iov_base, attr->mr_iov[i].iov_len};
    me.start = region->iov;
    me.length = attr->iov_count;
    me.options |= PTL_IOVEC;
  }
  // Atomics that fetch need both.
  if (attr->access & FI_REMOTE_WRITE)
    me.options |= PTL_ME_OP_PUT;
  if (attr->access & FI_REMOTE_READ)
    me.options |= PTL_ME_OP_GET;
  if (!noisy && !domain->remote_events)
    me.options |= PTL_ME_EVENT_COMM_DISABLE;
  return PtlMEAppend(domain->ni, noisy ? domain->noisy_pt : domain->quiet_pt, &me, PTL_PRIORITY_LIST, &region->origin,
                     noisy ? &region->noisy : &region->quiet);
}

static int bind_region(struct fid* fid, struct fid* other, uint64_t flags)
{
  (void)flags;
  struct region* const region = CONTAINER(struct region, fid.fid, fid);
  if (other->fclass == FI_CLASS_EP)
    return 0; // all endpoints of the domain reach it
  if (other->fclass != FI_CLASS_CNTR || !region->domain->remote_events)
    return -FI_EINVAL;
  region->counter = CONTAINER(struct counter, fid.fid, other);
  return 0;
}

static int control(struct fid* fid, int command, void* argument)
{
  (void)fid, (void)argument;
  return command == FI_ENABLE || command == FI_REFRESH ? 0 : -FI_ENOSYS;
}

static struct fi_ops fid_calls = {.size = sizeof(struct fi_ops),
                                  .close = close_region,
                                  .bind = bind_region,
                                  .control = control,
                                  .ops_open = umw_fi_no_ops_open};

static int register_attr(struct fid* fid, const struct fi_mr_attr* attr, uint64_t flags, struct fid_mr** mr)
{
  (void)flags;
  if (fid->fclass != FI_CLASS_DOMAIN || attr->iov_count < 1 || attr->iov_count > IOV_LIMIT ||
      (attr->iface != FI_HMEM_SYSTEM))
    return -FI_EINVAL;
  struct domain* const domain = CONTAINER(struct domain, fid.fid, fid);
  struct region* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return -FI_ENOMEM;
  made->origin = OF_REGION;
  made->domain = domain;
  made->fid.fid = (struct fid){.fclass = FI_CLASS_MR, .context = attr->context, .ops = &fid_calls};
  made->fid.mem_desc = made;
  made->fid.key = attr->requested_key;
  umw_fi_lock(domain);
  int code = PTL_OK;
  bool taken = false;
  for (const struct region* other = domain->regions; other != NULL && !taken; other = other->next)
    taken = other->fid.key == made->fid.key;
  if (!taken && (code = append(made, false, attr)) == PTL_OK && (code = append(made, true, attr)) != PTL_OK)
    PtlMEUnlink(made->quiet);
  if (!taken && code == PTL_OK) {
    made->next = domain->regions;
    domain->regions = made;
  }
  umw_fi_unlock(domain);
  if (taken || code != PTL_OK) {
    free(made);
    return taken ? -FI_ENOKEY : umw_fi_error(code);
  }
  __atomic_fetch_add(&domain->users, 1, __ATOMIC_RELAXED);
  *mr = &made->fid;
  return 0;
}

static int register_list(struct fid* fid, const struct iovec* iov, size_t count, uint64_t access, uint64_t offset,
                         uint64_t key, uint64_t flags, struct fid_mr** mr, void* context)
{
  const struct fi_mr_attr attr = {
      .mr_iov = iov, .iov_count = count, .access = access, .offset = offset, .requested_key = key, .context = context};
  return register_attr(fid, &attr, flags, mr);
}

static int register_one(struct fid* fid, const void* buffer, size_t length, uint64_t access, uint64_t offset,
                        uint64_t key, uint64_t flags, struct fid_mr** mr, void* context)
{
  const struct iovec iov = {(void*)buffer, length};
  return register_list(fid, &iov, 1, access, offset, key, flags, mr, context);
}

struct fi_ops_mr umw_fi_region_calls = {
    .size = sizeof(struct fi_ops_mr), .reg = register_one, .regv = register_list, .regattr = register_attr};
