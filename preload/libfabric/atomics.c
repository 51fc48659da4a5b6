// SPDX-License-Identifier: LGPL-2.1-or-later
// Atomics: those of Portals. FI_ATOMIC_READ is an OR with nothing that fetches, FI_ATOMIC_WRITE a swap whose result
// nobody reads; what compares is for one element, so several become as many operations. Portals has all types but
// 128-bit integers, and no bits or logic of floating-point numbers.
#include "provider.h"

#include <stdlib.h>
#include <string.h>

static const ptl_datatype_t types[] = {[FI_INT8] = PTL_INT8_T,
                                       [FI_UINT8] = PTL_UINT8_T,
                                       [FI_INT16] = PTL_INT16_T,
                                       [FI_UINT16] = PTL_UINT16_T,
                                       [FI_INT32] = PTL_INT32_T,
                                       [FI_UINT32] = PTL_UINT32_T,
                                       [FI_INT64] = PTL_INT64_T,
                                       [FI_UINT64] = PTL_UINT64_T,
                                       [FI_FLOAT] = PTL_FLOAT,
                                       [FI_DOUBLE] = PTL_DOUBLE,
                                       [FI_FLOAT_COMPLEX] = PTL_FLOAT_COMPLEX,
                                       [FI_DOUBLE_COMPLEX] = PTL_DOUBLE_COMPLEX,
                                       [FI_LONG_DOUBLE] = PTL_LONG_DOUBLE,
                                       [FI_LONG_DOUBLE_COMPLEX] = PTL_LONG_DOUBLE_COMPLEX};
static const size_t sizes[] = {[FI_INT8] = 1,
                               [FI_UINT8] = 1,
                               [FI_INT16] = 2,
                               [FI_UINT16] = 2,
                               [FI_INT32] = 4,
                               [FI_UINT32] = 4,
                               [FI_INT64] = 8,
                               [FI_UINT64] = 8,
                               [FI_FLOAT] = sizeof(float),
                               [FI_DOUBLE] = sizeof(double),
                               [FI_FLOAT_COMPLEX] = 2 * sizeof(float),
                               [FI_DOUBLE_COMPLEX] = 2 * sizeof(double),
                               [FI_LONG_DOUBLE] = sizeof(long double),
                               [FI_LONG_DOUBLE_COMPLEX] = 2 * sizeof(long double)};
static const int operations[] = {
    [FI_MIN] = PTL_MIN,           [FI_MAX] = PTL_MAX,           [FI_SUM] = PTL_SUM,
    [FI_PROD] = PTL_PROD,         [FI_LOR] = PTL_LOR,           [FI_LAND] = PTL_LAND,
    [FI_BOR] = PTL_BOR,           [FI_BAND] = PTL_BAND,         [FI_LXOR] = PTL_LXOR,
    [FI_BXOR] = PTL_BXOR,         [FI_ATOMIC_READ] = PTL_BOR,   [FI_ATOMIC_WRITE] = PTL_SWAP,
    [FI_CSWAP] = PTL_CSWAP,       [FI_CSWAP_NE] = PTL_CSWAP_NE, [FI_CSWAP_LE] = PTL_CSWAP_LE,
    [FI_CSWAP_LT] = PTL_CSWAP_LT, [FI_CSWAP_GE] = PTL_CSWAP_GE, [FI_CSWAP_GT] = PTL_CSWAP_GT,
    [FI_MSWAP] = PTL_MSWAP};

enum form { PLAIN, FETCHING, COMPARING };

static bool is_complex(enum fi_datatype type)
{
  return type == FI_FLOAT_COMPLEX || type == FI_DOUBLE_COMPLEX || type == FI_LONG_DOUBLE_COMPLEX;
}

static bool is_integer(enum fi_datatype type)
{
  return type <= FI_UINT64;
}

// Moves bytes and compares none: type does not matter where it is done as with integers.
static enum fi_datatype as_integers(enum fi_datatype type)
{
  switch (sizes[type]) {
  case 1:
    return FI_UINT8;
  case 2:
    return FI_UINT16;
  case 4:
    return FI_UINT32;
  default:
    return FI_UINT64; // as many as fit
  }
}

static bool there_is(enum fi_datatype type, enum fi_op op, enum form form)
{
  if ((unsigned)type >= FI_DATATYPE_LAST || (unsigned)op >= FI_ATOMIC_OP_LAST)
    return false;
  if (form == COMPARING ? op < FI_CSWAP : op >= FI_CSWAP)
    return false;
  if (form == PLAIN && op == FI_ATOMIC_READ)
    return false;
  switch (op) {
  case FI_MIN:
  case FI_MAX:
  case FI_CSWAP_LE:
  case FI_CSWAP_LT:
  case FI_CSWAP_GE:
  case FI_CSWAP_GT:
    return !is_complex(type);
  case FI_LOR:
  case FI_LAND:
  case FI_LXOR:
  case FI_BOR:
  case FI_BAND:
  case FI_BXOR:
  case FI_MSWAP:
    return is_integer(type);
  default:
    return true;
  }
}

// Elements of one call.
static size_t most(const struct domain* domain, enum fi_datatype type, enum form form)
{
  const size_t room = form == PLAIN ? domain->limits.max_atomic_size : domain->limits.max_fetch_atomic_size;
  return room / sizes[type];
}

int umw_fi_query_atomic(struct fid_domain* fid, enum fi_datatype type, enum fi_op op, struct fi_atomic_attr* attr,
                        uint64_t flags)
{
  const struct domain* const domain = CONTAINER(struct domain, fid, fid);
  const enum form form = flags & FI_COMPARE_ATOMIC ? COMPARING : flags & FI_FETCH_ATOMIC ? FETCHING : PLAIN;
  if (flags & FI_TAGGED)
    return -FI_EOPNOTSUPP;
  if (!there_is(type, op, form))
    return -FI_EOPNOTSUPP;
  attr->count = most(domain, type, form);
  attr->size = sizes[type];
  return 0;
}

struct atomic {
  enum form form;
  const struct fi_ioc* operand;
  size_t operand_count;
  const struct fi_ioc* compare;
  size_t compare_count;
  const struct fi_ioc* result;
  size_t result_count;
  fi_addr_t peer;
  const struct fi_rma_ioc* remote;
  size_t remote_count;
  enum fi_datatype type;
  enum fi_op op;
  uint64_t flags;
  void* context;
  bool message;
};

static size_t elements(const struct fi_ioc* list, size_t count)
{
  size_t sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += list[i].count;
  return sum;
}

// The element of a list of buffers.
static char* element(const struct fi_ioc* list, size_t count, size_t number, size_t size)
{
  for (size_t i = 0; i < count; ++i) {
    if (number < list[i].count)
      return (char*)list[i].addr + number * size;
    number -= list[i].count;
  }
  return NULL;
}

// How many elements from `number` on lie side by side in it.
static size_t run(const struct fi_ioc* list, size_t count, size_t number)
{
  for (size_t i = 0; i < count; ++i) {
    if (number < list[i].count)
      return list[i].count - number;
    number -= list[i].count;
  }
  return 0;
}

struct where {
  ptl_process_t target;
  ptl_pt_index_t index;
  uint64_t key, address, header;
};

static int issue(struct request* request, const struct atomic* atomic, const struct where* where, char* operand,
                 const char* compare, char* result, size_t count)
{
  const struct domain* const domain = request->endpoint->domain;
  const bool moves = atomic->op == FI_ATOMIC_READ || atomic->op == FI_ATOMIC_WRITE;
  const ptl_datatype_t type = types[moves ? as_integers(atomic->type) : atomic->type];
  const ptl_op_t op = (ptl_op_t)operations[atomic->op];
  const ptl_size_t put = (ptl_size_t)(uintptr_t)operand;
  const ptl_size_t get = (ptl_size_t)(uintptr_t)result;
  const size_t bytes = count * sizes[atomic->type];
  if (atomic->form == PLAIN && op != PTL_SWAP)
    return PtlAtomic(domain->md, put, bytes, PTL_ACK_REQ, where->target, where->index, where->key, where->address,
                     &request->origin, where->header, op, type);
  if (op >= PTL_SWAP)
    return PtlSwap(domain->md, get, domain->md, put, bytes, where->target, where->index, where->key, where->address,
                   &request->origin, where->header, op == PTL_SWAP ? NULL : compare, op, type);
  return PtlFetchAtomic(domain->md, get, domain->md, put, bytes, where->target, where->index, where->key,
                        where->address, &request->origin, where->header, op, type);
}

static ssize_t start(struct endpoint* endpoint, const struct atomic* atomic, bool silent)
{
  struct domain* const domain = endpoint->domain;
  if (!there_is(atomic->type, atomic->op, atomic->form))
    return -FI_EOPNOTSUPP;
  size_t count = 0;
  for (size_t i = 0; i < atomic->remote_count; ++i)
    count += atomic->remote[i].count;
  const bool reads = atomic->op == FI_ATOMIC_READ;
  if (count == 0 || count > most(domain, atomic->type, atomic->form) ||
      (!reads && elements(atomic->operand, atomic->operand_count) != count) ||
      (atomic->form != PLAIN && elements(atomic->result, atomic->result_count) != count) ||
      (atomic->form == COMPARING && elements(atomic->compare, atomic->compare_count) != count))
    return -FI_EINVAL;
  struct request* request = NULL;
  const int error =
      umw_fi_new_transfer(endpoint, atomic->peer, atomic->flags, atomic->context, atomic->message, &request);
  if (error != 0)
    return error;
  const size_t size = sizes[atomic->type];
  request->silent |= silent;
  request->flags = FI_ATOMIC | (atomic->form == PLAIN ? FI_WRITE : FI_READ);
  request->length = count * size;
  // What has no result, or nothing to put, has memory of its own: it ends with the request.
  char* own = NULL;
  const bool discards = atomic->form == PLAIN && atomic->op == FI_ATOMIC_WRITE;
  const bool copies = (atomic->flags & FI_INJECT) != 0 && !reads;
  if (reads || discards || copies) {
    own = calloc(2, request->length);
    if (own == NULL) {
      umw_fi_end(request);
      return -FI_ENOMEM;
    }
    request->claimed = own;
  }
  if (copies)
    for (size_t i = 0; i < count; ++i)
      memcpy(own + i * size, element(atomic->operand, atomic->operand_count, i, size), size);
  const struct name* const name = &request->peer->name;
  struct where where = {.target = {.phys = {name->nid, name->pid}},
                        .index = name->quiet_pt,
                        .header = (uint64_t)name->endpoint << INDEX_SHIFT};
  unsigned parts = 0;
  int code = PTL_OK;
  size_t done = 0;
  for (size_t i = 0; i < atomic->remote_count && code == PTL_OK; ++i)
    for (size_t at = 0; at < atomic->remote[i].count && code == PTL_OK;) {
      size_t together = atomic->remote[i].count - at;
      char* operand = own != NULL && (reads || copies) ? own + done * size : NULL;
      if (operand == NULL) {
        operand = element(atomic->operand, atomic->operand_count, done, size);
        const size_t there = run(atomic->operand, atomic->operand_count, done);
        together = together < there ? together : there;
      }
      char* result = NULL;
      if (discards) {
        result = own + request->length + done * size;
      } else if (atomic->form != PLAIN) {
        result = element(atomic->result, atomic->result_count, done, size);
        const size_t there = run(atomic->result, atomic->result_count, done);
        together = together < there ? together : there;
      }
      const char* compare = NULL;
      if (atomic->form == COMPARING) {
        compare = element(atomic->compare, atomic->compare_count, done, size);
        together = 1;
      }
      where.key = atomic->remote[i].key;
      where.address = atomic->remote[i].addr + at * size;
      code = issue(request, atomic, &where, operand, compare, result, together);
      if (code == PTL_OK)
        ++parts;
      at += together;
      done += together;
    }
  return umw_fi_transfer_started(request, parts, code);
}

static ssize_t start_locked(struct fid_ep* fid, const struct atomic* atomic, bool silent)
{
  struct endpoint* const endpoint = CONTAINER(struct endpoint, fid, fid);
  umw_fi_lock(endpoint->domain);
  const ssize_t error = start(endpoint, atomic, silent);
  umw_fi_unlock(endpoint->domain);
  return error;
}

static ssize_t write_list(struct fid_ep* fid, const struct fi_ioc* iov, void** desc, size_t count, fi_addr_t peer,
                          uint64_t address, uint64_t key, enum fi_datatype type, enum fi_op op, void* context)
{
  (void)desc;
  const struct fi_rma_ioc remote = {address, elements(iov, count), key};
  const struct atomic atomic = {.form = PLAIN,
                                .operand = iov,
                                .operand_count = count,
                                .peer = peer,
                                .remote = &remote,
                                .remote_count = 1,
                                .type = type,
                                .op = op,
                                .context = context};
  return start_locked(fid, &atomic, false);
}

static ssize_t write_one(struct fid_ep* fid, const void* buffer, size_t count, void* desc, fi_addr_t peer,
                         uint64_t address, uint64_t key, enum fi_datatype type, enum fi_op op, void* context)
{
  (void)desc;
  const struct fi_ioc operand = {(void*)buffer, count};
  return write_list(fid, &operand, NULL, 1, peer, address, key, type, op, context);
}

static ssize_t write_message(struct fid_ep* fid, const struct fi_msg_atomic* message, uint64_t flags)
{
  const struct atomic atomic = {.form = PLAIN,
                                .operand = message->msg_iov,
                                .operand_count = message->iov_count,
                                .peer = message->addr,
                                .remote = message->rma_iov,
                                .remote_count = message->rma_iov_count,
                                .type = message->datatype,
                                .op = message->op,
                                .flags = flags,
                                .context = message->context,
                                .message = true};
  return start_locked(fid, &atomic, false);
}

static ssize_t inject(struct fid_ep* fid, const void* buffer, size_t count, fi_addr_t peer, uint64_t address,
                      uint64_t key, enum fi_datatype type, enum fi_op op)
{
  const struct fi_ioc operand = {(void*)buffer, count};
  const struct fi_rma_ioc remote = {address, count, key};
  const struct atomic atomic = {.form = PLAIN,
                                .operand = &operand,
                                .operand_count = 1,
                                .peer = peer,
                                .remote = &remote,
                                .remote_count = 1,
                                .type = type,
                                .op = op,
                                .flags = FI_INJECT};
  return start_locked(fid, &atomic, true);
}

static ssize_t fetch_list(struct fid_ep* fid, const struct fi_ioc* iov, void** desc, size_t count,
                          struct fi_ioc* results, void** result_desc, size_t result_count, fi_addr_t peer,
                          uint64_t address, uint64_t key, enum fi_datatype type, enum fi_op op, void* context)
{
  (void)desc, (void)result_desc;
  const struct fi_rma_ioc remote = {address, elements(results, result_count), key};
  const struct atomic atomic = {.form = FETCHING,
                                .operand = iov,
                                .operand_count = count,
                                .result = results,
                                .result_count = result_count,
                                .peer = peer,
                                .remote = &remote,
                                .remote_count = 1,
                                .type = type,
                                .op = op,
                                .context = context};
  return start_locked(fid, &atomic, false);
}

static ssize_t fetch_one(struct fid_ep* fid, const void* buffer, size_t count, void* desc, void* result,
                         void* result_desc, fi_addr_t peer, uint64_t address, uint64_t key, enum fi_datatype type,
                         enum fi_op op, void* context)
{
  (void)desc, (void)result_desc;
  const struct fi_ioc operand = {(void*)buffer, count};
  struct fi_ioc results = {result, count};
  return fetch_list(fid, &operand, NULL, 1, &results, NULL, 1, peer, address, key, type, op, context);
}

static ssize_t fetch_message(struct fid_ep* fid, const struct fi_msg_atomic* message, struct fi_ioc* results,
                             void** result_desc, size_t result_count, uint64_t flags)
{
  (void)result_desc;
  const struct atomic atomic = {.form = FETCHING,
                                .operand = message->msg_iov,
                                .operand_count = message->iov_count,
                                .result = results,
                                .result_count = result_count,
                                .peer = message->addr,
                                .remote = message->rma_iov,
                                .remote_count = message->rma_iov_count,
                                .type = message->datatype,
                                .op = message->op,
                                .flags = flags,
                                .context = message->context,
                                .message = true};
  return start_locked(fid, &atomic, false);
}

static ssize_t compare_list(struct fid_ep* fid, const struct fi_ioc* iov, void** desc, size_t count,
                            const struct fi_ioc* compares, void** compare_desc, size_t compare_count,
                            struct fi_ioc* results, void** result_desc, size_t result_count, fi_addr_t peer,
                            uint64_t address, uint64_t key, enum fi_datatype type, enum fi_op op, void* context)
{
  (void)desc, (void)compare_desc, (void)result_desc;
  const struct fi_rma_ioc remote = {address, elements(iov, count), key};
  const struct atomic atomic = {.form = COMPARING,
                                .operand = iov,
                                .operand_count = count,
                                .compare = compares,
                                .compare_count = compare_count,
                                .result = results,
                                .result_count = result_count,
                                .peer = peer,
                                .remote = &remote,
                                .remote_count = 1,
                                .type = type,
                                .op = op,
                                .context = context};
  return start_locked(fid, &atomic, false);
}

static ssize_t compare_one(struct fid_ep* fid, const void* buffer, size_t count, void* desc, const void* compare,
                           void* compare_desc, void* result, void* result_desc, fi_addr_t peer, uint64_t address,
                           uint64_t key, enum fi_datatype type, enum fi_op op, void* context)
{
  (void)desc, (void)compare_desc, (void)result_desc;
  const struct fi_ioc operand = {(void*)buffer, count};
  const struct fi_ioc compares = {(void*)compare, count};
  struct fi_ioc results = {result, count};
  return compare_list(fid, &operand, NULL, 1, &compares, NULL, 1, &results, NULL, 1, peer, address, key, type, op,
                      context);
}

static ssize_t compare_message(struct fid_ep* fid, const struct fi_msg_atomic* message, const struct fi_ioc* compares,
                               void** compare_desc, size_t compare_count, struct fi_ioc* results, void** result_desc,
                               size_t result_count, uint64_t flags)
{
  (void)compare_desc, (void)result_desc;
  const struct atomic atomic = {.form = COMPARING,
                                .operand = message->msg_iov,
                                .operand_count = message->iov_count,
                                .compare = compares,
                                .compare_count = compare_count,
                                .result = results,
                                .result_count = result_count,
                                .peer = message->addr,
                                .remote = message->rma_iov,
                                .remote_count = message->rma_iov_count,
                                .type = message->datatype,
                                .op = message->op,
                                .flags = flags,
                                .context = message->context,
                                .message = true};
  return start_locked(fid, &atomic, false);
}

static int valid(struct fid_ep* fid, enum fi_datatype type, enum fi_op op, size_t* count, enum form form)
{
  if (!there_is(type, op, form))
    return -FI_EOPNOTSUPP;
  *count = most(CONTAINER(struct endpoint, fid, fid)->domain, type, form);
  return 0;
}

static int write_valid(struct fid_ep* fid, enum fi_datatype type, enum fi_op op, size_t* count)
{
  return valid(fid, type, op, count, PLAIN);
}

static int fetch_valid(struct fid_ep* fid, enum fi_datatype type, enum fi_op op, size_t* count)
{
  return valid(fid, type, op, count, FETCHING);
}

static int compare_valid(struct fid_ep* fid, enum fi_datatype type, enum fi_op op, size_t* count)
{
  return valid(fid, type, op, count, COMPARING);
}

struct fi_ops_atomic umw_fi_atomic_calls = {.size = sizeof(struct fi_ops_atomic),
                                            .write = write_one,
                                            .writev = write_list,
                                            .writemsg = write_message,
                                            .inject = inject,
                                            .readwrite = fetch_one,
                                            .readwritev = fetch_list,
                                            .readwritemsg = fetch_message,
                                            .compwrite = compare_one,
                                            .compwritev = compare_list,
                                            .compwritemsg = compare_message,
                                            .writevalid = write_valid,
                                            .readwritevalid = fetch_valid,
                                            .compwritevalid = compare_valid};
