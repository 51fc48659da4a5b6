/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Every call of PMI-1: what it does among any number of ranks, and what it says of bad arguments. Given "abort", rank 1
 * ends the job. */
#include "tests/preload/pmi_check.h"

static int rank, size, spawned, number;
static char space[256], key[128], value[1100], longer[2048];

static void outside(void) /* before Init, after Finalize */
{
  int is = 7;
  OK(PMI_Initialized(&is));
  EXPECT(is == 0);
  CODE(PMI_ERR_INIT, PMI_Get_size(&number));
  CODE(PMI_ERR_INIT, PMI_Get_rank(&number));
  CODE(PMI_ERR_INIT, PMI_Get_universe_size(&number));
  CODE(PMI_ERR_INIT, PMI_Get_appnum(&number));
  CODE(PMI_ERR_INIT, PMI_Get_clique_size(&number));
  CODE(PMI_ERR_INIT, PMI_Get_clique_ranks(&number, 1));
  CODE(PMI_ERR_INIT, PMI_Get_id(value, sizeof value));
  CODE(PMI_ERR_INIT, PMI_Get_kvs_domain_id(value, sizeof value));
  CODE(PMI_ERR_INIT, PMI_Get_id_length_max(&number));
  CODE(PMI_ERR_INIT, PMI_KVS_Get_my_name(value, sizeof value));
  CODE(PMI_ERR_INIT, PMI_KVS_Get_name_length_max(&number));
  CODE(PMI_ERR_INIT, PMI_KVS_Get_key_length_max(&number));
  CODE(PMI_ERR_INIT, PMI_KVS_Get_value_length_max(&number));
  CODE(PMI_ERR_INIT, PMI_KVS_Create(value, sizeof value));
  CODE(PMI_ERR_INIT, PMI_KVS_Destroy("kvs_umwelt"));
  CODE(PMI_ERR_INIT, PMI_KVS_Put("kvs_umwelt", "key", "value"));
  CODE(PMI_ERR_INIT, PMI_KVS_Commit("kvs_umwelt"));
  CODE(PMI_ERR_INIT, PMI_KVS_Get("kvs_umwelt", "key", value, sizeof value));
  CODE(PMI_ERR_INIT, PMI_KVS_Iter_first("kvs_umwelt", key, sizeof key, value, sizeof value));
  CODE(PMI_ERR_INIT, PMI_KVS_Iter_next("kvs_umwelt", key, sizeof key, value, sizeof value));
  CODE(PMI_ERR_INIT, PMI_Barrier());
  CODE(PMI_ERR_INIT, PMI_Publish_name("service", "port"));
  CODE(PMI_ERR_INIT, PMI_Unpublish_name("service"));
  CODE(PMI_ERR_INIT, PMI_Lookup_name("service", value));
  CODE(PMI_ERR_INIT, PMI_Spawn_multiple(0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL));
  CODE(PMI_ERR_INIT, PMI_Finalize());
}

static void facts(void)
{
  int ranks[64];
  OK(PMI_Get_rank(&rank));
  OK(PMI_Get_size(&size));
  EXPECT(rank == number_of("PMI_RANK") && size == number_of("PMI_SIZE"));
  OK(PMI_Get_universe_size(&number));
  EXPECT(number == size);
  OK(PMI_Get_appnum(&number));
  EXPECT(number == 0);
  OK(PMI_Get_clique_size(&number));
  EXPECT(number == number_of("OMPI_COMM_WORLD_LOCAL_SIZE") && number <= 64);
  CODE(PMI_ERR_INVALID_LENGTH, PMI_Get_clique_ranks(ranks, number - 1));
  OK(PMI_Get_clique_ranks(ranks, number));
  EXPECT(ranks[number_of("OMPI_COMM_WORLD_LOCAL_RANK")] == rank);
  for (int i = 1; i < number; ++i)
    EXPECT(ranks[i] > ranks[i - 1] && ranks[i] < size);

  OK(PMI_KVS_Get_name_length_max(&number));
  EXPECT(number <= (int)sizeof space);
  OK(PMI_KVS_Get_my_name(space, number));
  OK(PMI_KVS_Get_my_name(value, (int)strlen(space) + 1));
  CODE(PMI_ERR_INVALID_LENGTH, PMI_KVS_Get_my_name(value, (int)strlen(space)));
  CODE(PMI_ERR_INVALID_LENGTH, PMI_KVS_Get_my_name(value, -1));
  OK(PMI_Get_id_length_max(&number));
  EXPECT(number <= (int)sizeof value);
  OK(PMI_Get_id(value, number));
  EXPECT(*value);
  OK(PMI_Get_kvs_domain_id(value, number));
  EXPECT(*value);
  CODE(PMI_ERR_INVALID_LENGTH, PMI_Get_id(value, 1));
  CODE(PMI_ERR_INVALID_LENGTH, PMI_Get_kvs_domain_id(value, 1));
  OK(PMI_KVS_Get_key_length_max(&number));
  EXPECT(number == 65);
  OK(PMI_KVS_Get_value_length_max(&number));
  EXPECT(number == 1025);

  CODE(PMI_ERR_INVALID_ARG, PMI_Initialized(NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI_Get_size(NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI_Get_rank(NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI_Get_universe_size(NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI_Get_appnum(NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI_Get_clique_size(NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI_Get_clique_ranks(NULL, 1));
  CODE(PMI_ERR_INVALID_ARG, PMI_Get_id(NULL, 100));
  CODE(PMI_ERR_INVALID_ARG, PMI_Get_kvs_domain_id(NULL, 100));
  CODE(PMI_ERR_INVALID_ARG, PMI_Get_id_length_max(NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI_KVS_Get_my_name(NULL, 100));
  CODE(PMI_ERR_INVALID_ARG, PMI_KVS_Get_name_length_max(NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI_KVS_Get_key_length_max(NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI_KVS_Get_value_length_max(NULL));
}

/* Each rank's keys reach all the others, whatever is in the values. */
static void exchange(void)
{
  const char* pattern = "rank %d = \"of %d\"\n\tcmd=put; and more";
  snprintf(key, sizeof key, "of rank %d", rank);
  snprintf(value, sizeof value, pattern, rank, size);
  OK(PMI_KVS_Put(space, key, value));
  snprintf(key, sizeof key, "empty=%d", rank);
  OK(PMI_KVS_Put(space, key, ""));
  OK(PMI_KVS_Commit(space));
  OK(PMI_Barrier());
  for (int other = 0; other < size; ++other) {
    char expected[100];
    snprintf(key, sizeof key, "of rank %d", other);
    snprintf(expected, sizeof expected, pattern, other, size);
    OK(PMI_KVS_Get(space, key, value, sizeof value));
    EXPECT(strcmp(value, expected) == 0);
    OK(PMI_KVS_Get(space, key, value, (int)strlen(expected) + 1));
    CODE(PMI_ERR_INVALID_LENGTH, PMI_KVS_Get(space, key, value, (int)strlen(expected)));
    snprintf(key, sizeof key, "empty=%d", other);
    OK(PMI_KVS_Get(space, key, value, 1));
    EXPECT(*value == '\0');
  }
  snprintf(key, sizeof key, "of rank %d", size);
  CODE(PMI_ERR_INVALID_KEY, PMI_KVS_Get(space, key, value, sizeof value));
}

/* What is put is the rank's own until it commits; a second value takes the place of the first. */
static void commits(void)
{
  if (rank == 0)
    OK(PMI_KVS_Put(space, "late", "first"));
  OK(PMI_Barrier());
  if (rank != 0)
    CODE(PMI_ERR_INVALID_KEY, PMI_KVS_Get(space, "late", value, sizeof value));
  if (rank == 0) {
    OK(PMI_KVS_Get(space, "late", value, sizeof value));
    EXPECT(strcmp(value, "first") == 0);
    OK(PMI_KVS_Put(space, "late", "second"));
    OK(PMI_KVS_Commit(space));
    OK(PMI_KVS_Put(space, "late", "third"));
  }
  OK(PMI_Barrier());
  OK(PMI_KVS_Get(space, "late", value, sizeof value));
  EXPECT(strcmp(value, rank == 0 ? "third" : "second") == 0);
  OK(PMI_Barrier());
  if (rank == 0)
    OK(PMI_KVS_Commit(space));
  OK(PMI_Barrier());
  OK(PMI_KVS_Get(space, "late", value, sizeof value));
  EXPECT(strcmp(value, "third") == 0);
}

static void bad_keys(void)
{
  const char* no_space[] = {NULL, "", "names", "kvs_", "kvs_of_somebody_else", many('k', 2000)};
  for (size_t i = 0; i < sizeof no_space / sizeof *no_space; ++i) {
    CODE(PMI_ERR_INVALID_KVS, PMI_KVS_Put(no_space[i], "key", "value"));
    CODE(PMI_ERR_INVALID_KVS, PMI_KVS_Get(no_space[i], "key", value, sizeof value));
    CODE(PMI_ERR_INVALID_KVS, PMI_KVS_Iter_first(no_space[i], key, sizeof key, value, sizeof value));
    CODE(PMI_ERR_INVALID_ARG, PMI_KVS_Commit(no_space[i]));
    CODE(PMI_ERR_INVALID_ARG, PMI_KVS_Destroy(no_space[i]));
  }
  CODE(PMI_FAIL, PMI_KVS_Destroy(space));
  CODE(PMI_ERR_INVALID_KEY, PMI_KVS_Put(space, NULL, "value"));
  CODE(PMI_ERR_INVALID_KEY, PMI_KVS_Put(space, "", "value"));
  CODE(PMI_ERR_INVALID_KEY_LENGTH, PMI_KVS_Put(space, many('k', 65), "value"));
  CODE(PMI_ERR_INVALID_VAL, PMI_KVS_Put(space, "refused", NULL));
  CODE(PMI_ERR_INVALID_VAL_LENGTH, PMI_KVS_Put(space, "refused", many('v', 1025)));
  CODE(PMI_ERR_INVALID_KEY, PMI_KVS_Get(space, NULL, value, sizeof value));
  CODE(PMI_ERR_INVALID_KEY_LENGTH, PMI_KVS_Get(space, many('k', 65), value, sizeof value));
  CODE(PMI_ERR_INVALID_VAL, PMI_KVS_Get(space, "late", NULL, 100));
  CODE(PMI_ERR_INVALID_LENGTH, PMI_KVS_Get(space, "late", value, 0));
  CODE(PMI_ERR_INVALID_LENGTH, PMI_KVS_Get(space, "late", value, -1));
  CODE(PMI_ERR_INVALID_KEY, PMI_KVS_Get(space, "refused", value, sizeof value));

  memcpy(longer, many((char)('a' + rank), 64), 65);
  OK(PMI_KVS_Put(space, longer, many('v', 1024)));
  OK(PMI_KVS_Commit(space));
  OK(PMI_Barrier());
  OK(PMI_KVS_Get(space, many((char)('a' + (rank + 1) % size), 64), value, 1025));
  EXPECT(strcmp(value, many('v', 1024)) == 0);
}

/* A space of its own, made by one and used by all. */
static void spaces(void)
{
  char own[256], first[256];
  int of_ranks = 0;
  CODE(PMI_ERR_INVALID_ARG, PMI_KVS_Create(NULL, 256));
  CODE(PMI_ERR_INVALID_LENGTH, PMI_KVS_Create(own, 3));
  OK(PMI_KVS_Create(own, sizeof own)); /* every rank's has a name of its own */
  snprintf(key, sizeof key, "space %d", rank);
  OK(PMI_KVS_Put(space, key, own));
  OK(PMI_KVS_Commit(space));
  OK(PMI_Barrier());
  OK(PMI_KVS_Get(space, "space 0", first, sizeof first));
  EXPECT((strcmp(first, own) == 0) == (rank == 0) && strcmp(first, space) != 0);
  OK(PMI_KVS_Iter_first(own, key, 65, value, 1025));
  EXPECT(*key == '\0');

  snprintf(key, sizeof key, "%d", rank);
  OK(PMI_KVS_Put(first, key, key));
  OK(PMI_KVS_Commit(space)); /* not of that space */
  OK(PMI_Barrier());
  snprintf(key, sizeof key, "%d", (rank + 1) % size);
  if (size > 1)
    CODE(PMI_ERR_INVALID_KEY, PMI_KVS_Get(first, key, value, sizeof value));
  OK(PMI_Barrier());
  OK(PMI_KVS_Commit(first));
  OK(PMI_Barrier());
  for (int code = PMI_KVS_Iter_first(first, key, 65, value, 1025); *key;
       code = PMI_KVS_Iter_next(first, key, 65, value, 1025), ++of_ranks) {
    EXPECT(code == PMI_SUCCESS && strcmp(key, value) == 0);
    of_ranks += 1000 * atoi(key);
  }
  EXPECT(of_ranks == size + 1000 * (size * (size - 1) / 2));
  CODE(PMI_ERR_INVALID_KEY, PMI_KVS_Iter_first(first, NULL, 65, value, 1025));
  CODE(PMI_ERR_INVALID_KEY_LENGTH, PMI_KVS_Iter_first(first, key, 64, value, 1025));
  CODE(PMI_ERR_INVALID_VAL, PMI_KVS_Iter_first(first, key, 65, NULL, 1025));
  CODE(PMI_ERR_INVALID_VAL_LENGTH, PMI_KVS_Iter_first(first, key, 65, value, 1024));

  OK(PMI_Barrier());
  OK(PMI_KVS_Destroy(own));
  CODE(PMI_ERR_INVALID_ARG, PMI_KVS_Destroy(own));
  OK(PMI_Barrier());
  CODE(PMI_ERR_INVALID_KVS, PMI_KVS_Get(first, "0", value, sizeof value));
  CODE(PMI_ERR_INVALID_KVS, PMI_KVS_Put(first, "0", "0"));
  CODE(PMI_ERR_INVALID_ARG, PMI_KVS_Commit(first));
  CODE(PMI_ERR_INVALID_KVS, PMI_KVS_Iter_next(first, key, 65, value, 1025));
}

static void names(void)
{
  CODE(PMI_ERR_INVALID_ARG, PMI_Publish_name(NULL, "port"));
  CODE(PMI_ERR_INVALID_ARG, PMI_Publish_name("", "port"));
  CODE(PMI_ERR_INVALID_ARG, PMI_Publish_name("service", NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI_Publish_name("service", many('p', 1025)));
  CODE(PMI_ERR_INVALID_ARG, PMI_Lookup_name(NULL, value));
  CODE(PMI_ERR_INVALID_ARG, PMI_Lookup_name("service", NULL));
  CODE(PMI_ERR_INVALID_ARG, PMI_Unpublish_name(NULL));
  CODE(PMI_FAIL, PMI_Lookup_name("service", value));
  CODE(PMI_FAIL, PMI_Unpublish_name("service"));
  OK(PMI_Barrier());
  if (rank == size - 1) {
    OK(PMI_Publish_name("service", "a port"));
    CODE(PMI_FAIL, PMI_Publish_name("service", "another"));
  }
  OK(PMI_Barrier());
  OK(PMI_Lookup_name("service", value));
  EXPECT(strcmp(value, "a port") == 0);
  OK(PMI_Barrier());
  if (rank == 0)
    OK(PMI_Unpublish_name("service"));
  OK(PMI_Barrier());
  CODE(PMI_FAIL, PMI_Lookup_name("service", value));
}

static void refused(void)
{
  const char* commands[2] = {"a", "b"};
  const int processes[2] = {1, 1};
  int errors[2] = {0, 0};
  CODE(PMI_ERR_INVALID_ARG, PMI_Spawn_multiple(1, NULL, NULL, processes, NULL, NULL, 0, NULL, errors));
  CODE(PMI_FAIL, PMI_Spawn_multiple(2, commands, NULL, processes, NULL, NULL, 0, NULL, errors));
  EXPECT(errors[0] == PMI_FAIL && errors[1] == PMI_FAIL);
  CODE(PMI_FAIL, PMI_Spawn_multiple(2, commands, NULL, processes, NULL, NULL, 0, NULL, NULL));
}

static void options(void)
{
  char first[] = "program", second[] = "-n";
  char* arguments[] = {first, second, NULL};
  PMI_keyval_t one;
  PMI_keyval_t* pairs = &one;
  int parsed = 7, count = 2, length = sizeof value;
  number = 7;
  CODE(PMI_ERR_INVALID_NUM_ARGS, PMI_Parse_option(0, arguments, &parsed, &pairs, &number));
  CODE(PMI_ERR_INVALID_ARGS, PMI_Parse_option(2, NULL, &parsed, &pairs, &number));
  CODE(PMI_ERR_INVALID_NUM_PARSED, PMI_Parse_option(2, arguments, NULL, &pairs, &number));
  CODE(PMI_ERR_INVALID_KEYVALP, PMI_Parse_option(2, arguments, &parsed, NULL, &number));
  CODE(PMI_ERR_INVALID_SIZE, PMI_Parse_option(2, arguments, &parsed, &pairs, NULL));
  OK(PMI_Parse_option(2, arguments, &parsed, &pairs, &number));
  EXPECT(parsed == 0 && number == 0 && !pairs);
  OK(PMI_Free_keyvals(pairs, number));
  number = 7;
  CODE(PMI_ERR_INVALID_ARG, PMI_Args_to_keyval(NULL, &arguments, &pairs, &number));
  OK(PMI_Args_to_keyval(&count, &arguments, &pairs, &number));
  EXPECT(count == 2 && number == 0 && !pairs && arguments[1] == second);
  CODE(PMI_ERR_INVALID_ARG, PMI_Free_keyvals(NULL, 1));
  OK(PMI_Get_options(value, &length));
  EXPECT(*value == '\0');
  CODE(PMI_ERR_INVALID_ARG, PMI_Get_options(NULL, &length));
  length = 0;
  CODE(PMI_ERR_INVALID_LENGTH, PMI_Get_options(value, &length));
}

int main(int argc, char** argv)
{
  outside();
  CODE(PMI_ERR_INVALID_ARG, PMI_Init(NULL));
  spawned = 7;
  OK(PMI_Init(&spawned));
  EXPECT(spawned == 0);
  int is = 0;
  OK(PMI_Initialized(&is));
  EXPECT(is == 1);
  OK(PMI_Init(&spawned));
  facts();
  if (argc > 1 && strcmp(argv[1], "abort") == 0) {
    if (rank == 1)
      PMI_Abort(9, "enough");
    PMI_Barrier();
    return 0;
  }
  CODE(PMI_FAIL, PMI_KVS_Iter_next(space, key, 65, value, 1025)); /* no iteration has begun */
  exchange();
  commits();
  bad_keys();
  spaces();
  names();
  refused();
  options();

  /* a barrier takes time, all of it after the last has come; so does a question */
  OK(PMI_Barrier());
  const double begin = now();
  if (rank == 0)
    pass(3);
  OK(PMI_Barrier());
  EXPECT(now() - begin > 3e-3 + 100e-6);
  const double before = now();
  OK(PMI_KVS_Get(space, "late", value, sizeof value));
  EXPECT(now() - before > 1e-6);
  OK(PMI_Finalize());
  outside();
  OK(PMI_Init(&spawned));
  OK(PMI_KVS_Get(space, "late", value, sizeof value));
  OK(PMI_Finalize());
  return 0;
}
