// SPDX-License-Identifier: LGPL-2.1-or-later
// Endpoints: a number in the process, two portal table entries (messages, tagged messages), and what is bound to them.
#include "provider.h"

#include <stdlib.h>
#include <string.h>

static struct endpoint* numbered[ENDPOINTS];
static pthread_mutex_t numbers = PTHREAD_MUTEX_INITIALIZER;

struct endpoint* umw_fi_numbered(unsigned number)
{
  return number < ENDPOINTS ? numbered[number] : NULL;
}

static int take_number(struct endpoint* endpoint)
{
  int error = -FI_ENOSPC;
  pthread_mutex_lock(&numbers);
  for (unsigned i = 0; i < ENDPOINTS && error != 0; ++i)
    if (numbered[i] == NULL) {
      numbered[i] = endpoint;
      endpoint->name.endpoint = (uint16_t)i;
      error = 0;
    }
  pthread_mutex_unlock(&numbers);
  return error;
}

static void leave_number(const struct endpoint* endpoint)
{
  pthread_mutex_lock(&numbers);
  numbered[endpoint->name.endpoint] = NULL;
  pthread_mutex_unlock(&numbers);
}

static void use(struct counter* counter, int by)
{
  if (counter != NULL)
    counter->users += by;
}

static int close_endpoint(struct fid* fid)
{
  struct endpoint* const endpoint = CONTAINER(struct endpoint, fid.fid, fid);
  struct domain* const domain = endpoint->domain;
  umw_fi_lock(domain);
  if (endpoint->enabled) {
    PtlPTDisable(domain->ni, endpoint->name.message_pt);
    PtlPTDisable(domain->ni, endpoint->name.tagged_pt);
    umw_fi_drain(domain); // what has come completes
    while (endpoint->posted != NULL) {
      struct request* const request = endpoint->posted;
      umw_fi_unpost(request);
      if (PtlMEUnlink(request->me) == PTL_OK) // else an event names it yet
        umw_fi_free_request(request);
    }
    while (endpoint->claimed != NULL) {
      struct request* const request = endpoint->claimed;
      endpoint->claimed = request->next;
      free(request->claimed);
      umw_fi_free_request(request);
    }
    endpoint->enabled = false;
    umw_fi_close_blocks(endpoint);
  }
  for (struct endpoint** at = &domain->endpoints; *at != NULL; at = &(*at)->next)
    if (*at == endpoint) {
      *at = endpoint->next;
      break;
    }
  umw_fi_unlock(domain);
  leave_number(endpoint);
  if (endpoint->av != NULL)
    --endpoint->av->users;
  if (endpoint->transmit_queue != NULL)
    --endpoint->transmit_queue->users;
  if (endpoint->receive_queue != NULL)
    --endpoint->receive_queue->users;
  use(endpoint->on_send, -1);
  use(endpoint->on_receive, -1);
  use(endpoint->on_read, -1);
  use(endpoint->on_write, -1);
  use(endpoint->on_remote_read, -1);
  use(endpoint->on_remote_write, -1);
  __atomic_fetch_sub(&domain->users, 1, __ATOMIC_RELAXED);
  if (endpoint->under_way > 0) { // their events have nobody to tell any more
    *endpoint = (struct endpoint){.domain = domain, .under_way = endpoint->under_way};
    return 0;
  }
  free(endpoint);
  return 0;
}

static void bind_counter(struct counter** at, struct counter* counter, bool wanted)
{
  if (!wanted)
    return;
  use(*at, -1);
  *at = counter;
  use(counter, 1);
}

static int bind_endpoint(struct fid* fid, struct fid* other, uint64_t flags)
{
  struct endpoint* const endpoint = CONTAINER(struct endpoint, fid.fid, fid);
  switch (other->fclass) {
  case FI_CLASS_AV:
    if (endpoint->av != NULL)
      return -FI_EINVAL;
    endpoint->av = CONTAINER(struct address_vector, fid.fid, other);
    ++endpoint->av->users;
    return 0;
  case FI_CLASS_CQ: {
    struct completion_queue* const queue = CONTAINER(struct completion_queue, fid.fid, other);
    if ((flags & (FI_TRANSMIT | FI_RECV)) == 0)
      return -FI_EINVAL;
    if (((flags & FI_TRANSMIT) && endpoint->transmit_queue != NULL) ||
        ((flags & FI_RECV) && endpoint->receive_queue != NULL))
      return -FI_EINVAL;
    if (flags & FI_TRANSMIT) {
      endpoint->transmit_queue = queue;
      endpoint->transmit_selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
      ++queue->users;
    }
    if (flags & FI_RECV) {
      endpoint->receive_queue = queue;
      endpoint->receive_selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
      ++queue->users;
    }
    return 0;
  }
  case FI_CLASS_CNTR: {
    struct counter* const counter = CONTAINER(struct counter, fid.fid, other);
    bind_counter(&endpoint->on_send, counter, (flags & FI_SEND) != 0);
    bind_counter(&endpoint->on_receive, counter, (flags & FI_RECV) != 0);
    bind_counter(&endpoint->on_read, counter, (flags & FI_READ) != 0);
    bind_counter(&endpoint->on_write, counter, (flags & FI_WRITE) != 0);
    bind_counter(&endpoint->on_remote_read, counter, (flags & FI_REMOTE_READ) != 0);
    bind_counter(&endpoint->on_remote_write, counter, (flags & FI_REMOTE_WRITE) != 0);
    return 0;
  }
  case FI_CLASS_EQ: // nothing happens to an RDM endpoint that a program does not do itself
  case FI_CLASS_MR:
    return 0;
  default:
    return -FI_EINVAL;
  }
}

static int enable(struct endpoint* endpoint)
{
  struct domain* const domain = endpoint->domain;
  if (endpoint->enabled)
    return 0;
  if (endpoint->av == NULL)
    return -FI_ENOAV;
  if (((endpoint->caps & FI_RECV) && endpoint->receive_queue == NULL && endpoint->on_receive == NULL) ||
      ((endpoint->caps & FI_SEND) && endpoint->transmit_queue == NULL && endpoint->on_send == NULL))
    return -FI_ENOCQ;
  ptl_pt_index_t index = 0;
  int code = PtlPTAlloc(domain->ni, PTL_PT_FLOWCTRL, domain->eq, PTL_PT_ANY, &index);
  if (code != PTL_OK)
    return umw_fi_error(code);
  endpoint->name.message_pt = (uint16_t)index;
  code = PtlPTAlloc(domain->ni, PTL_PT_FLOWCTRL, domain->eq, PTL_PT_ANY, &index);
  if (code != PTL_OK) {
    PtlPTFree(domain->ni, endpoint->name.message_pt);
    return umw_fi_error(code);
  }
  endpoint->name.tagged_pt = (uint16_t)index;
  const int error = umw_fi_open_blocks(endpoint);
  endpoint->enabled = error == 0;
  if (error != 0)
    umw_fi_close_blocks(endpoint);
  return error;
}

static int control(struct fid* fid, int command, void* argument)
{
  struct endpoint* const endpoint = CONTAINER(struct endpoint, fid.fid, fid);
  int error = 0;
  umw_fi_lock(endpoint->domain);
  switch (command) {
  case FI_ENABLE:
    error = enable(endpoint);
    break;
  case FI_GETOPSFLAG: {
    uint64_t* const flags = argument;
    *flags = *flags & FI_TRANSMIT ? endpoint->transmit_flags : endpoint->receive_flags;
    break;
  }
  case FI_SETOPSFLAG: {
    const uint64_t flags = *(const uint64_t*)argument;
    if (flags & FI_TRANSMIT)
      endpoint->transmit_flags = flags & ~(uint64_t)FI_TRANSMIT;
    if (flags & FI_RECV)
      endpoint->receive_flags = flags & ~(uint64_t)FI_RECV;
    break;
  }
  default:
    error = -FI_ENOSYS;
  }
  umw_fi_unlock(endpoint->domain);
  return error;
}

static int get_option(fid_t fid, int level, int option, void* value, size_t* length)
{
  const struct endpoint* const endpoint = CONTAINER(struct endpoint, fid.fid, fid);
  if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV)
    return -FI_ENOPROTOOPT;
  if (*length < sizeof(size_t))
    return -FI_ETOOSMALL;
  memcpy(value, &endpoint->min_multi_receive, sizeof(size_t));
  *length = sizeof(size_t);
  return 0;
}

static int set_option(fid_t fid, int level, int option, const void* value, size_t length)
{
  struct endpoint* const endpoint = CONTAINER(struct endpoint, fid.fid, fid);
  if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV)
    return -FI_ENOPROTOOPT;
  if (length < sizeof(size_t))
    return -FI_EINVAL;
  memcpy(&endpoint->min_multi_receive, value, sizeof(size_t));
  if (endpoint->min_multi_receive == 0)
    endpoint->min_multi_receive = 1; // else the entry would never be unlinked
  return 0;
}

static int no_context(struct fid_ep* fid, int index, struct fi_tx_attr* attr, struct fid_ep** made, void* context)
{
  (void)fid, (void)index, (void)attr, (void)made, (void)context;
  return -FI_ENOSYS;
}

static int no_receive_context(struct fid_ep* fid, int index, struct fi_rx_attr* attr, struct fid_ep** made,
                              void* context)
{
  (void)fid, (void)index, (void)attr, (void)made, (void)context;
  return -FI_ENOSYS;
}

static ssize_t receives_left(struct fid_ep* fid)
{
  return RECEIVES - (ssize_t)CONTAINER(struct endpoint, fid, fid)->domain->receives;
}

static ssize_t transmits_left(struct fid_ep* fid)
{
  return TRANSMITS - (ssize_t)CONTAINER(struct endpoint, fid, fid)->domain->transmits;
}

static int no_set_name(fid_t fid, void* address, size_t length)
{
  (void)fid, (void)address, (void)length;
  return -FI_ENOSYS; // names are given by the network
}

static int get_name(fid_t fid, void* address, size_t* length)
{
  const struct endpoint* const endpoint = CONTAINER(struct endpoint, fid.fid, fid);
  if (!endpoint->enabled)
    return -FI_EOPBADSTATE;
  const size_t room = *length;
  *length = sizeof(struct name);
  if (address != NULL && room != 0)
    memcpy(address, &endpoint->name, room < sizeof(struct name) ? room : sizeof(struct name));
  return room < sizeof(struct name) ? -FI_ETOOSMALL : 0;
}

static int no_peer(struct fid_ep* fid, void* address, size_t* length)
{
  (void)fid, (void)address, (void)length;
  return -FI_ENOSYS;
}

static int no_connect(struct fid_ep* fid, const void* address, const void* parameter, size_t length)
{
  (void)fid, (void)address, (void)parameter, (void)length;
  return -FI_ENOSYS;
}

static int no_listen(struct fid_pep* fid)
{
  (void)fid;
  return -FI_ENOSYS;
}

static int no_accept(struct fid_ep* fid, const void* parameter, size_t length)
{
  (void)fid, (void)parameter, (void)length;
  return -FI_ENOSYS;
}

static int no_reject(struct fid_pep* pep, fid_t handle, const void* parameter, size_t length)
{
  (void)pep, (void)handle, (void)parameter, (void)length;
  return -FI_ENOSYS;
}

static int no_shutdown(struct fid_ep* fid, uint64_t flags)
{
  (void)fid, (void)flags;
  return -FI_ENOSYS;
}

static int no_join(struct fid_ep* fid, const void* address, uint64_t flags, struct fid_mc** mc, void* context)
{
  (void)fid, (void)address, (void)flags, (void)mc, (void)context;
  return -FI_ENOSYS;
}

static struct fi_ops fid_calls = {.size = sizeof(struct fi_ops),
                                  .close = close_endpoint,
                                  .bind = bind_endpoint,
                                  .control = control,
                                  .ops_open = umw_fi_no_ops_open};
static struct fi_ops_ep endpoint_calls = {.size = sizeof(struct fi_ops_ep),
                                          .cancel = umw_fi_cancel,
                                          .getopt = get_option,
                                          .setopt = set_option,
                                          .tx_ctx = no_context,
                                          .rx_ctx = no_receive_context,
                                          .rx_size_left = receives_left,
                                          .tx_size_left = transmits_left};
static struct fi_ops_cm name_calls = {.size = sizeof(struct fi_ops_cm),
                                      .setname = no_set_name,
                                      .getname = get_name,
                                      .getpeer = no_peer,
                                      .connect = no_connect,
                                      .listen = no_listen,
                                      .accept = no_accept,
                                      .reject = no_reject,
                                      .shutdown = no_shutdown,
                                      .join = no_join};

int umw_fi_endpoint(struct fid_domain* domain, struct fi_info* info, struct fid_ep** endpoint, void* context)
{
  if (info->ep_attr != NULL && info->ep_attr->type != FI_EP_RDM && info->ep_attr->type != FI_EP_UNSPEC)
    return -FI_EINVAL;
  struct endpoint* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return -FI_ENOMEM;
  made->domain = CONTAINER(struct domain, fid, domain);
  const int error = take_number(made);
  if (error != 0) {
    free(made);
    return error;
  }
  made->name.nid = made->domain->id.phys.nid;
  made->name.pid = made->domain->id.phys.pid;
  made->name.quiet_pt = (uint16_t)made->domain->quiet_pt;
  made->name.noisy_pt = (uint16_t)made->domain->noisy_pt;
  made->caps = info->caps;
  made->transmit_flags = info->tx_attr != NULL ? info->tx_attr->op_flags : 0;
  made->receive_flags = info->rx_attr != NULL ? info->rx_attr->op_flags : 0;
  made->min_multi_receive = 64;
  made->long_headers[0] = made->long_headers[1] = PTL_INVALID_HANDLE;
  made->fid.fid = (struct fid){.fclass = FI_CLASS_EP, .context = context, .ops = &fid_calls};
  made->fid.ops = &endpoint_calls;
  made->fid.cm = &name_calls;
  made->fid.msg = &umw_fi_message_calls;
  made->fid.tagged = &umw_fi_tagged_calls;
  made->fid.rma = &umw_fi_rma_calls;
  made->fid.atomic = &umw_fi_atomic_calls;
  umw_fi_lock(made->domain);
  made->next = made->domain->endpoints;
  made->domain->endpoints = made;
  umw_fi_unlock(made->domain);
  __atomic_fetch_add(&made->domain->users, 1, __ATOMIC_RELAXED);
  *endpoint = &made->fid;
  return 0;
}
