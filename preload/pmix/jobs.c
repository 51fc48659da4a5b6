/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The PMIx client beyond its own job: starting jobs, meeting their ranks, publishing what others look up. Calls without
 * blocking do the same as those with, on a thread of their own: their callers go on serving the network meanwhile. What
 * their arguments lead to stays as it is until the callback, says the standard. Table: preload/abi/tables/pmix.def.
 */
#include "preload/shim.h"

#include "preload/abi/time_units.h"
#include "preload/pmix/client.h"
#include "preload/pmix/values.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pmix_status_t status_of(int64_t result)
{
  switch (result < 0 ? -(int)result : 0) {
  case 0:
    return PMIX_SUCCESS;
  case ENOENT:
    return PMIX_ERR_NOT_FOUND;
  case ETIMEDOUT:
    return PMIX_ERR_TIMEOUT;
  case EINVAL:
    return PMIX_ERR_BAD_PARAM;
  case ENOMEM:
    return PMIX_ERR_NOMEM;
  case ENOSPC:
    return PMIX_ERR_OUT_OF_RESOURCE;
  case EOWNERDEAD:
    return PMIX_ERR_PARTIAL_SUCCESS;
  default:
    return PMIX_ERROR;
  }
}

bool umw_pmix_later(void* (*work)(void*), void* argument)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, argument) != 0)
    return false;
  pthread_detach(thread);
  return true;
}

/* --- meeting ------------------------------------------------------------------------------------------------------ */

pmix_status_t umw_pmix_meet(const pmix_proc_t procs[], size_t count)
{
  if (!procs || count == 0) {
    return status_of(umw_fence(0));
  }
  struct umw_members* members = calloc(count, sizeof *members);
  if (!members)
    return PMIX_ERR_NOMEM;
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    struct umw_members* last = used > 0 ? &members[used - 1] : NULL;
    const bool all = procs[i].rank == PMIX_RANK_WILDCARD;
    if (!all && last && last->count > 0 && strncmp(last->job, procs[i].nspace, sizeof last->job) == 0 &&
        (pmix_rank_t)(last->first + last->count) == procs[i].rank) {
      ++last->count;
      continue;
    }
    struct umw_members* next = &members[used++];
    const size_t length =
        strnlen(procs[i].nspace, sizeof next->job - 1); /* names of the simulation's jobs are shorter */
    memcpy(next->job, procs[i].nspace, length);
    next->job[length] = '\0';
    next->first = all ? 0 : (int32_t)procs[i].rank;
    next->count = all ? 0 : 1;
  }
  const int result = umw_meet(members, used * sizeof *members);
  free(members);
  return status_of(result);
}

struct meeting {
  const pmix_proc_t* procs;
  size_t count;
  pmix_op_cbfunc_t callback;
  void* data;
};

static void* run_meeting(void* argument)
{
  const struct meeting meeting = *(struct meeting*)argument;
  free(argument);
  const pmix_status_t status = umw_pmix_meet(meeting.procs, meeting.count);
  if (meeting.callback)
    meeting.callback(status, meeting.data);
  return NULL;
}

pmix_status_t umw_pmix_meet_later(const pmix_proc_t procs[], size_t count, pmix_op_cbfunc_t callback, void* data)
{
  struct meeting* meeting = malloc(sizeof *meeting);
  if (!meeting)
    return PMIX_ERR_NOMEM;
  *meeting = (struct meeting){procs, count, callback, data};
  if (umw_pmix_later(run_meeting, meeting))
    return PMIX_SUCCESS;
  free(meeting);
  return PMIX_ERR_NOMEM;
}

/* Whoever is connected could be told of the others' end, which only those of the own job are (events.c); what is left
 * is that they meet. */
UMW_PUBLIC pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t proc_count, const pmix_info_t info[],
                                      size_t count)
{
  (void)info;
  (void)count;
  if (!umw_pmix_open())
    return PMIX_ERR_INIT;
  return procs && proc_count > 0 ? umw_pmix_meet(procs, proc_count) : PMIX_ERR_BAD_PARAM;
}

UMW_PUBLIC pmix_status_t PMIx_Connect_nb(const pmix_proc_t procs[], size_t proc_count, const pmix_info_t info[],
                                         size_t count, pmix_op_cbfunc_t callback, void* data)
{
  (void)info;
  (void)count;
  if (!umw_pmix_open())
    return PMIX_ERR_INIT;
  return procs && proc_count > 0 ? umw_pmix_meet_later(procs, proc_count, callback, data) : PMIX_ERR_BAD_PARAM;
}

UMW_PUBLIC pmix_status_t PMIx_Disconnect(const pmix_proc_t procs[], size_t proc_count, const pmix_info_t info[],
                                         size_t count)
{
  return PMIx_Connect(procs, proc_count, info, count);
}

UMW_PUBLIC pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t procs[], size_t proc_count, const pmix_info_t info[],
                                            size_t count, pmix_op_cbfunc_t callback, void* data)
{
  return PMIx_Connect_nb(procs, proc_count, info, count, callback, data);
}

/* --- publishing --------------------------------------------------------------------------------------------------- */

static int64_t number_of(const pmix_value_t* value)
{
  switch (value->type) {
  case PMIX_BOOL:
    return value->data.flag;
  case PMIX_PERSIST:
    return value->data.persist;
  case PMIX_DATA_RANGE:
    return value->data.range;
  case PMIX_INT:
  case PMIX_INT32:
    return value->data.int32;
  case PMIX_UINT:
  case PMIX_UINT32:
    return value->data.uint32;
  default:
    return 0;
  }
}

static bool in_job(const pmix_info_t info[], size_t count)
{
  const pmix_info_t* range = umw_pmix_find(info, count, PMIX_RANGE);
  return range && number_of(&range->value) == PMIX_RANGE_NAMESPACE;
}

static bool is_attribute(const char* key)
{
  return strncmp(key, "pmix.", 5) == 0;
}

UMW_PUBLIC pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t count)
{
  if (!umw_pmix_open())
    return PMIX_ERR_INIT;
  if (!info || count == 0)
    return PMIX_ERR_BAD_PARAM;
  const pmix_info_t* persistence = umw_pmix_find(info, count, PMIX_PERSISTENCE);
  const bool once = persistence && number_of(&persistence->value) == PMIX_PERSIST_FIRST_READ;
  const int how = (once ? UMW_PUBLISH_ONCE : 0) | (in_job(info, count) ? UMW_PUBLISH_IN_JOB : 0);
  for (size_t i = 0; i < count; ++i) {
    if (is_attribute(info[i].key))
      continue;
    pmix_status_t status;
    size_t size;
    unsigned char* bytes = umw_pack_value(&info[i].value, &size, &status);
    if (!bytes)
      return status;
    umw_publish(info[i].key, bytes, size, how);
    free(bytes);
  }
  return PMIX_SUCCESS;
}

static pmix_status_t look_up(pmix_pdata_t* wanted, int64_t duration)
{
  unsigned char small[256];
  unsigned char* bytes = small;
  uint64_t capacity = sizeof small;
  struct umw_members owner;
  memset(&owner, 0, sizeof owner);
  int64_t size;
  while ((size = umw_lookup(wanted->key, bytes, capacity, duration, &owner)) > (int64_t)capacity) {
    if (bytes != small)
      free(bytes);
    capacity = (uint64_t)size;
    bytes = malloc(capacity);
    if (!bytes)
      return PMIX_ERR_NOMEM;
  }
  pmix_status_t status = status_of(size);
  if (status == PMIX_SUCCESS) {
    umw_pmix_load_proc(&wanted->proc, owner.job, (pmix_rank_t)owner.first);
    status = umw_unpack_value(bytes, (size_t)size, &wanted->value);
  }
  if (bytes != small)
    free(bytes);
  return status;
}

UMW_PUBLIC pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t data_count, const pmix_info_t info[], size_t count)
{
  if (!umw_pmix_open())
    return PMIX_ERR_INIT;
  if (!data || data_count == 0)
    return PMIX_ERR_BAD_PARAM;
  int64_t duration = 0;
  if (umw_pmix_has(info, count, PMIX_WAIT)) {
    const pmix_info_t* timeout = umw_pmix_find(info, count, PMIX_TIMEOUT);
    const int64_t seconds = timeout ? number_of(&timeout->value) : 0;
    duration = seconds > 0 ? umw_ps_of(seconds, 0) : -1;
  }
  size_t found = 0;
  pmix_status_t failure = PMIX_SUCCESS;
  for (size_t i = 0; i < data_count; ++i) {
    const pmix_status_t status = look_up(&data[i], duration);
    if (status == PMIX_SUCCESS)
      ++found;
    else if (status != PMIX_ERR_NOT_FOUND)
      failure = status;
  }
  if (failure != PMIX_SUCCESS)
    return failure;
  return found == data_count ? PMIX_SUCCESS : found == 0 ? PMIX_ERR_NOT_FOUND : PMIX_ERR_PARTIAL_SUCCESS;
}

UMW_PUBLIC pmix_status_t PMIx_Unpublish(char** keys, const pmix_info_t info[], size_t count)
{
  if (!umw_pmix_open())
    return PMIX_ERR_INIT;
  const int how = in_job(info, count) ? UMW_PUBLISH_IN_JOB : 0;
  if (!keys) { /* everything of the caller's */
    umw_unpublish("", how);
    return PMIX_SUCCESS;
  }
  for (; *keys; ++keys)
    umw_unpublish(*keys, how);
  return PMIX_SUCCESS;
}

struct publication { /* a call of one of the three, without blocking */
  enum { publish, look_for, unpublish } call;
  const pmix_info_t* info;
  size_t count;
  char** keys;
  pmix_op_cbfunc_t callback;
  pmix_lookup_cbfunc_t found;
  void* data;
};

static void look_for_keys(const struct publication* publication)
{
  size_t count = 0;
  while (publication->keys[count])
    ++count;
  pmix_pdata_t* data = count > 0 ? calloc(count, sizeof *data) : NULL;
  pmix_status_t status = count > 0 ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM;
  if (data) {
    for (size_t i = 0; i < count; ++i)
      umw_pmix_load_key(data[i].key, publication->keys[i]);
    status = PMIx_Lookup(data, count, publication->info, publication->count);
  }
  publication->found(status, status == PMIX_SUCCESS ? data : NULL, status == PMIX_SUCCESS ? count : 0,
                     publication->data);
  for (size_t i = 0; data && i < count; ++i)
    umw_destruct_value(&data[i].value);
  free(data);
}

static void* run_publication(void* argument)
{
  const struct publication publication = *(struct publication*)argument;
  free(argument);
  if (publication.call == look_for) {
    look_for_keys(&publication);
    return NULL;
  }
  const pmix_status_t status = publication.call == publish
                                   ? PMIx_Publish(publication.info, publication.count)
                                   : PMIx_Unpublish(publication.keys, publication.info, publication.count);
  if (publication.callback)
    publication.callback(status, publication.data);
  return NULL;
}

static pmix_status_t publication_later(const struct publication publication)
{
  if (!umw_pmix_open())
    return PMIX_ERR_INIT;
  struct publication* copy = malloc(sizeof *copy);
  if (!copy)
    return PMIX_ERR_NOMEM;
  *copy = publication;
  if (umw_pmix_later(run_publication, copy))
    return PMIX_SUCCESS;
  free(copy);
  return PMIX_ERR_NOMEM;
}

UMW_PUBLIC pmix_status_t PMIx_Publish_nb(const pmix_info_t info[], size_t count, pmix_op_cbfunc_t callback, void* data)
{
  if (!info || count == 0)
    return PMIX_ERR_BAD_PARAM;
  return publication_later((struct publication){publish, info, count, NULL, callback, NULL, data});
}

UMW_PUBLIC pmix_status_t PMIx_Lookup_nb(char** keys, const pmix_info_t info[], size_t count,
                                        pmix_lookup_cbfunc_t callback, void* data)
{
  if (!keys || !*keys || !callback)
    return PMIX_ERR_BAD_PARAM;
  return publication_later((struct publication){look_for, info, count, keys, NULL, callback, data});
}

UMW_PUBLIC pmix_status_t PMIx_Unpublish_nb(char** keys, const pmix_info_t info[], size_t count,
                                           pmix_op_cbfunc_t callback, void* data)
{
  return publication_later((struct publication){unpublish, info, count, keys, callback, NULL, data});
}

/* --- starting jobs ------------------------------------------------------------------------------------------------ */

struct request { /* texts, each with its end: runtime/bootstrap/spawn_request.h */
  char* bytes;
  size_t size, capacity;
  bool failed;
};

static void add(struct request* request, char what, const char* text)
{
  const size_t length = strlen(text) + 2;
  if (request->size + length > request->capacity) {
    const size_t capacity = 2 * (request->capacity + length);
    char* bytes = realloc(request->bytes, capacity);
    request->failed = request->failed || !bytes;
    if (!bytes)
      return;
    request->bytes = bytes;
    request->capacity = capacity;
  }
  request->bytes[request->size] = what;
  memcpy(request->bytes + request->size + 1, text, length - 1);
  request->size += length;
}

static void add_all(struct request* request, char what, char** texts)
{
  for (; texts && *texts; ++texts)
    add(request, what, *texts);
}

static void add_attributes(struct request* request, char what, const pmix_info_t info[], size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    const pmix_value_t* value = &info[i].value;
    char text[PMIX_MAX_KEYLEN + 32];
    if (value->type == PMIX_STRING) {
      const size_t size = strlen(info[i].key) + 2 + strlen(value->data.string ? value->data.string : "");
      char* both = malloc(size);
      request->failed = request->failed || !both;
      if (!both)
        return;
      snprintf(both, size, "%s=%s", info[i].key, value->data.string ? value->data.string : "");
      add(request, what, both);
      free(both);
    } else {
      snprintf(text, sizeof text, "%s=%lld", info[i].key, (long long)number_of(value));
      add(request, what, text);
    }
  }
}

UMW_PUBLIC pmix_status_t PMIx_Spawn(const pmix_info_t info[], size_t count, const pmix_app_t apps[], size_t app_count,
                                    pmix_nspace_t job)
{
  if (!umw_pmix_open())
    return PMIX_ERR_INIT;
  if (!apps || app_count == 0)
    return PMIX_ERR_BAD_PARAM;
  struct request request = {NULL, 0, 0, false};
  add_attributes(&request, 'J', info, info ? count : 0);
  for (size_t i = 0; i < app_count; ++i) {
    char ranks[32];
    snprintf(ranks, sizeof ranks, "%d", apps[i].maxprocs);
    add(&request, 'N', ranks);
    add(&request, 'C', apps[i].cmd ? apps[i].cmd : "");
    if (apps[i].cwd)
      add(&request, 'D', apps[i].cwd);
    add_all(&request, 'A', apps[i].argv);
    add_all(&request, 'E', apps[i].env);
    add_attributes(&request, 'I', apps[i].info, apps[i].info ? apps[i].ninfo : 0);
  }
  pmix_status_t status = PMIX_ERR_NOMEM;
  if (!request.failed) {
    char name[64] = {0};
    const int64_t result = umw_spawn(request.bytes, request.size, name, sizeof name - 1);
    status = status_of(result);
    if (status == PMIX_SUCCESS && job)
      umw_pmix_load_text(job, name, PMIX_MAX_NSLEN);
  }
  free(request.bytes);
  return status;
}

struct spawn {
  const pmix_info_t* info;
  size_t count;
  const pmix_app_t* apps;
  size_t app_count;
  pmix_spawn_cbfunc_t callback;
  void* data;
};

static void* run_spawn(void* argument)
{
  const struct spawn spawn = *(struct spawn*)argument;
  free(argument);
  pmix_nspace_t job;
  memset(job, 0, sizeof job);
  const pmix_status_t status = PMIx_Spawn(spawn.info, spawn.count, spawn.apps, spawn.app_count, job);
  if (spawn.callback)
    spawn.callback(status, job, spawn.data);
  return NULL;
}

UMW_PUBLIC pmix_status_t PMIx_Spawn_nb(const pmix_info_t info[], size_t count, const pmix_app_t apps[],
                                       size_t app_count, pmix_spawn_cbfunc_t callback, void* data)
{
  if (!umw_pmix_open())
    return PMIX_ERR_INIT;
  if (!apps || app_count == 0)
    return PMIX_ERR_BAD_PARAM;
  struct spawn* spawn = malloc(sizeof *spawn);
  if (!spawn)
    return PMIX_ERR_NOMEM;
  *spawn = (struct spawn){info, count, apps, app_count, callback, data};
  if (umw_pmix_later(run_spawn, spawn))
    return PMIX_SUCCESS;
  free(spawn);
  return PMIX_ERR_NOMEM;
}
