// SPDX-License-Identifier: LGPL-2.1-or-later
// What the provider offers: fi_getinfo, and its entry point.
#include "provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t transmit_caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE | FI_SEND;
static const uint64_t receive_caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV | FI_REMOTE_READ |
                                     FI_REMOTE_WRITE | FI_MULTI_RECV | FI_DIRECTED_RECV | FI_SOURCE | FI_RMA_EVENT;
static const uint64_t domain_caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
// Given to those who ask for it only: it costs an event for each access, or a search.
static const uint64_t asked_for = FI_RMA_EVENT | FI_DIRECTED_RECV | FI_SOURCE;

// Of addresses and of the protocol: the highest bit says that it is a provider's own (FI_PROV_SPECIFIC of libfabric 1).
static const uint32_t own_format = 1U << 31 | 1;
// Before libfabric 1.5: FI_MR_BASIC and FI_MR_SCALABLE, whose names libfabric 2 warns of.
static const int mr_basic = 1 << 0;
static const int mr_scalable = 1 << 1;

static const uint64_t order = FI_ORDER_SAS | FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR | FI_ORDER_WAW |
                              FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW |
                              FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;
static const uint64_t transmit_flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
                                       FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | FI_REMOTE_CQ_DATA | FI_MORE;
static const uint64_t receive_flags = FI_COMPLETION | FI_MULTI_RECV | FI_MORE;

const ptl_ni_limits_t* umw_fi_most(void)
{
  static const ptl_ni_limits_t most = {.max_entries = 1 << 20,
                                       .max_unexpected_headers = 1 << 20,
                                       .max_mds = 1 << 16,
                                       .max_cts = 1 << 10,
                                       .max_eqs = 1 << 8,
                                       .max_pt_index = 255,
                                       .max_iovecs = 1 << 16,
                                       .max_list_size = 1 << 20,
                                       .max_triggered_ops = 1 << 10,
                                       .max_msg_size = (ptl_size_t)1 << 40,
                                       .max_atomic_size = 512,
                                       .max_fetch_atomic_size = 512,
                                       .max_waw_ordered_size = 64,
                                       .max_war_ordered_size = 64,
                                       .max_volatile_size = 64,
                                       .features = 0};
  return &most;
}

static struct fi_info* everything(void)
{
  struct fi_info* const info = fi_allocinfo();
  if (info == NULL)
    return NULL;
  info->caps = transmit_caps | receive_caps | domain_caps;
  info->addr_format = own_format;
  *info->tx_attr = (struct fi_tx_attr){.caps = transmit_caps,
                                       .op_flags = 0,
                                       .msg_order = order,
                                       .inject_size = INJECT_SIZE,
                                       .size = TRANSMITS / 4,
                                       .iov_limit = IOV_LIMIT,
                                       .rma_iov_limit = IOV_LIMIT};
  *info->rx_attr =
      (struct fi_rx_attr){.caps = receive_caps, .msg_order = order, .size = RECEIVES / 4, .iov_limit = IOV_LIMIT};
  *info->ep_attr = (struct fi_ep_attr){.type = FI_EP_RDM,
                                       .protocol = own_format,
                                       .protocol_version = 1,
                                       .max_msg_size = umw_fi_most()->max_msg_size,
                                       .max_order_raw_size = umw_fi_most()->max_waw_ordered_size,
                                       .max_order_war_size = umw_fi_most()->max_war_ordered_size,
                                       .max_order_waw_size = umw_fi_most()->max_waw_ordered_size,
                                       .mem_tag_format = UINT64_C(0xaaaaaaaaaaaaaa), // 56 bits

                                       .tx_ctx_cnt = 1,
                                       .rx_ctx_cnt = 1};
  *info->domain_attr = (struct fi_domain_attr){.threading = FI_THREAD_SAFE,
                                               .control_progress = FI_PROGRESS_MANUAL,
                                               .data_progress = FI_PROGRESS_MANUAL,
                                               .resource_mgmt = FI_RM_ENABLED,
                                               .av_type = FI_AV_UNSPEC,
                                               .mr_mode = 0,
                                               .mr_key_size = 8,
                                               .cq_data_size = 4,
                                               .cq_cnt = 1 << 12,
                                               .ep_cnt = ENDPOINTS,
                                               .tx_ctx_cnt = ENDPOINTS,
                                               .rx_ctx_cnt = ENDPOINTS,
                                               .max_ep_tx_ctx = 1,
                                               .max_ep_rx_ctx = 1,
                                               .cntr_cnt = 1 << 12,
                                               .mr_iov_limit = 1,
                                               .caps = domain_caps,
                                               .mr_cnt = 1 << 18};
  info->domain_attr->name = strdup("portals0");
  info->fabric_attr->name = strdup("umwelt");
  info->fabric_attr->prov_name = strdup("umwelt");
  info->fabric_attr->prov_version = umw_fi_provider.version;
  if (info->domain_attr->name == NULL || info->fabric_attr->name == NULL || info->fabric_attr->prov_name == NULL) {
    fi_freeinfo(info);
    return NULL;
  }
  return info;
}

static bool another(const char* wanted, const char* own)
{
  return wanted != NULL && strcasecmp(wanted, own) != 0;
}

static bool fits_transmit(const struct fi_tx_attr* asked, const struct fi_tx_attr* got)
{
  return (asked->caps & ~(transmit_caps | receive_caps | domain_caps)) == 0 &&
         (asked->op_flags & ~transmit_flags) == 0 && (asked->msg_order & ~got->msg_order) == 0 &&
         (asked->comp_order & ~got->comp_order) == 0 && asked->inject_size <= got->inject_size &&
         asked->size <= got->size && asked->iov_limit <= got->iov_limit && asked->rma_iov_limit <= got->rma_iov_limit;
}

static bool fits_receive(const struct fi_rx_attr* asked, const struct fi_rx_attr* got)
{
  return (asked->caps & ~(transmit_caps | receive_caps | domain_caps)) == 0 &&
         (asked->op_flags & ~receive_flags) == 0 && (asked->msg_order & ~got->msg_order) == 0 &&
         (asked->comp_order & ~got->comp_order) == 0 && asked->size <= got->size && asked->iov_limit <= got->iov_limit;
}

static bool fits_endpoint(const struct fi_ep_attr* asked, const struct fi_ep_attr* got)
{
  if (asked->type != FI_EP_UNSPEC && asked->type != got->type)
    return false;
  if (asked->protocol != FI_PROTO_UNSPEC && asked->protocol != got->protocol)
    return false;
  return asked->max_msg_size <= got->max_msg_size && asked->max_order_raw_size <= got->max_order_raw_size &&
         asked->max_order_war_size <= got->max_order_war_size && asked->max_order_waw_size <= got->max_order_waw_size &&
         asked->tx_ctx_cnt <= 1 && asked->rx_ctx_cnt <= 1 && asked->auth_key_size == 0;
}

static bool fits_domain(const struct fi_domain_attr* asked, const struct fi_domain_attr* got)
{
  if (another(asked->name, got->name) || asked->data_progress == FI_PROGRESS_AUTO ||
      asked->control_progress == FI_PROGRESS_AUTO)
    return false;
  // Regions are named by the program and addressed from 0 (FI_MR_SCALABLE): nothing for those who know FI_MR_BASIC
  // alone.
  if (asked->mr_mode == mr_basic)
    return false;
  return asked->mr_key_size <= got->mr_key_size && asked->cq_data_size <= got->cq_data_size &&
         asked->cq_cnt <= got->cq_cnt && asked->ep_cnt <= got->ep_cnt && asked->cntr_cnt <= got->cntr_cnt &&
         asked->mr_iov_limit <= got->mr_iov_limit && asked->auth_key_size == 0 && asked->max_ep_stx_ctx == 0 &&
         asked->max_ep_srx_ctx == 0 && (asked->caps & ~domain_caps) == 0 && asked->mr_cnt <= got->mr_cnt;
}

static bool fits(const struct fi_info* hints, const struct fi_info* info)
{
  if ((hints->caps & ~info->caps) != 0)
    return false;
  if (hints->addr_format != FI_FORMAT_UNSPEC && hints->addr_format != info->addr_format)
    return false;
  if (hints->fabric_attr != NULL && (another(hints->fabric_attr->name, info->fabric_attr->name)))
    return false;
  return (hints->tx_attr == NULL || fits_transmit(hints->tx_attr, info->tx_attr)) &&
         (hints->rx_attr == NULL || fits_receive(hints->rx_attr, info->rx_attr)) &&
         (hints->ep_attr == NULL || fits_endpoint(hints->ep_attr, info->ep_attr)) &&
         (hints->domain_attr == NULL || fits_domain(hints->domain_attr, info->domain_attr));
}

// What was asked for, where there is a choice.
static void choose(struct fi_info* info, const struct fi_info* hints, uint32_t version)
{
  const uint64_t primary = FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC;
  const uint64_t modifiers = FI_READ | FI_WRITE | FI_SEND | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE;
  uint64_t caps = hints->caps;
  if (caps == 0)
    caps = info->caps & ~asked_for;
  else if ((caps & primary) == 0)
    caps |= primary;
  if ((caps & modifiers) == 0) {
    if (caps & (FI_MSG | FI_TAGGED))
      caps |= FI_SEND | FI_RECV;
    if (caps & (FI_RMA | FI_ATOMIC))
      caps |= FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  }
  info->caps = caps | (caps & domain_caps ? 0 : domain_caps) | (FI_MULTI_RECV & (caps & FI_MSG ? ~0ull : 0));
  info->tx_attr->caps = info->caps & transmit_caps;
  info->rx_attr->caps = info->caps & receive_caps;
  if (hints->tx_attr != NULL) {
    info->tx_attr->op_flags = hints->tx_attr->op_flags;
    if (hints->tx_attr->size != 0)
      info->tx_attr->size = hints->tx_attr->size;
  }
  if (hints->rx_attr != NULL) {
    info->rx_attr->op_flags = hints->rx_attr->op_flags;
    if (hints->rx_attr->size != 0)
      info->rx_attr->size = hints->rx_attr->size;
  }
  if (hints->domain_attr != NULL) {
    if (hints->domain_attr->threading != FI_THREAD_UNSPEC)
      info->domain_attr->threading = hints->domain_attr->threading;
    if (hints->domain_attr->av_type != FI_AV_UNSPEC)
      info->domain_attr->av_type = hints->domain_attr->av_type;
    if (hints->domain_attr->resource_mgmt != FI_RM_UNSPEC)
      info->domain_attr->resource_mgmt = hints->domain_attr->resource_mgmt;
  }
  if (FI_VERSION_LT(version, FI_VERSION(1, 5)) ||
      (hints->domain_attr != NULL && hints->domain_attr->mr_mode == mr_scalable))
    info->domain_attr->mr_mode = mr_scalable;
  info->handle = hints->handle;
}

// The process, whose endpoints have numbers of their own as soon as they are enabled.
static int own_address(struct name* name)
{
  *name = (struct name){0};
  int code = PtlInit();
  if (code != PTL_OK)
    return -FI_ENODATA;
  ptl_handle_ni_t ni;
  ptl_process_t id;
  code = PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &ni);
  if (code == PTL_OK) {
    code = PtlGetPhysId(ni, &id);
    PtlNIFini(ni);
  }
  PtlFini();
  if (code != PTL_OK)
    return -FI_ENODATA;
  name->nid = id.phys.nid;
  name->pid = id.phys.pid;
  return 0;
}

static int copy_address(void** to, size_t* length, const void* from, size_t bytes)
{
  if (from == NULL)
    return 0;
  if (bytes != sizeof(struct name))
    return -FI_EINVAL;
  *to = malloc(bytes);
  if (*to == NULL)
    return -FI_ENOMEM;
  memcpy(*to, from, bytes);
  *length = bytes;
  return 0;
}

static int get_info(uint32_t version, const char* node, const char* service, uint64_t flags,
                    const struct fi_info* hints, struct fi_info** info)
{
  (void)service;
  // Endpoints have no names that a resolver knows: programs tell each other what fi_getname says.
  if (node != NULL && (flags & FI_SOURCE) == 0)
    return -FI_ENODATA;
  struct fi_info* const got = everything();
  if (got == NULL)
    return -FI_ENOMEM;
  int error = 0;
  if (hints != NULL) {
    if (!fits(hints, got))
      error = -FI_ENODATA;
    else
      error = copy_address(&got->dest_addr, &got->dest_addrlen, hints->dest_addr, hints->dest_addrlen);
    if (error == 0)
      choose(got, hints, version);
  } else {
    got->caps &= ~asked_for;
    got->rx_attr->caps &= ~asked_for;
  }
  struct name own;
  if (error == 0 && (error = own_address(&own)) == 0)
    error = copy_address(&got->src_addr, &got->src_addrlen, &own, sizeof own);
  if (error != 0) {
    fi_freeinfo(got);
    return error;
  }
  got->fabric_attr->api_version = version;
  *info = got;
  return 0;
}

static int close_fabric(struct fid* fid)
{
  struct fabric* const fabric = CONTAINER(struct fabric, fid.fid, fid);
  if (__atomic_load_n(&fabric->users, __ATOMIC_RELAXED) != 0)
    return -FI_EBUSY;
  free(fabric);
  return 0;
}

static int no_passive_endpoint(struct fid_fabric* fabric, struct fi_info* info, struct fid_pep** pep, void* context)
{
  (void)fabric, (void)info, (void)pep, (void)context;
  return -FI_ENOSYS;
}

static int no_wait_set(struct fid_fabric* fabric, struct fi_wait_attr* attr, struct fid_wait** set)
{
  (void)fabric, (void)attr, (void)set;
  return -FI_ENOSYS;
}

// Whether a program may wait at file descriptors: not while there is something to be read.
static int try_wait(struct fid_fabric* fabric, struct fid** fids, int count)
{
  (void)fabric;
  for (int i = 0; i < count; ++i) {
    if (fids[i]->fclass != FI_CLASS_CQ)
      continue;
    struct completion_queue* const queue = CONTAINER(struct completion_queue, fid.fid, fids[i]);
    umw_fi_lock(queue->domain);
    umw_fi_progress(queue->domain);
    const bool something = queue->count != 0 || queue->failures != NULL;
    umw_fi_unlock(queue->domain);
    if (something)
      return -FI_EAGAIN;
  }
  return 0;
}

int umw_fi_no_bind(struct fid* fid, struct fid* other, uint64_t flags)
{
  (void)fid, (void)other, (void)flags;
  return -FI_ENOSYS;
}

int umw_fi_no_control(struct fid* fid, int command, void* argument)
{
  (void)fid, (void)command, (void)argument;
  return -FI_ENOSYS;
}

int umw_fi_no_ops_open(struct fid* fid, const char* name, uint64_t flags, void** ops, void* context)
{
  (void)fid, (void)name, (void)flags, (void)ops, (void)context;
  return -FI_ENOSYS;
}

static struct fi_ops fabric_fid_calls = {.size = sizeof(struct fi_ops),
                                         .close = close_fabric,
                                         .bind = umw_fi_no_bind,
                                         .control = umw_fi_no_control,
                                         .ops_open = umw_fi_no_ops_open};
static struct fi_ops_fabric fabric_calls = {.size = sizeof(struct fi_ops_fabric),
                                            .domain = umw_fi_domain,
                                            .passive_ep = no_passive_endpoint,
                                            .eq_open = umw_fi_eq_open,
                                            .wait_open = no_wait_set,
                                            .trywait = try_wait};

static int open_fabric(struct fi_fabric_attr* attr, struct fid_fabric** fabric, void* context)
{
  if (another(attr->name, "umwelt"))
    return -FI_EINVAL;
  struct fabric* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return -FI_ENOMEM;
  made->fid.fid = (struct fid){.fclass = FI_CLASS_FABRIC, .context = context, .ops = &fabric_fid_calls};
  made->fid.ops = &fabric_calls;
  made->fid.api_version = attr->api_version;
  *fabric = &made->fid;
  return 0;
}

static void clean_up(void)
{
}

struct fi_provider umw_fi_provider = {
    .version = FI_VERSION(1, 0),
    .fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
    .name = "umwelt",
    .getinfo = get_info,
    .fabric = open_fabric,
    .cleanup = clean_up,
};

__attribute__((visibility("default"))) struct fi_provider* fi_prov_ini(void)
{
  fi_param_define(&umw_fi_provider, "eager_size", FI_PARAM_SIZE_T,
                  "bytes up to which a message that nobody waits for yet is kept where it arrives (16384)");
  return &umw_fi_provider;
}
