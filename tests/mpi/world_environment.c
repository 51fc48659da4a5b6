/* SPDX-License-Identifier: LGPL-2.1-or-later
 * How a program sees itself: arguments, environment, working directory, its own file, host name, process ids. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "check.h"

extern char** environ;

int main(int argc, char** argv)
{
  CHECK(argc > 0 && argv[argc] == NULL);
  begin(&argc, &argv);
  say("%d arguments", argc - 1);
  for (int i = 1; i < argc; ++i) {
    say("argument %d: '%s'", i, argv[i]);
  }
  say("UMWELT_TEST_GIVEN=%s", getenv("UMWELT_TEST_GIVEN") ? getenv("UMWELT_TEST_GIVEN") : "(unset)");
  CHECK(getenv("PATH") != NULL);
  int variables = 0, malformed = 0;
  for (; environ[variables] != NULL; ++variables) {
    malformed += strchr(environ[variables], '=') == NULL;
  }
  CHECK(variables > 5);
  CHECK_EQ(malformed, 0);

  char path[PATH_MAX], itself[PATH_MAX], given[PATH_MAX];
  CHECK(getcwd(path, sizeof path) != NULL);
  say("working directory %s", path);
  const ssize_t length = readlink("/proc/self/exe", itself, sizeof itself - 1);
  CHECK(length > 0);
  itself[length > 0 ? length : 0] = '\0';
  CHECK(realpath(argv[0], given) != NULL);
  CHECK(strcmp(given, itself) == 0);
  say("program %s", strrchr(itself, '/') + 1);
  unsigned char magic[4] = {0};
  FILE* file = fopen("/proc/self/exe", "rb");
  CHECK(file != NULL && fread(magic, 1, 4, file) == 4 && memcmp(magic, "\177ELF", 4) == 0);
  if (file != NULL) {
    fclose(file);
  }
  CHECK(program_invocation_short_name != NULL && strcmp(program_invocation_short_name, strrchr(itself, '/') + 1) == 0);

  char host[256] = "", processor[MPI_MAX_PROCESSOR_NAME] = "";
  int processor_length = 0;
  CHECK_EQ(gethostname(host, sizeof host), 0);
  MPI_Get_processor_name(processor, &processor_length);
  CHECK(strcmp(host, processor) == 0);
  CHECK_EQ((int)strlen(processor), processor_length);

  const long mine = getpid();
  CHECK(mine > 0 && getppid() > 0 && getppid() != mine);
  long* all = malloc(world_size * sizeof *all);
  MPI_Allgather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD);
  for (int r = 0; r < world_size; ++r) {
    CHECK(r == world_rank || all[r] != mine);
  }
  free(all);
  return finish();
}
