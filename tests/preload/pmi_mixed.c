/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Ranks of one job that find each other in different ways: lines on PMI_FD, calls of PMI-1, of PMI-2, of PMIx. All meet
 * in the same barrier and all see what the others have put; lines on PMI_FD do not see what was put with PMIx. */
#include "tests/preload/pmi_check.h"

#include <pmix.h>
#include <unistd.h>

enum way { LINES, CALLS, CALLS_2, PMIX };
static int rank, size;
static pmix_proc_t self;

static enum way way_of(int who)
{
  return (enum way)(who % 4);
}

/* PMIx 5 has functions for these two that only the real library has. */
static pmix_proc_t of_job(pmix_rank_t who)
{
  pmix_proc_t proc = self;
  proc.rank = who;
  return proc;
}

static void release(pmix_value_t* value)
{
  PMIx_Value_destruct(value);
  free(value);
}

static const char* ask(const char* request)
{
  static char answer[2048];
  const int fd = number_of("PMI_FD");
  EXPECT(write(fd, request, strlen(request)) == (ssize_t)strlen(request));
  size_t got = 0;
  do
    EXPECT(got + 1 < sizeof answer && read(fd, answer + got, 1) == 1);
  while (answer[got++] != '\n');
  answer[got - 1] = '\0';
  return answer;
}

static void begin(void)
{
  int spawned, number;
  switch (way_of(rank)) {
  case LINES:
    EXPECT(strstr(ask("cmd=init pmi_version=1 pmi_subversion=1\n"), "rc=0"));
    break;
  case CALLS:
    OK(PMI_Init(&spawned));
    break;
  case CALLS_2:
    OK(PMI2_Init(&spawned, &number, &number, &number));
    break;
  case PMIX:
    EXPECT(PMIx_Init(&self, NULL, 0) == PMIX_SUCCESS && self.rank == (pmix_rank_t)rank);
    break;
  }
}

static void put(const char* key, const char* text)
{
  char line[512];
  pmix_value_t value = {.type = PMIX_STRING, .data.string = line};
  switch (way_of(rank)) {
  case LINES:
    snprintf(line, sizeof line, "cmd=put kvsname=kvs_umwelt key=%s value=%s\n", key, text);
    EXPECT(strstr(ask(line), "rc=0"));
    break;
  case CALLS:
    OK(PMI_KVS_Put("kvs_umwelt", key, text));
    OK(PMI_KVS_Commit("kvs_umwelt"));
    break;
  case CALLS_2:
    OK(PMI2_KVS_Put(key, text));
    break;
  case PMIX:
    snprintf(line, sizeof line, "%s", text);
    EXPECT(PMIx_Put(PMIX_GLOBAL, key, &value) == PMIX_SUCCESS);
    EXPECT(PMIx_Commit() == PMIX_SUCCESS);
    break;
  }
}

static void meet(void)
{
  switch (way_of(rank)) {
  case LINES:
    EXPECT(strncmp(ask("cmd=barrier_in\n"), "cmd=barrier_out", 15) == 0);
    break;
  case CALLS:
    OK(PMI_Barrier());
    break;
  case CALLS_2:
    OK(PMI2_KVS_Fence());
    break;
  case PMIX:
    EXPECT(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
    break;
  }
}

/* False: there is no such key. */
static bool get(const char* key, char* text, int room)
{
  char line[512];
  int length;
  pmix_proc_t whose;
  pmix_value_t* value;
  switch (way_of(rank)) {
  case LINES:
    snprintf(line, sizeof line, "cmd=get kvsname=kvs_umwelt key=%s\n", key);
    const char* answer = ask(line);
    snprintf(text, (size_t)room, "%s", strstr(answer, " value=") + 7);
    return strstr(answer, "rc=0") != NULL;
  case CALLS:
    return PMI_KVS_Get("kvs_umwelt", key, text, room) == PMI_SUCCESS;
  case CALLS_2:
    return PMI2_KVS_Get(NULL, -1, key, text, room, &length) == PMI_SUCCESS;
  case PMIX:
    whose = of_job(PMIX_RANK_UNDEF);
    if (PMIx_Get(&whose, key, NULL, 0, &value) != PMIX_SUCCESS)
      return false;
    EXPECT(value->type == PMIX_STRING);
    snprintf(text, (size_t)room, "%s", value->data.string);
    release(value);
    return true;
  }
  return false;
}

/* What OpenSHMEM libraries ask PMIx about the job. */
static void facts_of_pmix(void)
{
  const struct {
    const char* key;
    uint32_t expected;
  } numbers[] = {{PMIX_JOB_SIZE, (uint32_t)size},
                 {PMIX_UNIV_SIZE, (uint32_t)size},
                 {PMIX_LOCAL_SIZE, (uint32_t)number_of("OMPI_COMM_WORLD_LOCAL_SIZE")}};
  pmix_proc_t whole;
  pmix_value_t* value;
  whole = of_job(PMIX_RANK_WILDCARD);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    EXPECT(PMIx_Get(&whole, numbers[i].key, NULL, 0, &value) == PMIX_SUCCESS);
    EXPECT(value->type == PMIX_UINT32 && value->data.uint32 == numbers[i].expected);
    release(value);
  }
  EXPECT(PMIx_Get(&whole, PMIX_LOCAL_PEERS, NULL, 0, &value) == PMIX_SUCCESS && value->type == PMIX_STRING);
  int place = 0, peers = 0;
  for (const char* next = value->data.string; *next; next += *next == ',', ++peers) {
    char* end;
    if (strtol(next, &end, 10) == rank)
      place = peers;
    next = end;
  }
  EXPECT(peers == number_of("OMPI_COMM_WORLD_LOCAL_SIZE") && place == number_of("OMPI_COMM_WORLD_LOCAL_RANK"));
  release(value);
  /* keys of the job are no rank's */
  whole = of_job(PMIX_RANK_WILDCARD);
  EXPECT(PMIx_Get(&whole, "from_0", NULL, 0, &value) == PMIX_SUCCESS);
  release(value);
  whole = of_job(0);
  EXPECT(PMIx_Get(&whole, "no_such",
                  &(pmix_info_t){.key = PMIX_OPTIONAL, .value = {.type = PMIX_BOOL, .data.flag = true}}, 1,
                  &value) == PMIX_ERR_NOT_FOUND);
}

static void end(void)
{
  switch (way_of(rank)) {
  case LINES:
    EXPECT(strncmp(ask("cmd=finalize\n"), "cmd=finalize_ack", 16) == 0);
    break;
  case CALLS:
    OK(PMI_Finalize());
    break;
  case CALLS_2:
    OK(PMI2_Finalize());
    break;
  case PMIX:
    EXPECT(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS);
    break;
  }
}

int main(void)
{
  char key[64], text[256], expected[256];
  rank = number_of("PMI_RANK");
  size = number_of("PMI_SIZE");
  begin();
  snprintf(key, sizeof key, "from_%d", rank);
  snprintf(text, sizeof text, "value_of_%d", rank);
  put(key, text);
  meet();
  for (int other = 0; other < size; ++other) {
    snprintf(key, sizeof key, "from_%d", other);
    snprintf(expected, sizeof expected, "value_of_%d", other);
    if (way_of(rank) == LINES && way_of(other) == PMIX)
      EXPECT(!get(key, text, sizeof text));
    else
      EXPECT(get(key, text, sizeof text) && strcmp(text, expected) == 0);
  }
  EXPECT(!get("of_nobody", text, sizeof text));
  EXPECT(get("PMI_process_mapping", text, sizeof text) && strncmp(text, "(vector,(", 9) == 0);
  if (way_of(rank) == PMIX)
    facts_of_pmix();

  /* several ways in one rank */
  int spawned;
  OK(PMI_Init(&spawned));
  OK(PMI_KVS_Get("kvs_umwelt", "from_0", text, sizeof text));
  EXPECT(strcmp(text, "value_of_0") == 0);
  meet();
  if (way_of(rank) != CALLS)
    OK(PMI_Finalize());
  end();
  return 0;
}
