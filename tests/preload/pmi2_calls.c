/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Every call of PMI-2: what it does among any number of ranks, and what it says of bad arguments. Given "abort", rank 1
 * ends the job; given "forever", ranks wait for an attribute that nobody puts. */
#include "tests/preload/pmi_check.h"

static int rank, size, number, found, length;
static char job[64], key[128], value[1100];

static void outside(void)
{
  int array[4];
  EXPECT(PMI2_Initialized() == 0);
  CODE(PMI_ERR_INIT, PMI2_Finalize());
  CODE(PMI_ERR_INIT, PMI2_Job_GetId(value, sizeof value));
  CODE(PMI_ERR_INIT, PMI2_Job_GetRank(&number));
  CODE(PMI_ERR_INIT, PMI2_Job_Connect("job", NULL));
  CODE(PMI_ERR_INIT, PMI2_Job_Disconnect("job"));
  CODE(PMI_ERR_INIT, PMI2_Job_Spawn(0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL));
  CODE(PMI_ERR_INIT, PMI2_Info_GetSize(&number));
  CODE(PMI_ERR_INIT, PMI2_Info_GetNodeAttr("a", value, sizeof value, &found, 0));
  CODE(PMI_ERR_INIT, PMI2_Info_GetNodeAttrIntArray("a", array, 4, &length, &found));
  CODE(PMI_ERR_INIT, PMI2_Info_PutNodeAttr("a", "b"));
  CODE(PMI_ERR_INIT, PMI2_Info_GetJobAttr("a", value, sizeof value, &found));
  CODE(PMI_ERR_INIT, PMI2_Info_GetJobAttrIntArray("a", array, 4, &length, &found));
  CODE(PMI_ERR_INIT, PMI2_KVS_Put("a", "b"));
  CODE(PMI_ERR_INIT, PMI2_KVS_Fence());
  CODE(PMI_ERR_INIT, PMI2_KVS_Get(NULL, -1, "a", value, sizeof value, &length));
  CODE(PMI_ERR_INIT, PMI2_Nameserv_publish("a", NULL, "b"));
  CODE(PMI_ERR_INIT, PMI2_Nameserv_lookup("a", NULL, value, sizeof value));
  CODE(PMI_ERR_INIT, PMI2_Nameserv_unpublish("a", NULL));
  CODE(PMI_ERR_INIT, PMIX_Ring("a", &number, &number, value, value, sizeof value));
}

static void begin(void)
{
  int spawned = 7, application = 7;
  CODE(PMI_ERR_INVALID_ARG, PMI2_Init(NULL, &size, &rank, &application));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Init(&spawned, NULL, &rank, &application));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Init(&spawned, &size, NULL, &application));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Init(&spawned, &size, &rank, NULL));
  EXPECT(PMI2_Initialized() == 0);
  OK(PMI2_Init(&spawned, &size, &rank, &application));
  EXPECT(PMI2_Initialized() && spawned == 0 && application == 0);
  EXPECT(rank == number_of("PMI_RANK") && size == number_of("PMI_SIZE"));
}

static void the_job(void)
{
  const char* commands[2] = {"a", "b"};
  const int processes[2] = {1, 1};
  int errors[2] = {0, 0};
  OK(PMI2_Job_GetId(job, sizeof job));
  EXPECT(*job);
  OK(PMI2_Job_GetId(value, (int)strlen(job) + 1));
  CODE(PMI_ERR_INVALID_LENGTH, PMI2_Job_GetId(value, (int)strlen(job)));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Job_GetId(NULL, 10));
  OK(PMI2_Job_GetRank(&number));
  EXPECT(number == rank);
  CODE(PMI_ERR_INVALID_ARG, PMI2_Job_GetRank(NULL));
  OK(PMI2_Info_GetSize(&number));
  EXPECT(number == number_of("OMPI_COMM_WORLD_LOCAL_SIZE"));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Info_GetSize(NULL));
  CODE(PMI_FAIL, PMI2_Job_Connect("other", NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Job_Connect(NULL, NULL));
  CODE(PMI_FAIL, PMI2_Job_Disconnect("other"));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Job_Disconnect(NULL));
  CODE(PMI_ERR_INVALID_ARG,
       PMI2_Job_Spawn(2, NULL, NULL, NULL, processes, NULL, NULL, 0, NULL, value, sizeof value, errors));
  CODE(PMI_FAIL, PMI2_Job_Spawn(2, commands, NULL, NULL, processes, NULL, NULL, 0, NULL, value, sizeof value, errors));
  EXPECT(errors[0] == PMI_FAIL && errors[1] == PMI_FAIL);
}

static void get(const char* expected)
{
  OK(PMI2_KVS_Get(job, -1, key, value, sizeof value, &length));
  EXPECT(strcmp(value, expected) == 0 && length == (int)strlen(expected));
}

/* Puts of a round are seen by all after its fence, and no earlier, also those of a key that is there already. */
static void exchange(void)
{
  char expected[100];
  for (int round = 0; round < 3; ++round) {
    snprintf(key, sizeof key, "of %d", rank);
    snprintf(value, sizeof value, "round %d of\n%d = x", round, rank);
    OK(PMI2_KVS_Put(key, value));
    if (round > 0 && size > 1) {
      const int other = (rank + 1) % size;
      pass(1); /* the other has put */
      snprintf(key, sizeof key, "of %d", other);
      snprintf(expected, sizeof expected, "round %d of\n%d = x", round - 1, other);
      get(expected);
      pass(1000); /* the fence makes puts known: all have looked */
    }
    OK(PMI2_KVS_Fence());
    for (int other = 0; other < size; ++other) {
      snprintf(key, sizeof key, "of %d", other);
      snprintf(expected, sizeof expected, "round %d of\n%d = x", round, other);
      get(expected);
    }
    OK(PMI2_KVS_Fence());
  }
  snprintf(key, sizeof key, "of %d", (rank + 1) % size);
  OK(PMI2_KVS_Get(NULL, rank, key, value, 5, &length));
  snprintf(expected, sizeof expected, "round 2 of\n%d = x", (rank + 1) % size);
  EXPECT(strcmp(value, "roun") == 0 && length == -(int)strlen(expected));
}

static void bad_keys(void)
{
  CODE(PMI_ERR_INVALID_KEY, PMI2_KVS_Put(NULL, "value"));
  CODE(PMI_ERR_INVALID_KEY, PMI2_KVS_Put("", "value"));
  CODE(PMI_ERR_INVALID_KEY_LENGTH, PMI2_KVS_Put(many('k', 65), "value"));
  CODE(PMI_ERR_INVALID_VAL, PMI2_KVS_Put("refused", NULL));
  CODE(PMI_ERR_INVALID_VAL_LENGTH, PMI2_KVS_Put("refused", many('v', 1025)));
  OK(PMI2_KVS_Put(many('k', 64), many('v', 1024)));
  OK(PMI2_KVS_Fence());
  CODE(PMI_ERR_INVALID_KEY, PMI2_KVS_Get(job, -1, "refused", value, sizeof value, &length));
  CODE(PMI_ERR_INVALID_KEY, PMI2_KVS_Get(job, -1, NULL, value, sizeof value, &length));
  CODE(PMI_ERR_INVALID_KEY_LENGTH, PMI2_KVS_Get(job, -1, many('k', 65), value, sizeof value, &length));
  CODE(PMI_ERR_INVALID_VAL, PMI2_KVS_Get(job, -1, "of 0", NULL, 10, &length));
  CODE(PMI_ERR_INVALID_VAL_LENGTH, PMI2_KVS_Get(job, -1, "of 0", value, 0, &length));
  CODE(PMI_ERR_INVALID_ARG, PMI2_KVS_Get(job, -1, "of 0", value, sizeof value, NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI2_KVS_Get("other", -1, "of 0", value, sizeof value, &length));
  OK(PMI2_KVS_Get(job, -1, many('k', 64), value, 1025, &length));
  EXPECT(length == 1024 && strcmp(value, many('v', 1024)) == 0);
  OK(PMI2_KVS_Get(job, -1, many('k', 64), value, 1024, &length));
  EXPECT(length == -1024 && strcmp(value, many('v', 1023)) == 0);
}

/* Attributes are the node's: the ranks of others do not see them. The first rank of each node is late. */
static void node_attributes(void)
{
  const int first = number_of("OMPI_COMM_WORLD_LOCAL_RANK") == 0;
  const double begin = now();
  char host[100];
  snprintf(host, sizeof host, "on %s", getenv("HOSTNAME"));
  found = 7;
  OK(PMI2_Info_GetNodeAttr("where", value, sizeof value, &found, 0));
  EXPECT(found == 0);
  OK(PMI2_KVS_Fence());
  if (first) {
    pass(5);
    OK(PMI2_Info_PutNodeAttr("where", host));
  }
  OK(PMI2_Info_GetNodeAttr("where", value, sizeof value, &found, 1));
  EXPECT(found && strcmp(value, host) == 0 && now() - begin > 5e-3);
  OK(PMI2_KVS_Fence());
  if (first)
    OK(PMI2_Info_PutNodeAttr("where", "3,-1,4"));
  OK(PMI2_KVS_Fence());
  int array[4] = {7, 7, 7, 7};
  OK(PMI2_Info_GetNodeAttrIntArray("where", array, 4, &length, &found));
  EXPECT(found && length == 3 && array[0] == 3 && array[1] == -1 && array[2] == 4 && array[3] == 7);
  OK(PMI2_Info_GetNodeAttrIntArray("where", array, 2, &length, &found));
  EXPECT(found && length == 2);
  OK(PMI2_Info_GetNodeAttrIntArray("no such", array, 4, &length, &found));
  EXPECT(!found && length == 0);
  OK(PMI2_KVS_Fence());
  if (first)
    OK(PMI2_Info_PutNodeAttr("where", "3,x"));
  OK(PMI2_KVS_Fence());
  CODE(PMI_ERR_INVALID_VAL, PMI2_Info_GetNodeAttrIntArray("where", array, 4, &length, &found));

  int ranks[64];
  OK(PMI2_Info_GetNodeAttrIntArray("localRanks", ranks, 64, &length, &found));
  EXPECT(found && length == number_of("OMPI_COMM_WORLD_LOCAL_SIZE"));
  EXPECT(ranks[number_of("OMPI_COMM_WORLD_LOCAL_RANK")] == rank);
  OK(PMI2_Info_GetNodeAttrIntArray("localRanksCount", ranks, 64, &number, &found));
  EXPECT(found && number == 1 && ranks[0] == length);
  OK(PMI2_Info_GetNodeAttr("localRanksCount", value, sizeof value, &found, 1));
  EXPECT(found && atoi(value) == length);

  CODE(PMI_ERR_INVALID_KEY, PMI2_Info_PutNodeAttr(NULL, "b"));
  CODE(PMI_ERR_INVALID_KEY_LENGTH, PMI2_Info_PutNodeAttr(many('k', 65), "b"));
  CODE(PMI_ERR_INVALID_VAL, PMI2_Info_PutNodeAttr("a", NULL));
  CODE(PMI_ERR_INVALID_VAL_LENGTH, PMI2_Info_PutNodeAttr("a", many('v', 1025)));
  CODE(PMI_ERR_INVALID_KEY, PMI2_Info_GetNodeAttr(NULL, value, sizeof value, &found, 0));
  CODE(PMI_ERR_INVALID_VAL, PMI2_Info_GetNodeAttr("where", NULL, 10, &found, 0));
  CODE(PMI_ERR_INVALID_VAL_LENGTH, PMI2_Info_GetNodeAttr("where", value, 0, &found, 0));
  CODE(PMI_ERR_INVALID_VAL_LENGTH, PMI2_Info_GetNodeAttr("where", value, 3, &found, 0));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Info_GetNodeAttr("where", value, sizeof value, NULL, 0));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Info_GetNodeAttrIntArray("where", NULL, 4, &length, &found));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Info_GetNodeAttrIntArray("where", array, 4, NULL, &found));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Info_GetNodeAttrIntArray("where", array, 4, &length, NULL));
  CODE(PMI_ERR_INVALID_LENGTH, PMI2_Info_GetNodeAttrIntArray("where", array, 0, &length, &found));
}

static void job_attributes(void)
{
  int array[4];
  OK(PMI2_Info_GetJobAttr("universeSize", value, sizeof value, &found));
  EXPECT(found && atoi(value) == size);
  OK(PMI2_Info_GetJobAttrIntArray("universeSize", array, 4, &length, &found));
  EXPECT(found && length == 1 && array[0] == size);
  OK(PMI2_Info_GetJobAttr("hasNameServ", value, sizeof value, &found));
  EXPECT(found && strcmp(value, "TRUE") == 0);
  OK(PMI2_Info_GetJobAttr("isHeterogeneous", value, sizeof value, &found));
  EXPECT(found && strcmp(value, "FALSE") == 0);
  OK(PMI2_Info_GetJobAttr("PMI_process_mapping", value, sizeof value, &found));
  EXPECT(found && strncmp(value, "(vector,(", 9) == 0);
  CODE(PMI_ERR_INVALID_VAL_LENGTH, PMI2_Info_GetJobAttr("PMI_process_mapping", value, 9, &found));
  OK(PMI2_Info_GetJobAttr("localRanks", value, sizeof value, &found));
  EXPECT(!found);
  OK(PMI2_Info_GetJobAttr("of 0", value, sizeof value, &found)); /* a key is no attribute */
  EXPECT(!found);
  OK(PMI2_Info_GetJobAttrIntArray("cartDims", array, 4, &length, &found));
  EXPECT(!found);
}

static void names(void)
{
  CODE(PMI_ERR_INVALID_ARG, PMI2_Nameserv_publish(NULL, NULL, "port"));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Nameserv_publish("service", NULL, NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Nameserv_lookup(NULL, NULL, value, sizeof value));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Nameserv_lookup("service", NULL, value, 0));
  CODE(PMI_ERR_INVALID_ARG, PMI2_Nameserv_unpublish(NULL, NULL));
  CODE(PMI_FAIL, PMI2_Nameserv_lookup("service", NULL, value, sizeof value));
  OK(PMI2_KVS_Fence());
  if (rank == 0)
    OK(PMI2_Nameserv_publish("service", NULL, "a port"));
  OK(PMI2_KVS_Fence());
  CODE(PMI_FAIL, PMI2_Nameserv_publish("service", NULL, "another"));
  OK(PMI2_Nameserv_lookup("service", NULL, value, 7));
  EXPECT(strcmp(value, "a port") == 0);
  CODE(PMI_ERR_INVALID_LENGTH, PMI2_Nameserv_lookup("service", NULL, value, 6));
  OK(PMI2_KVS_Fence());
  if (rank == size - 1)
    OK(PMI2_Nameserv_unpublish("service", NULL));
  OK(PMI2_KVS_Fence());
  CODE(PMI_FAIL, PMI2_Nameserv_unpublish("service", NULL));
}

static void rings(void)
{
  char left[32], right[32], expected[32];
  int in_ring = -1, ranks = -1;
  for (int round = 0; round < 3; ++round) {
    snprintf(value, sizeof value, "%d in %d", rank, round);
    OK(PMIX_Ring(value, &in_ring, &ranks, left, right, sizeof left));
    EXPECT(in_ring == rank && ranks == size);
    snprintf(expected, sizeof expected, "%d in %d", (rank + size - 1) % size, round);
    EXPECT(strcmp(left, expected) == 0);
    snprintf(expected, sizeof expected, "%d in %d", (rank + 1) % size, round);
    EXPECT(strcmp(right, expected) == 0);
    pass(rank % 3);
  }
  CODE(PMI_ERR_INVALID_ARG, PMIX_Ring(NULL, &number, &number, left, right, sizeof left));
  CODE(PMI_ERR_INVALID_LENGTH, PMIX_Ring("abc", &number, &number, left, right, 3));
}

int main(int argc, char** argv)
{
  outside();
  begin();
  if (argc > 1) {
    if (strcmp(argv[1], "abort") == 0 && rank == 1)
      PMI2_Abort(9, "enough");
    PMI2_Info_GetNodeAttr("nobody's", value, sizeof value, &found, 1);
    return 0;
  }
  the_job();
  exchange();
  bad_keys();
  node_attributes();
  job_attributes();
  names();
  rings();
  OK(PMI2_Finalize());
  outside();
  return 0;
}
