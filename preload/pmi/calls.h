/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The C interfaces of PMI-1 and PMI-2, binary compatible with Slurm's libpmi.so.0 and libpmi2.so.0. Programs are
 * compiled with their own pmi.h and pmi2.h; this is for the shim and its tests. Table: preload/abi/tables/pmi.def. */
#pragma once

/* PMI-2 has the same codes under the names PMI2_..., but for the last, which is PMI2_ERR_OTHER. */
enum {
  PMI_FAIL = -1,
  PMI_SUCCESS,
  PMI_ERR_INIT,
  PMI_ERR_NOMEM,
  PMI_ERR_INVALID_ARG,
  PMI_ERR_INVALID_KEY,
  PMI_ERR_INVALID_KEY_LENGTH,
  PMI_ERR_INVALID_VAL,
  PMI_ERR_INVALID_VAL_LENGTH,
  PMI_ERR_INVALID_LENGTH,
  PMI_ERR_INVALID_NUM_ARGS,
  PMI_ERR_INVALID_ARGS,
  PMI_ERR_INVALID_NUM_PARSED,
  PMI_ERR_INVALID_KEYVALP,
  PMI_ERR_INVALID_SIZE,
  PMI_ERR_INVALID_KVS
};

typedef struct {
  char *key, *val;
} PMI_keyval_t;

struct MPID_Info;
struct PMI2_Connect_comm;

int PMI_Init(int* spawned);
int PMI_Initialized(int* initialized);
int PMI_Finalize(void);
int PMI_Abort(int exit_code, const char message[]);
int PMI_Barrier(void);
int PMI_Get_size(int* size);
int PMI_Get_rank(int* rank);
int PMI_Get_universe_size(int* size);
int PMI_Get_appnum(int* number);
int PMI_Get_id(char id[], int length);
int PMI_Get_kvs_domain_id(char id[], int length);
int PMI_Get_id_length_max(int* length);
int PMI_Get_clique_size(int* size);
int PMI_Get_clique_ranks(int ranks[], int length);
int PMI_KVS_Get_my_name(char space[], int length);
int PMI_KVS_Get_name_length_max(int* length);
int PMI_KVS_Get_key_length_max(int* length);
int PMI_KVS_Get_value_length_max(int* length);
int PMI_KVS_Create(char space[], int length);
int PMI_KVS_Destroy(const char space[]);
int PMI_KVS_Put(const char space[], const char key[], const char value[]);
int PMI_KVS_Commit(const char space[]);
int PMI_KVS_Get(const char space[], const char key[], char value[], int length);
int PMI_KVS_Iter_first(const char space[], char key[], int key_length, char value[], int value_length);
int PMI_KVS_Iter_next(const char space[], char key[], int key_length, char value[], int value_length);
int PMI_Publish_name(const char service[], const char port[]);
int PMI_Unpublish_name(const char service[]);
int PMI_Lookup_name(const char service[], char port[]);
int PMI_Spawn_multiple(int count, const char* commands[], const char** arguments[], const int processes[],
                       const int sizes[], const PMI_keyval_t* information[], int preput_size,
                       const PMI_keyval_t preput[], int errors[]);
int PMI_Parse_option(int count, char* arguments[], int* parsed, PMI_keyval_t** pairs, int* size);
int PMI_Args_to_keyval(int* count, char* (*arguments)[], PMI_keyval_t** pairs, int* size);
int PMI_Free_keyvals(PMI_keyval_t pairs[], int size);
int PMI_Get_options(char* text, int* length);

int PMI2_Init(int* spawned, int* size, int* rank, int* application);
int PMI2_Initialized(void);
int PMI2_Finalize(void);
int PMI2_Abort(int flag, const char message[]);
int PMI2_Job_GetId(char id[], int size);
int PMI2_Job_GetRank(int* rank);
int PMI2_Job_Connect(const char id[], struct PMI2_Connect_comm* connection);
int PMI2_Job_Disconnect(const char id[]);
int PMI2_Job_Spawn(int count, const char* commands[], int argument_counts[], const char** arguments[],
                   const int processes[], const int sizes[], const struct MPID_Info* information[], int preput_size,
                   const struct MPID_Info* preput[], char id[], int id_size, int errors[]);
int PMI2_Info_GetSize(int* size);
int PMI2_Info_GetNodeAttr(const char name[], char value[], int size, int* found, int wait);
int PMI2_Info_GetNodeAttrIntArray(const char name[], int array[], int size, int* written, int* found);
int PMI2_Info_PutNodeAttr(const char name[], const char value[]);
int PMI2_Info_GetJobAttr(const char name[], char value[], int size, int* found);
int PMI2_Info_GetJobAttrIntArray(const char name[], int array[], int size, int* written, int* found);
int PMI2_KVS_Put(const char key[], const char value[]);
int PMI2_KVS_Fence(void);
int PMI2_KVS_Get(const char* job, int source, const char key[], char value[], int size, int* length);
int PMI2_Nameserv_publish(const char service[], const struct MPID_Info* information, const char port[]);
int PMI2_Nameserv_lookup(const char service[], const struct MPID_Info* information, char port[], int size);
int PMI2_Nameserv_unpublish(const char service[], const struct MPID_Info* information);
int PMIX_Ring(const char value[], int* rank, int* ranks, char left[], char right[], int size);
