// SPDX-License-Identifier: LGPL-2.1-or-later
// A domain: the rank's network interface, with one event queue for all that belongs to it.
#include "provider.h"

#include <stdlib.h>
#include <string.h>

int umw_fi_error(int portals)
{
  switch (portals) {
  case PTL_OK:
    return 0;
  case PTL_NO_SPACE:
  case PTL_LIST_TOO_LONG:
    return -FI_ENOMEM;
  case PTL_PT_FULL:
    return -FI_ENOSPC;
  case PTL_ABORTED:
    return -FI_ECANCELED;
  case PTL_IN_USE:
    return -FI_EBUSY;
  default:
    return -FI_EINVAL;
  }
}

void umw_fi_lock(struct domain* domain)
{
  if (domain->safe)
    pthread_mutex_lock(&domain->lock);
}

void umw_fi_unlock(struct domain* domain)
{
  if (domain->safe)
    pthread_mutex_unlock(&domain->lock);
}

struct request* umw_fi_new_request(struct endpoint* endpoint, enum kind kind)
{
  struct domain* const domain = endpoint->domain;
  struct request* request = domain->free_requests;
  if (request != NULL)
    domain->free_requests = request->next;
  else if ((request = malloc(sizeof *request)) == NULL)
    return NULL;
  memset(request, 0, offsetof(struct request, pieces));
  request->kind = kind;
  request->endpoint = endpoint;
  request->md = PTL_INVALID_HANDLE;
  request->me = PTL_INVALID_HANDLE;
  request->from = FI_ADDR_NOTAVAIL;
  return request;
}

void umw_fi_free_request(struct request* request)
{
  struct domain* const domain = request->endpoint->domain;
  request->next = domain->free_requests;
  domain->free_requests = request;
}

void umw_fi_begin(const struct request* request)
{
  ++request->endpoint->under_way;
  ++request->endpoint->domain->transmits;
}

void umw_fi_end(struct request* request)
{
  --request->endpoint->under_way;
  --request->endpoint->domain->transmits;
  umw_fi_free_request(request);
}

static void* see_to_events(void* argument)
{
  struct domain* const domain = argument;
  pthread_mutex_lock(&domain->lock);
  while (!domain->stopping) {
    ptl_event_t event;
    unsigned which = 0;
    pthread_mutex_unlock(&domain->lock);
    const int code = PtlEQPoll(&domain->eq, 1, PTL_TIME_FOREVER, &event, &which);
    pthread_mutex_lock(&domain->lock);
    if (code == PTL_OK || code == PTL_EQ_DROPPED)
      umw_fi_event(domain, &event);
    else if (code == PTL_ABORTED)
      break;
    pthread_cond_broadcast(&domain->changed);
  }
  pthread_mutex_unlock(&domain->lock);
  return NULL;
}

int umw_fi_want_thread(struct domain* domain)
{
  if (domain->threads_wanted++ > 0)
    return 0;
  domain->safe = true; // no call is under way: this is fi_cq_open or fi_cntr_open
  domain->stopping = false;
  domain->taken = true;
  const int error = pthread_create(&domain->thread, NULL, see_to_events, domain);
  if (error != 0) {
    domain->threads_wanted = 0;
    domain->taken = false;
  }
  return -error;
}

void umw_fi_leave_thread(struct domain* domain)
{
  if (--domain->threads_wanted > 0)
    return;
  pthread_mutex_lock(&domain->lock);
  domain->stopping = true;
  umw_fi_wake(domain);
  pthread_mutex_unlock(&domain->lock);
  pthread_join(domain->thread, NULL);
  domain->taken = false;
}

// What the interface has for a domain: the first `done` of open_interface.
static void give_back(struct domain* domain, int done)
{
  for (int i = 0; i < 3; ++i)
    if (domain->refusals[i] != PTL_INVALID_HANDLE)
      PtlMEUnlink(domain->refusals[i]);
  if (done >= 7)
    PtlPTFree(domain->ni, domain->noisy_pt);
  if (done >= 6)
    PtlPTFree(domain->ni, domain->quiet_pt);
  if (done >= 5)
    PtlPTFree(domain->ni, domain->read_pt);
  if (done >= 4)
    PtlMDRelease(domain->md);
  if (done >= 3)
    PtlEQFree(domain->eq);
  if (done >= 2)
    PtlNIFini(domain->ni);
  if (done >= 1)
    PtlFini();
}

static int close_domain(struct fid* fid)
{
  struct domain* const domain = CONTAINER(struct domain, fid.fid, fid);
  if (__atomic_load_n(&domain->users, __ATOMIC_RELAXED) != 0)
    return -FI_EBUSY;
  umw_fi_progress(domain);
  give_back(domain, 7);
  for (struct request* request = domain->free_requests; request != NULL;) {
    struct request* const next = request->next;
    free(request);
    request = next;
  }
  free(domain->next_place);
  pthread_cond_destroy(&domain->changed);
  pthread_mutex_destroy(&domain->lock);
  __atomic_fetch_sub(&domain->fabric->users, 1, __ATOMIC_RELAXED);
  free(domain);
  return 0;
}

static int bind_domain(struct fid* fid, struct fid* other, uint64_t flags)
{
  (void)fid, (void)flags;
  return other->fclass == FI_CLASS_EQ ? 0 : -FI_EINVAL; // regions and addresses are there when a call returns
}

static int no_scalable_endpoint(struct fid_domain* domain, struct fi_info* info, struct fid_ep** endpoint,
                                void* context)
{
  (void)domain, (void)info, (void)endpoint, (void)context;
  return -FI_ENOSYS;
}

static int no_shared_transmit(struct fid_domain* domain, struct fi_tx_attr* attr, struct fid_stx** made, void* context)
{
  (void)domain, (void)attr, (void)made, (void)context;
  return -FI_ENOSYS;
}

static int no_shared_receive(struct fid_domain* domain, struct fi_rx_attr* attr, struct fid_ep** made, void* context)
{
  (void)domain, (void)attr, (void)made, (void)context;
  return -FI_ENOSYS;
}

static int no_collective(struct fid_domain* domain, enum fi_collective_op operation, struct fi_collective_attr* attr,
                         uint64_t flags)
{
  (void)domain, (void)operation, (void)attr, (void)flags;
  return -FI_ENOSYS;
}

static struct fi_ops fid_calls = {.size = sizeof(struct fi_ops),
                                  .close = close_domain,
                                  .bind = bind_domain,
                                  .control = umw_fi_no_control,
                                  .ops_open = umw_fi_no_ops_open};
static struct fi_ops_domain domain_calls = {.size = sizeof(struct fi_ops_domain),
                                            .av_open = umw_fi_av_open,
                                            .cq_open = umw_fi_cq_open,
                                            .endpoint = umw_fi_endpoint,
                                            .scalable_ep = no_scalable_endpoint,
                                            .cntr_open = umw_fi_cntr_open,
                                            .poll_open = umw_fi_poll_open,
                                            .stx_ctx = no_shared_transmit,
                                            .srx_ctx = no_shared_receive,
                                            .query_atomic = umw_fi_query_atomic,
                                            .query_collective = no_collective};

// Without it flow control would disable an entry for a key that there is not: it matches what nothing else does, and
// allows nothing.
static int refuse_others(struct domain* domain, ptl_pt_index_t index, ptl_handle_me_t* handle)
{
  const ptl_me_t me = {.ct_handle = PTL_CT_NONE,
                       .uid = PTL_UID_ANY,
                       .options = PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE,
                       .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                       .ignore_bits = ~UINT64_C(0)};
  return PtlMEAppend(domain->ni, index, &me, PTL_OVERFLOW_LIST, NULL, handle);
}

// What the interface has for a domain; *done counts what has to be given back.
static int open_interface(struct domain* domain, int* done)
{
  int code = PtlInit();
  if (code != PTL_OK)
    return code;
  *done = 1;
  code = PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, umw_fi_most(), &domain->limits,
                   &domain->ni);
  if (code != PTL_OK)
    return code;
  *done = 2;
  if ((code = PtlGetPhysId(domain->ni, &domain->id)) != PTL_OK ||
      (code = PtlEQAlloc(domain->ni, EVENTS, &domain->eq)) != PTL_OK)
    return code;
  *done = 3;
  const ptl_md_t all = {.start = NULL,
                        .length = PTL_SIZE_MAX,
                        .options = PTL_MD_EVENT_SEND_DISABLE,
                        .eq_handle = domain->eq,
                        .ct_handle = PTL_CT_NONE};
  if ((code = PtlMDBind(domain->ni, &all, &domain->md)) != PTL_OK)
    return code;
  *done = 4;
  ptl_pt_index_t* const entries[] = {&domain->read_pt, &domain->quiet_pt, &domain->noisy_pt};
  for (int i = 0; i < 3; ++i) {
    if ((code = PtlPTAlloc(domain->ni, PTL_PT_FLOWCTRL, domain->eq, PTL_PT_ANY, entries[i])) != PTL_OK)
      return code;
    *done = 5 + i;
    if ((code = refuse_others(domain, *entries[i], &domain->refusals[i])) != PTL_OK)
      return code;
  }
  return domain->read_pt < INDEX_LIMIT ? PTL_OK : PTL_PT_FULL;
}

int umw_fi_domain(struct fid_fabric* fabric, struct fi_info* info, struct fid_domain** domain, void* context)
{
  struct domain* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return -FI_ENOMEM;
  for (int i = 0; i < 3; ++i)
    made->refusals[i] = PTL_INVALID_HANDLE;
  int done = 0;
  const int code = open_interface(made, &done);
  if (code != PTL_OK) {
    give_back(made, done);
    free(made);
    return umw_fi_error(code);
  }
  made->fabric = CONTAINER(struct fabric, fid, fabric);
  made->fid.fid = (struct fid){.fclass = FI_CLASS_DOMAIN, .context = context, .ops = &fid_calls};
  made->fid.ops = &domain_calls;
  made->fid.mr = &umw_fi_region_calls;
  made->waking = OF_WAKING;
  made->remote_events = (info->caps & FI_RMA_EVENT) != 0;
  const enum fi_threading threading = info->domain_attr->threading;
  made->safe = threading == FI_THREAD_UNSPEC || threading == FI_THREAD_SAFE || threading == FI_THREAD_FID ||
               threading == FI_THREAD_ENDPOINT || threading == FI_THREAD_COMPLETION;
  made->eager_size = 16384;
  fi_param_get_size_t(&umw_fi_provider, "eager_size", &made->eager_size);
  if (made->eager_size > BLOCK_SIZE / 4)
    made->eager_size = BLOCK_SIZE / 4;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->changed, NULL);
  __atomic_fetch_add(&made->fabric->users, 1, __ATOMIC_RELAXED);
  *domain = &made->fid;
  return 0;
}
