/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The PMIx client. There is no daemon: what ranks publish and where they meet is the runtime's bootstrap service, what
 * the job is like stands in the gate. A look-up without blocking completes, and calls back, before it returns; the
 * standard allows it and Open MPI's ext3x component is content. A fence without blocking must not: Open MPI goes on
 * serving its network while it waits for the callback, and relies on having done so when it unloads its components in
 * MPI_Finalize. So that one runs on a thread of its own, as in the real library. Table: preload/abi/tables/pmix.def.
 */
#include "preload/shim.h"

#include "preload/pmix/client.h"
#include "preload/pmix/own_space.h"
#include "preload/pmix/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(PMIX_ERR_NOT_SUPPORTED == -47, "refused.c answers with this value");

static int users; /* PMIx_Init is counted */

struct stored { /* PMIx_Store_internal: kept in this process, by job, rank and key */
  pmix_proc_t proc;
  pmix_key_t key;
  unsigned char* bytes;
  size_t size;
  struct stored* next;
};
static struct stored* store;

static bool own_namespace(const char* name)
{
  return !name || *name == '\0' || strncmp(name, umw_gate->job_name, PMIX_MAX_NSLEN) == 0;
}

bool umw_pmix_open(void)
{
  return users > 0;
}

UMW_PUBLIC pmix_status_t PMIx_Init(pmix_proc_t* proc, pmix_info_t info[], size_t count)
{
  (void)info;
  (void)count;
  if (!umw_gate)
    return PMIX_ERR_INIT;
  if (users == 0 && umw_joined(0) != 0)
    return PMIX_ERR_UNREACH;
  ++users;
  if (proc)
    umw_pmix_load_proc(proc, umw_gate->job_name, (pmix_rank_t)umw_gate->rank);
  return PMIX_SUCCESS;
}

UMW_PUBLIC int PMIx_Initialized(void)
{
  return users > 0;
}

UMW_PUBLIC pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t count)
{
  (void)info;
  (void)count;
  if (users == 0)
    return PMIX_ERR_INIT;
  if (--users == 0)
    umw_left(0);
  return PMIX_SUCCESS;
}

UMW_PUBLIC pmix_status_t PMIx_Abort(int status, const char message[], pmix_proc_t procs[], size_t count)
{
  (void)procs;
  (void)count;
  if (!umw_gate)
    return PMIX_ERR_INIT;
  umw_exit(status, UMW_EXIT_ABORT, message);
  return PMIX_ERROR;
}

UMW_PUBLIC const char* PMIx_Get_version(void)
{
  return "Umwelt PMIx client 4.2";
}

UMW_PUBLIC const char* PMIx_Error_string(pmix_status_t status)
{
  static char text[32];
  switch (status) {
  case PMIX_SUCCESS:
    return "PMIX_SUCCESS";
  case PMIX_ERR_NOT_FOUND:
    return "PMIX_ERR_NOT_FOUND";
  case PMIX_ERR_NOT_SUPPORTED:
    return "PMIX_ERR_NOT_SUPPORTED";
  case PMIX_ERR_INIT:
    return "PMIX_ERR_INIT";
  case PMIX_ERR_BAD_PARAM:
    return "PMIX_ERR_BAD_PARAM";
  case PMIX_ERR_NOMEM:
    return "PMIX_ERR_NOMEM";
  default:
    snprintf(text, sizeof text, "PMIx status %d", status);
    return text;
  }
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

UMW_PUBLIC pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[], pmix_value_t* value)
{
  (void)scope; /* finer scopes only restrict who may look */
  if (users == 0)
    return PMIX_ERR_INIT;
  if (!key || !value || strlen(key) > PMIX_MAX_KEYLEN)
    return PMIX_ERR_BAD_PARAM;
  pmix_status_t status;
  size_t size;
  unsigned char* bytes = umw_pack_value(value, &size, &status);
  if (!bytes)
    return status;
  umw_key_put(key, bytes, size);
  free(bytes);
  return PMIX_SUCCESS;
}

UMW_PUBLIC pmix_status_t PMIx_Commit(void)
{
  if (users == 0)
    return PMIX_ERR_INIT;
  umw_key_commit(0);
  return PMIX_SUCCESS;
}

/* What names the job in the store: its name, or none for the own. */
static const char* name_in_store(const char* job)
{
  return own_namespace(job) ? "" : job;
}

static struct stored* find_stored(const char* job, pmix_rank_t rank, const char* key)
{
  for (struct stored* entry = store; entry; entry = entry->next)
    if (entry->proc.rank == rank && strcmp(entry->proc.nspace, name_in_store(job)) == 0 &&
        strncmp(entry->key, key, PMIX_MAX_KEYLEN) == 0)
      return entry;
  return NULL;
}

UMW_PUBLIC pmix_status_t PMIx_Store_internal(const pmix_proc_t* proc, const char key[], pmix_value_t* value)
{
  if (users == 0)
    return PMIX_ERR_INIT;
  if (!proc || !key || !value)
    return PMIX_ERR_BAD_PARAM;
  pmix_status_t status;
  size_t size;
  unsigned char* bytes = umw_pack_value(value, &size, &status);
  if (!bytes)
    return status;
  struct stored* entry = find_stored(proc->nspace, proc->rank, key);
  if (!entry) {
    entry = calloc(1, sizeof *entry);
    if (!entry) {
      free(bytes);
      return PMIX_ERR_NOMEM;
    }
    umw_pmix_load_proc(&entry->proc, name_in_store(proc->nspace), proc->rank);
    umw_pmix_load_key(entry->key, key);
    entry->next = store;
    store = entry;
  }
  free(entry->bytes);
  entry->bytes = bytes;
  entry->size = size;
  return PMIX_SUCCESS;
}

/* A text the runtime keeps for every rank; malloc'ed. */
static char* rank_fact(const char* job, pmix_rank_t rank, const char* key)
{
  char text[UMW_HOST_NAME_MAX + 1];
  const int64_t size = umw_key_get(job, (int)rank, key, text, sizeof text - 1, 0);
  if (size < 0 || size >= (int64_t)sizeof text)
    return NULL;
  text[size] = '\0';
  return strdup(text);
}

static pmix_status_t number_fact(const char* job, pmix_rank_t rank, const char* key, pmix_data_type_t type,
                                 pmix_value_t* value)
{
  char* text = rank_fact(job, rank, key);
  if (!text)
    return PMIX_ERR_NOT_FOUND;
  const uint32_t number = (uint32_t)strtoul(text, NULL, 10);
  const uint16_t small = (uint16_t)number;
  free(text);
  return umw_load_value(value, type == PMIX_UINT16 ? (const void*)&small : (const void*)&number, type);
}

/* Keys that say where a rank of any job is. */
static pmix_status_t place_key(const char* job, pmix_rank_t rank, const char* key, pmix_value_t* value)
{
  if (strcmp(key, PMIX_HOSTNAME) == 0) {
    char* name = rank_fact(job, rank, "umwelt.host");
    if (!name)
      return PMIX_ERR_NOT_FOUND;
    value->type = PMIX_STRING;
    value->data.string = name;
    return PMIX_SUCCESS;
  }
  if (strcmp(key, PMIX_LOCAL_RANK) == 0 || strcmp(key, PMIX_NODE_RANK) == 0)
    return number_fact(job, rank, "umwelt.local_rank", PMIX_UINT16, value);
  if (strcmp(key, PMIX_NODEID) == 0)
    return number_fact(job, rank, "umwelt.node", PMIX_UINT32, value);
  if (strcmp(key, PMIX_APPNUM) == 0)
    return number_fact(job, rank, "umwelt.app", PMIX_UINT32, value);
  return PMIX_ERR_NOT_FOUND;
}

/* Keys that describe another job as a whole. */
static pmix_status_t other_job_key(const char* job, const char* key, pmix_value_t* value)
{
  const int ranks = umw_job_size(job);
  if (ranks < 0)
    return PMIX_ERR_NOT_FOUND;
  const uint32_t size = (uint32_t)ranks;
  if (strcmp(key, PMIX_JOB_SIZE) == 0 || strcmp(key, PMIX_MAX_PROCS) == 0)
    return umw_load_value(value, &size, PMIX_UINT32);
  if (strcmp(key, PMIX_LOCAL_PEERS) != 0)
    return PMIX_ERR_NOT_FOUND;
  pmix_proc_t* peers;
  size_t count;
  if (PMIx_Resolve_peers(NULL, job, &peers, &count) != PMIX_SUCCESS)
    return PMIX_ERR_NOT_FOUND;
  const size_t digits = 12; /* of a rank, and a comma */
  char* text = malloc(count * digits);
  size_t length = 0;
  for (size_t i = 0; text && i < count; ++i)
    length += (size_t)snprintf(text + length, digits, "%s%u", i > 0 ? "," : "", (unsigned)peers[i].rank);
  free(peers);
  if (!text)
    return PMIX_ERR_NOMEM;
  value->type = PMIX_STRING;
  value->data.string = text;
  return PMIX_SUCCESS;
}

/* Keys that describe the own job or a rank of it rather than having been put by one. */
static pmix_status_t job_key(pmix_rank_t rank, const char* key, pmix_value_t* value)
{
  const struct umw_gate* gate = umw_gate;
  const bool wildcard = rank == PMIX_RANK_WILDCARD || rank == PMIX_RANK_UNDEF;
  const pmix_rank_t whose = wildcard ? (pmix_rank_t)gate->rank : rank;
  const struct {
    const char* key;
    uint32_t number;
  } sizes[] = {
      {PMIX_JOB_SIZE, (uint32_t)gate->ranks},        {PMIX_UNIV_SIZE, (uint32_t)gate->universe},
      {PMIX_MAX_PROCS, (uint32_t)gate->ranks},       {PMIX_LOCAL_SIZE, (uint32_t)gate->local_ranks},
      {PMIX_NODE_SIZE, (uint32_t)gate->local_ranks}, {PMIX_NUM_NODES, (uint32_t)gate->nodes},
      {PMIX_APP_SIZE, (uint32_t)gate->app_ranks},    {PMIX_NPROC_OFFSET, 0},
  };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    if (strcmp(key, sizes[i].key) == 0)
      return umw_load_value(value, &sizes[i].number, PMIX_UINT32);
  if (strcmp(key, PMIX_LOCAL_PEERS) == 0)
    return umw_load_value(value, gate->local_peers, PMIX_STRING);
  if (strcmp(key, PMIX_NODE_LIST) == 0)
    return umw_load_value(value, gate->node_list, PMIX_STRING);
  if (strcmp(key, PMIX_JOBID) == 0 || strcmp(key, PMIX_NSPACE) == 0)
    return umw_load_value(value, gate->job_name, PMIX_STRING);
  if (strcmp(key, PMIX_LOCALLDR) == 0) {
    const pmix_rank_t leader = (pmix_rank_t)strtoul(gate->local_peers, NULL, 10);
    return umw_load_value(value, &leader, PMIX_PROC_RANK);
  }
  if (strcmp(key, PMIX_TMPDIR) == 0 || strcmp(key, PMIX_NSDIR) == 0)
    return umw_load_value(value, gate->session_directory, PMIX_STRING);
  if (strcmp(key, PMIX_PROCDIR) == 0) {
    char directory[4096];
    snprintf(directory, sizeof directory, "%s/%d", gate->session_directory, gate->rank);
    return umw_load_value(value, directory, PMIX_STRING);
  }
  if (strcmp(key, PMIX_TDIR_RMCLEAN) == 0)
    return umw_load_value(value, NULL, PMIX_BOOL);
  if (strcmp(key, PMIX_SPAWNED) == 0) {
    const bool spawned = gate->parent_job != NULL;
    return umw_load_value(value, &spawned, PMIX_BOOL);
  }
  if (strcmp(key, PMIX_PARENT_ID) == 0 && gate->parent_job) {
    value->data.proc = malloc(sizeof *value->data.proc);
    if (!value->data.proc)
      return PMIX_ERR_NOMEM;
    value->type = PMIX_PROC;
    umw_pmix_load_proc(value->data.proc, gate->parent_job, (pmix_rank_t)gate->parent_rank);
    return PMIX_SUCCESS;
  }
  if (strcmp(key, PMIX_RANK) == 0 || strcmp(key, PMIX_GLOBAL_RANK) == 0)
    return umw_load_value(value, &whose, PMIX_PROC_RANK);
  return place_key("", whose, key, value);
}

const pmix_info_t* umw_pmix_find(const pmix_info_t info[], size_t count, const char* key)
{
  for (size_t i = 0; info && i < count; ++i)
    if (strncmp(info[i].key, key, PMIX_MAX_KEYLEN) == 0)
      return &info[i];
  return NULL;
}

bool umw_pmix_has(const pmix_info_t info[], size_t count, const char* key)
{
  const pmix_info_t* found = umw_pmix_find(info, count, key);
  return found && (found->value.type != PMIX_BOOL || found->value.data.flag);
}

/* A key that a rank has put; whose -1: any rank. */
static pmix_status_t find_key_of(const char* job, int whose, const char* key, bool wait, pmix_value_t* value)
{
  unsigned char small[256];
  unsigned char* bytes = small;
  int64_t size = umw_key_get(job, whose, key, small, sizeof small, wait);
  if (size < 0)
    return PMIX_ERR_NOT_FOUND;
  if (size > (int64_t)sizeof small) {
    bytes = malloc((size_t)size);
    if (!bytes)
      return PMIX_ERR_NOMEM;
    size = umw_key_get(job, whose, key, bytes, (uint64_t)size, wait);
  }
  const pmix_status_t status = umw_unpack_value(bytes, (size_t)size, value);
  if (bytes != small)
    free(bytes);
  return status;
}

/* A key without knowing who has put it: a rank, or somebody with PMI, where keys belong to the job. */
static pmix_status_t find_key_of_job(pmix_rank_t rank, const char* key, pmix_value_t* value)
{
  char text[UMW_PMI_VALUE_MAX + 1];
  if ((rank != PMIX_RANK_UNDEF && rank != PMIX_RANK_WILDCARD) || strncmp(key, "pmix.", 5) == 0)
    return PMIX_ERR_NOT_FOUND;
  if (rank == PMIX_RANK_UNDEF && find_key_of("", -1, key, false, value) == PMIX_SUCCESS)
    return PMIX_SUCCESS;
  const int64_t length = umw_pair_get(umw_pmi_own_space().name, key, text, sizeof text - 1, 0);
  if (length < 0 || length >= (int64_t)sizeof text)
    return PMIX_ERR_NOT_FOUND;
  text[length] = '\0';
  return umw_load_value(value, text, PMIX_STRING);
}

static pmix_status_t find_key(const char* job, pmix_rank_t rank, const char* key, bool wait, pmix_value_t* value)
{
  const struct stored* entry = find_stored(job, rank, key);
  if (entry)
    return umw_unpack_value(entry->bytes, entry->size, value);
  if (!own_namespace(job)) {
    if (rank == PMIX_RANK_WILDCARD || rank == PMIX_RANK_UNDEF)
      return other_job_key(job, key, value);
    const pmix_status_t found = place_key(job, rank, key, value);
    return found != PMIX_ERR_NOT_FOUND ? found : find_key_of(job, (int)rank, key, wait, value);
  }
  const pmix_status_t status = job_key(rank, key, value);
  if (status != PMIX_ERR_NOT_FOUND)
    return status;
  if (rank >= (pmix_rank_t)umw_gate->ranks)
    return find_key_of_job(rank, key, value);
  return find_key_of("", (int)rank, key, wait, value);
}

UMW_PUBLIC pmix_status_t PMIx_Get(const pmix_proc_t* proc, const char key[], const pmix_info_t info[], size_t count,
                                  pmix_value_t** result)
{
  if (users == 0)
    return PMIX_ERR_INIT;
  if (!key || !result)
    return PMIX_ERR_BAD_PARAM;
  const pmix_rank_t rank = proc ? proc->rank : PMIX_RANK_WILDCARD;
  /* A key of a rank that has not committed yet is waited for, unless the caller only wants what is here. */
  const bool wait = strncmp(key, "pmix.", 5) != 0 && !umw_pmix_has(info, count, PMIX_OPTIONAL) &&
                    !umw_pmix_has(info, count, PMIX_IMMEDIATE);
  pmix_value_t value;
  memset(&value, 0, sizeof value);
  const pmix_status_t status = find_key(proc ? proc->nspace : "", rank, key, wait, &value);
  if (status != PMIX_SUCCESS)
    return status;
  if (!umw_pmix_has(info, count, PMIX_GET_STATIC_VALUES) || !*result) {
    *result = malloc(sizeof **result);
    if (!*result) {
      umw_destruct_value(&value);
      return PMIX_ERR_NOMEM;
    }
  }
  **result = value;
  return PMIX_SUCCESS;
}

UMW_PUBLIC pmix_status_t PMIx_Get_nb(const pmix_proc_t* proc, const char key[], const pmix_info_t info[], size_t count,
                                     pmix_value_cbfunc_t callback, void* data)
{
  pmix_value_t* value = NULL;
  const pmix_status_t status = PMIx_Get(proc, key, info, count, &value);
  if (status == PMIX_ERR_INIT || status == PMIX_ERR_BAD_PARAM)
    return status;
  callback(status, value, data);
  if (value) {
    umw_destruct_value(value);
    free(value);
  }
  return PMIX_SUCCESS;
}

/* --- meeting: preload/pmix/jobs.c --------------------------------------------------------------------------------- */

UMW_PUBLIC pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t proc_count, const pmix_info_t info[],
                                    size_t count)
{
  (void)info;
  (void)count;
  return users == 0 ? PMIX_ERR_INIT : umw_pmix_meet(procs, proc_count);
}

UMW_PUBLIC pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t proc_count, const pmix_info_t info[],
                                       size_t count, pmix_op_cbfunc_t callback, void* data)
{
  (void)info;
  (void)count;
  return users == 0 ? PMIX_ERR_INIT : umw_pmix_meet_later(procs, proc_count, callback, data);
}

UMW_PUBLIC pmix_status_t PMIx_Resolve_peers(const char* node, const pmix_nspace_t name, pmix_proc_t** procs,
                                            size_t* count)
{
  if (users == 0)
    return PMIX_ERR_INIT;
  *procs = NULL;
  *count = 0;
  const char* job = own_namespace(name) ? umw_gate->job_name : name;
  const int ranks = umw_job_size(job);
  if (ranks <= 0)
    return PMIX_ERR_NOT_FOUND;
  pmix_proc_t* found = calloc((size_t)ranks, sizeof *found);
  if (!found)
    return PMIX_ERR_NOMEM;
  for (int rank = 0; rank < ranks; ++rank) {
    char* host = rank_fact(job, (pmix_rank_t)rank, "umwelt.host");
    if (host && strcmp(host, node && *node ? node : umw_gate->host_name) == 0) {
      umw_pmix_load_proc(&found[(*count)++], job, (pmix_rank_t)rank);
    }
    free(host);
  }
  if (*count == 0) {
    free(found);
    return PMIX_ERR_NOT_FOUND;
  }
  *procs = found;
  return PMIX_SUCCESS;
}

UMW_PUBLIC pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t name, char** list)
{
  if (users == 0)
    return PMIX_ERR_INIT;
  *list = own_namespace(name) ? strdup(umw_gate->node_list) : NULL;
  return *list ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* --- requests that have nothing to act on ------------------------------------------------------------------------- */

UMW_PUBLIC pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[], size_t target_count,
                                             const pmix_info_t directives[], size_t count, pmix_info_cbfunc_t callback,
                                             void* data)
{
  (void)targets;
  (void)target_count;
  (void)directives;
  (void)count;
  if (callback)
    callback(PMIX_SUCCESS, NULL, 0, data, NULL, NULL);
  return PMIX_SUCCESS;
}

/* --- helpers ------------------------------------------------------------------------------------------------------ */

UMW_PUBLIC pmix_status_t PMIx_Value_load(pmix_value_t* value, const void* data, pmix_data_type_t type)
{
  return umw_load_value(value, data, type);
}

UMW_PUBLIC pmix_status_t PMIx_Info_load(pmix_info_t* info, const char* key, const void* data, pmix_data_type_t type)
{
  if (!key)
    return PMIX_ERR_BAD_PARAM;
  memset(info, 0, sizeof *info);
  umw_pmix_load_key(info->key, key);
  return umw_load_value(&info->value, data, type);
}

UMW_PUBLIC void PMIx_Value_destruct(pmix_value_t* value)
{
  umw_destruct_value(value);
}

/* --- names of attributes ------------------------------------------------------------------------------------------ */

/* The real library makes its dictionary in PMIx_Init. Open MPI 5 asks for these to make out the info keys of
 * MPI_Comm_spawn (ompi/dpm/dpm.c), others are called what they are. */
static const struct {
  const char *name, *key;
} attributes[] = {{"PMIX_ADD_HOST", PMIX_ADD_HOST}, {"PMIX_ADD_HOSTFILE", PMIX_ADD_HOSTFILE},
                  {"PMIX_HOST", PMIX_HOST},         {"PMIX_HOSTFILE", PMIX_HOSTFILE},
                  {"PMIX_MAPBY", PMIX_MAPBY},       {"PMIX_PERSONALITY", PMIX_PERSONALITY},
                  {"PMIX_PPR", PMIX_PPR},           {"PMIX_PREFIX", PMIX_PREFIX},
                  {"PMIX_WDIR", PMIX_WDIR}};

UMW_PUBLIC const char* PMIx_Get_attribute_string(const char* attribute)
{
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i)
    if (strcasecmp(attribute, attributes[i].name) == 0)
      return attributes[i].key;
  return attribute;
}

UMW_PUBLIC const char* PMIx_Get_attribute_name(const char* attribute)
{
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i)
    if (strcmp(attribute, attributes[i].key) == 0)
      return attributes[i].name;
  return attribute;
}
