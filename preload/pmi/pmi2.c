/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The calls of PMI-2, as pmi1.c. Its attributes of a node are a space of that node. Table: preload/abi/tables/pmi.def.
 */
#include "preload/pmi/pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool initialised;

#define ASSERT_INITIALISED()                                                                                           \
  do                                                                                                                   \
    if (!initialised || !umw_gate)                                                                                     \
      return PMI_ERR_INIT;                                                                                             \
  while (0)

UMW_PUBLIC int PMI2_Init(int* spawned, int* size, int* rank, int* application)
{
  if (!spawned || !size || !rank || !application)
    return PMI_ERR_INVALID_ARG;
  if (!umw_gate)
    return PMI_FAIL;
  *spawned = 0;
  *size = umw_gate->ranks;
  *rank = umw_gate->rank;
  *application = umw_gate->app;
  initialised = true;
  return PMI_SUCCESS;
}

UMW_PUBLIC int PMI2_Initialized(void)
{
  return initialised;
}

UMW_PUBLIC int PMI2_Finalize(void)
{
  ASSERT_INITIALISED();
  initialised = false;
  return PMI_SUCCESS;
}

/* Flag: whether others are to end, too. OpenSHMEM libraries hand over the exit code, MPI libraries 1. */
UMW_PUBLIC int PMI2_Abort(int flag, const char message[])
{
  if (umw_gate)
    umw_exit(flag, UMW_EXIT_PMI, message);
  return PMI_FAIL;
}

/* --- the job ------------------------------------------------------------------------------------------------------ */

UMW_PUBLIC int PMI2_Job_GetId(char id[], int size)
{
  ASSERT_INITIALISED();
  return umw_pmi_copy(umw_gate->job_name, id, size);
}

static int tell(int number, int* result)
{
  ASSERT_INITIALISED();
  if (!result)
    return PMI_ERR_INVALID_ARG;
  *result = number;
  return PMI_SUCCESS;
}

UMW_PUBLIC int PMI2_Job_GetRank(int* rank)
{
  return tell(umw_gate ? umw_gate->rank : 0, rank);
}

UMW_PUBLIC int PMI2_Info_GetSize(int* size)
{
  return tell(umw_gate ? umw_gate->local_ranks : 0, size);
}

static int refuse_job(const char* call, const char* id)
{
  ASSERT_INITIALISED();
  if (!id)
    return PMI_ERR_INVALID_ARG;
  umw_pmi_refuse(call, "a simulation has one job");
  return PMI_FAIL;
}

UMW_PUBLIC int PMI2_Job_Connect(const char id[], struct PMI2_Connect_comm* connection)
{
  (void)connection;
  return refuse_job("PMI2_Job_Connect", id);
}

UMW_PUBLIC int PMI2_Job_Disconnect(const char id[])
{
  return refuse_job("PMI2_Job_Disconnect", id);
}

UMW_PUBLIC int PMI2_Job_Spawn(int count, const char* commands[], int argument_counts[], const char** arguments[],
                              const int processes[], const int sizes[], const struct MPID_Info* information[],
                              int preput_size, const struct MPID_Info* preput[], char id[], int id_size, int errors[])
{
  (void)argument_counts;
  (void)arguments;
  (void)sizes;
  (void)information;
  (void)preput_size;
  (void)preput;
  (void)id;
  (void)id_size;
  ASSERT_INITIALISED();
  if (count < 1 || !commands || !processes)
    return PMI_ERR_INVALID_ARG;
  for (int i = 0; errors && i < count; ++i)
    errors[i] = PMI_FAIL;
  umw_pmi_refuse("PMI2_Job_Spawn",
                 "ranks start others through PMIx (Open MPI) only. Next step: start all programs at once, umwelt run "
                 "-np N PROGRAM : -np M OTHER");
  return PMI_FAIL;
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

UMW_PUBLIC int PMI2_KVS_Put(const char key[], const char value[])
{
  ASSERT_INITIALISED();
  int status = umw_pmi_check_key(key);
  if (status == PMI_SUCCESS)
    status = umw_pmi_check_value(value);
  if (status == PMI_SUCCESS)
    umw_pair_put(umw_pmi_own_space().name, key, value, UMW_PAIR_LATER);
  return status;
}

UMW_PUBLIC int PMI2_KVS_Fence(void)
{
  ASSERT_INITIALISED();
  umw_pair_commit(umw_pmi_own_space().name);
  umw_fence(0);
  return PMI_SUCCESS;
}

UMW_PUBLIC int PMI2_KVS_Get(const char* job, int source, const char key[], char value[], int size, int* length)
{
  (void)source; /* a hint */
  ASSERT_INITIALISED();
  const int status = umw_pmi_check_key(key);
  if (status != PMI_SUCCESS)
    return status;
  if (!value)
    return PMI_ERR_INVALID_VAL;
  if (size < 1)
    return PMI_ERR_INVALID_VAL_LENGTH;
  if (!length || (job && strcmp(job, umw_gate->job_name) != 0))
    return PMI_ERR_INVALID_ARG;
  const int64_t found = umw_pmi_find(umw_pmi_own_space().name, key, value, size, false);
  if (found < 0)
    return PMI_ERR_INVALID_KEY;
  *length = found < size ? (int)found : -(int)found; /* too long: the beginning, and how much there is */
  return PMI_SUCCESS;
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

static struct umw_pmi_space node_space(void)
{
  struct umw_pmi_space space;
  snprintf(space.name, sizeof space.name, "node.%d", umw_gate->node);
  return space;
}

UMW_PUBLIC int PMI2_Info_PutNodeAttr(const char name[], const char value[])
{
  ASSERT_INITIALISED();
  int status = umw_pmi_check_key(name);
  if (status == PMI_SUCCESS)
    status = umw_pmi_check_value(value);
  if (status == PMI_SUCCESS)
    umw_pair_put(node_space().name, name, value, UMW_PAIR_NOW);
  return status;
}

/* One of the attributes that the launcher knows; negative: it is none, or the job does not have it. */
static int64_t launcher_attribute(bool of_node, const char* name, char* value, int size)
{
  char number[16];
  const char* text = NULL;
  if (of_node && strcmp(name, "localRanks") == 0) {
    text = umw_gate->local_peers;
  } else if (of_node && strcmp(name, "localRanksCount") == 0) {
    snprintf(number, sizeof number, "%d", umw_gate->local_ranks);
    text = number;
  } else if (!of_node && strcmp(name, "universeSize") == 0) {
    snprintf(number, sizeof number, "%d", umw_gate->ranks);
    text = number;
  } else if (!of_node && strcmp(name, "hasNameServ") == 0) {
    text = "TRUE";
  } else if (!of_node && strcmp(name, "isHeterogeneous") == 0) {
    text = "FALSE";
  } else if (!of_node && strcmp(name, "PMI_process_mapping") == 0) {
    return umw_pmi_find(umw_pmi_own_space().name, name, value, size, false);
  }
  return text ? snprintf(value, (size_t)size, "%s", text) : -1;
}

static int get_attribute(bool of_node, const char* name, char* value, int size, int* found, bool wait)
{
  ASSERT_INITIALISED();
  const int status = umw_pmi_check_key(name);
  if (status != PMI_SUCCESS)
    return status;
  if (!value)
    return PMI_ERR_INVALID_VAL;
  if (size < 1)
    return PMI_ERR_INVALID_VAL_LENGTH;
  if (!found)
    return PMI_ERR_INVALID_ARG;
  int64_t length = launcher_attribute(of_node, name, value, size);
  if (length < 0 && of_node)
    length = umw_pmi_find(node_space().name, name, value, size, wait);
  *found = length >= 0;
  return length < size ? PMI_SUCCESS : PMI_ERR_INVALID_VAL_LENGTH;
}

/* A value as a list of numbers with commas between them. */
static int get_numbers(bool of_node, const char* name, int* array, int size, int* written, int* found)
{
  ASSERT_INITIALISED();
  if (!array || !written || !found)
    return PMI_ERR_INVALID_ARG;
  if (size < 1)
    return PMI_ERR_INVALID_LENGTH;
  if (of_node && name && strcmp(name, "localRanks") == 0) { /* however many there are */
    *found = 1;
    *written = umw_pmi_local_ranks(array, size);
    return PMI_SUCCESS;
  }
  char text[UMW_PMI_VALUE_MAX + 1];
  const int status = get_attribute(of_node, name, text, sizeof text, found, false);
  *written = 0;
  if (status != PMI_SUCCESS || !*found)
    return status;
  for (const char* next = text; *written < size;) {
    char* end;
    array[*written] = (int)strtol(next, &end, 10);
    if (end == next || (*end != ',' && *end != '\0'))
      return PMI_ERR_INVALID_VAL;
    ++*written;
    if (*end == '\0')
      break;
    next = end + 1;
  }
  return PMI_SUCCESS;
}

UMW_PUBLIC int PMI2_Info_GetNodeAttr(const char name[], char value[], int size, int* found, int wait)
{
  return get_attribute(true, name, value, size, found, wait != 0);
}

UMW_PUBLIC int PMI2_Info_GetNodeAttrIntArray(const char name[], int array[], int size, int* written, int* found)
{
  return get_numbers(true, name, array, size, written, found);
}

UMW_PUBLIC int PMI2_Info_GetJobAttr(const char name[], char value[], int size, int* found)
{
  return get_attribute(false, name, value, size, found, false);
}

UMW_PUBLIC int PMI2_Info_GetJobAttrIntArray(const char name[], int array[], int size, int* written, int* found)
{
  return get_numbers(false, name, array, size, written, found);
}

/* --- names -------------------------------------------------------------------------------------------------------- */

UMW_PUBLIC int PMI2_Nameserv_publish(const char service[], const struct MPID_Info* information, const char port[])
{
  (void)information;
  ASSERT_INITIALISED();
  return umw_pmi_publish(service, port);
}

UMW_PUBLIC int PMI2_Nameserv_lookup(const char service[], const struct MPID_Info* information, char port[], int size)
{
  (void)information;
  ASSERT_INITIALISED();
  return umw_pmi_look_up(service, port, size);
}

UMW_PUBLIC int PMI2_Nameserv_unpublish(const char service[], const struct MPID_Info* information)
{
  (void)information;
  ASSERT_INITIALISED();
  return umw_pmi_unpublish(service);
}

/* --- ring --------------------------------------------------------------------------------------------------------- */

/* Two neighbours' values. Keys alternate: nobody puts those of the next ring but one before all have left this one. */
UMW_PUBLIC int PMIX_Ring(const char value[], int* rank, int* ranks, char left[], char right[], int size)
{
  static unsigned rings;
  ASSERT_INITIALISED();
  if (!value || !rank || !ranks || !left || !right)
    return PMI_ERR_INVALID_ARG;
  if (size < 1 || strlen(value) >= (size_t)size || strlen(value) > UMW_PMI_VALUE_MAX)
    return PMI_ERR_INVALID_LENGTH;
  const unsigned ring = rings++ % 2;
  char key[32];
  *rank = umw_gate->rank;
  *ranks = umw_gate->ranks;
  snprintf(key, sizeof key, "%u.%d", ring, *rank);
  umw_pair_put("ring", key, value, UMW_PAIR_NOW);
  umw_fence(0);
  snprintf(key, sizeof key, "%u.%d", ring, (*rank + *ranks - 1) % *ranks);
  umw_pmi_find("ring", key, left, size, false);
  snprintf(key, sizeof key, "%u.%d", ring, (*rank + 1) % *ranks);
  umw_pmi_find("ring", key, right, size, false);
  return PMI_SUCCESS;
}
