/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The calls of PMI-1. Nothing passes over PMI_FD: the gate knows rank and size, pairs are kept by the runtime in the
 * spaces that clients of the protocol on PMI_FD see, too (runtime/bootstrap/spaces.h). Table:
 * preload/abi/tables/pmi.def.
 */
#include "preload/pmi/pairs.h"

#include <stdio.h>
#include <string.h>

static bool initialised;

#define ASSERT_INITIALISED()                                                                                           \
  do                                                                                                                   \
    if (!initialised || !umw_gate) /* no gate: a child made by fork() */                                               \
      return PMI_ERR_INIT;                                                                                             \
  while (0)

UMW_PUBLIC int PMI_Init(int* spawned)
{
  if (!spawned)
    return PMI_ERR_INVALID_ARG;
  if (!umw_gate)
    return PMI_FAIL;
  *spawned = 0;
  initialised = true;
  return PMI_SUCCESS;
}

UMW_PUBLIC int PMI_Initialized(int* result)
{
  if (!result)
    return PMI_ERR_INVALID_ARG;
  *result = initialised;
  return PMI_SUCCESS;
}

UMW_PUBLIC int PMI_Finalize(void)
{
  ASSERT_INITIALISED();
  initialised = false;
  return PMI_SUCCESS;
}

UMW_PUBLIC int PMI_Abort(int exit_code, const char message[])
{
  if (umw_gate)
    umw_exit(exit_code, UMW_EXIT_PMI, message);
  return PMI_FAIL;
}

UMW_PUBLIC int PMI_Barrier(void)
{
  ASSERT_INITIALISED();
  umw_fence(0);
  return PMI_SUCCESS;
}

/* --- facts -------------------------------------------------------------------------------------------------------- */

static int tell(int number, int* result)
{
  ASSERT_INITIALISED();
  if (!result)
    return PMI_ERR_INVALID_ARG;
  *result = number;
  return PMI_SUCCESS;
}

UMW_PUBLIC int PMI_Get_size(int* size)
{
  return tell(umw_gate ? umw_gate->ranks : 0, size);
}

UMW_PUBLIC int PMI_Get_rank(int* rank)
{
  return tell(umw_gate ? umw_gate->rank : 0, rank);
}

UMW_PUBLIC int PMI_Get_universe_size(int* size)
{
  return PMI_Get_size(size);
}

UMW_PUBLIC int PMI_Get_appnum(int* number)
{
  return tell(umw_gate ? umw_gate->app : 0, number);
}

UMW_PUBLIC int PMI_Get_clique_size(int* size)
{
  return tell(umw_gate ? umw_gate->local_ranks : 0, size);
}

UMW_PUBLIC int PMI_Get_clique_ranks(int ranks[], int length)
{
  ASSERT_INITIALISED();
  if (!ranks)
    return PMI_ERR_INVALID_ARG;
  if (length < umw_gate->local_ranks)
    return PMI_ERR_INVALID_LENGTH;
  umw_pmi_local_ranks(ranks, length);
  return PMI_SUCCESS;
}

UMW_PUBLIC int PMI_KVS_Get_name_length_max(int* length)
{
  return tell(UMW_PMI_NAME_MAX, length);
}

UMW_PUBLIC int PMI_Get_id_length_max(int* length)
{
  return tell(UMW_PMI_NAME_MAX, length);
}

UMW_PUBLIC int PMI_KVS_Get_key_length_max(int* length)
{
  return tell(UMW_PMI_KEY_MAX + 1, length);
}

UMW_PUBLIC int PMI_KVS_Get_value_length_max(int* length)
{
  return tell(UMW_PMI_VALUE_MAX + 1, length);
}

UMW_PUBLIC int PMI_KVS_Get_my_name(char space[], int length)
{
  ASSERT_INITIALISED();
  return umw_pmi_copy(umw_pmi_own_space().name, space, length);
}

UMW_PUBLIC int PMI_Get_id(char id[], int length)
{
  return PMI_KVS_Get_my_name(id, length);
}

UMW_PUBLIC int PMI_Get_kvs_domain_id(char id[], int length)
{
  return PMI_KVS_Get_my_name(id, length);
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

static bool is_space(const char* name)
{
  return name && strncmp(name, "kvs_", 4) == 0 && strlen(name) < UMW_PMI_NAME_MAX;
}

UMW_PUBLIC int PMI_KVS_Create(char name[], int length)
{
  static int created;
  ASSERT_INITIALISED();
  struct umw_pmi_space space;
  snprintf(space.name, sizeof space.name, "kvs_%s.%d.%d", umw_gate->job_name, umw_gate->rank, created);
  const int status = umw_pmi_copy(space.name, name, length);
  if (status != PMI_SUCCESS)
    return status;
  ++created;
  return umw_space_create(name) == 0 ? PMI_SUCCESS : PMI_FAIL;
}

UMW_PUBLIC int PMI_KVS_Destroy(const char space[])
{
  ASSERT_INITIALISED();
  if (!is_space(space))
    return PMI_ERR_INVALID_ARG;
  if (strcmp(space, umw_pmi_own_space().name) == 0)
    return PMI_FAIL;
  return umw_space_remove(space) == 0 ? PMI_SUCCESS : PMI_ERR_INVALID_ARG;
}

UMW_PUBLIC int PMI_KVS_Put(const char space[], const char key[], const char value[])
{
  ASSERT_INITIALISED();
  if (!is_space(space))
    return PMI_ERR_INVALID_KVS;
  int status = umw_pmi_check_key(key);
  if (status == PMI_SUCCESS)
    status = umw_pmi_check_value(value);
  if (status != PMI_SUCCESS)
    return status;
  return umw_pair_put(space, key, value, UMW_PAIR_LATER) == 0 ? PMI_SUCCESS : PMI_ERR_INVALID_KVS;
}

UMW_PUBLIC int PMI_KVS_Commit(const char space[])
{
  ASSERT_INITIALISED();
  return is_space(space) && umw_pair_commit(space) == 0 ? PMI_SUCCESS : PMI_ERR_INVALID_ARG;
}

UMW_PUBLIC int PMI_KVS_Get(const char space[], const char key[], char value[], int length)
{
  ASSERT_INITIALISED();
  if (!is_space(space))
    return PMI_ERR_INVALID_KVS;
  const int status = umw_pmi_check_key(key);
  if (status != PMI_SUCCESS)
    return status;
  if (!value)
    return PMI_ERR_INVALID_VAL;
  if (length < 1)
    return PMI_ERR_INVALID_LENGTH;
  const int64_t found = umw_pmi_find(space, key, value, length, false);
  if (found < 0)
    return found == -ENXIO ? PMI_ERR_INVALID_KVS : PMI_ERR_INVALID_KEY;
  return found < length ? PMI_SUCCESS : PMI_ERR_INVALID_LENGTH;
}

static int next_pair = -1; /* of the iteration; negative: none has begun */

static int iterate(int from, const char* space, char* key, int key_length, char* value, int value_length)
{
  ASSERT_INITIALISED();
  if (!is_space(space))
    return PMI_ERR_INVALID_KVS;
  if (!key)
    return PMI_ERR_INVALID_KEY;
  if (key_length <= UMW_PMI_KEY_MAX)
    return PMI_ERR_INVALID_KEY_LENGTH;
  if (!value)
    return PMI_ERR_INVALID_VAL;
  if (value_length <= UMW_PMI_VALUE_MAX)
    return PMI_ERR_INVALID_VAL_LENGTH;
  if (from < 0)
    return PMI_FAIL;
  char pair[UMW_PMI_KEY_MAX + 1 + UMW_PMI_VALUE_MAX + 1];
  const int64_t size = umw_pair_at(space, from, pair, sizeof pair);
  if (size == -ENXIO)
    return PMI_ERR_INVALID_KVS;
  *key = *value = '\0'; /* the end is an empty key */
  next_pair = from;
  if (size < 0)
    return PMI_SUCCESS;
  ++next_pair;
  pair[sizeof pair - 1] = '\0';
  strcpy(key, pair);
  /* Longer than a value can be: only PMI_process_mapping of ranks placed without any order. */
  snprintf(value, (size_t)value_length, "%s", pair + strlen(pair) + 1);
  return PMI_SUCCESS;
}

UMW_PUBLIC int PMI_KVS_Iter_first(const char space[], char key[], int key_length, char value[], int value_length)
{
  return iterate(0, space, key, key_length, value, value_length);
}

UMW_PUBLIC int PMI_KVS_Iter_next(const char space[], char key[], int key_length, char value[], int value_length)
{
  return iterate(next_pair, space, key, key_length, value, value_length);
}

/* --- names -------------------------------------------------------------------------------------------------------- */

UMW_PUBLIC int PMI_Publish_name(const char service[], const char port[])
{
  ASSERT_INITIALISED();
  return umw_pmi_publish(service, port);
}

UMW_PUBLIC int PMI_Unpublish_name(const char service[])
{
  ASSERT_INITIALISED();
  return umw_pmi_unpublish(service);
}

UMW_PUBLIC int PMI_Lookup_name(const char service[], char port[])
{
  ASSERT_INITIALISED();
  return umw_pmi_look_up(service, port, UMW_PMI_VALUE_MAX + 1); /* the caller has room for what may be published */
}

/* --- other processes, options ------------------------------------------------------------------------------------- */

UMW_PUBLIC int PMI_Spawn_multiple(int count, const char* commands[], const char** arguments[], const int processes[],
                                  const int sizes[], const PMI_keyval_t* information[], int preput_size,
                                  const PMI_keyval_t preput[], int errors[])
{
  (void)arguments;
  (void)sizes;
  (void)information;
  (void)preput_size;
  (void)preput;
  ASSERT_INITIALISED();
  if (count < 1 || !commands || !processes)
    return PMI_ERR_INVALID_ARG;
  for (int i = 0; errors && i < count; ++i)
    errors[i] = PMI_FAIL;
  umw_pmi_refuse("PMI_Spawn_multiple",
                 "ranks start others through PMIx (Open MPI) only. Next step: start all programs at once, umwelt run "
                 "-np N PROGRAM : -np M OTHER");
  return PMI_FAIL;
}

/* No argument is meant for PMI. */
static int no_pairs(PMI_keyval_t** pairs, int* size)
{
  if (!pairs)
    return PMI_ERR_INVALID_KEYVALP;
  if (!size)
    return PMI_ERR_INVALID_SIZE;
  *pairs = NULL;
  *size = 0;
  return PMI_SUCCESS;
}

UMW_PUBLIC int PMI_Parse_option(int count, char* arguments[], int* parsed, PMI_keyval_t** pairs, int* size)
{
  if (count < 1)
    return PMI_ERR_INVALID_NUM_ARGS;
  if (!arguments)
    return PMI_ERR_INVALID_ARGS;
  if (!parsed)
    return PMI_ERR_INVALID_NUM_PARSED;
  *parsed = 0;
  return no_pairs(pairs, size);
}

UMW_PUBLIC int PMI_Args_to_keyval(int* count, char* (*arguments)[], PMI_keyval_t** pairs, int* size)
{
  if (!count || !arguments || !pairs || !size)
    return PMI_ERR_INVALID_ARG;
  return no_pairs(pairs, size);
}

UMW_PUBLIC int PMI_Free_keyvals(PMI_keyval_t pairs[], int size)
{
  return size < 0 || (size > 0 && !pairs) ? PMI_ERR_INVALID_ARG : PMI_SUCCESS;
}

UMW_PUBLIC int PMI_Get_options(char* text, int* length)
{
  if (!text || !length)
    return PMI_ERR_INVALID_ARG;
  if (*length < 1)
    return PMI_ERR_INVALID_LENGTH;
  *text = '\0';
  *length = 0;
  return PMI_SUCCESS;
}
