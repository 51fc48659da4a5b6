/* SPDX-License-Identifier: LGPL-2.1-or-later
 * world_plugin PROVIDER USER: opens a plug-in with RTLD_GLOBAL, then one that finds a symbol of the first and one of
 * the program; data of a plug-in is each rank's own; closing runs the destructors. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "check.h"

int from_program(int x)
{
  return x + 1;
} /* used by the plug-in: the program is linked with -rdynamic */

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  if (argc != 3) {
    say("usage: world_plugin PROVIDER USER");
    return finish() + 2;
  }
  void* missing = dlopen("/nonexistent/plugin.so", RTLD_NOW);
  CHECK(missing == NULL);
  CHECK(dlerror() != NULL);

  void* provider = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  void* user = provider != NULL ? dlopen(argv[2], RTLD_LAZY | RTLD_LOCAL) : NULL;
  CHECK(provider != NULL && user != NULL);
  if (user == NULL) {
    say("%s", dlerror());
    return finish();
  }
  int (*use)(int) = (int (*)(int))dlsym(user, "use");
  int* state = (int*)dlsym(provider, "provider_state");
  CHECK(use != NULL && state != NULL);
  CHECK(dlsym(RTLD_DEFAULT, "MPI_Init") == (void*)MPI_Init);
  CHECK(dlsym(user, "not_there") == NULL);
  *state = 100 * world_rank;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i <= 3; ++i) {
    CHECK_EQ(use(5), 100 * world_rank + i + 6); /* state + calls + from_program(5) */
  }
  CHECK(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == provider);
  dlclose(provider);
  Dl_info info;
  CHECK(dladdr((void*)use, &info) != 0 && strcmp(info.dli_sname, "use") == 0);
  CHECK_EQ(dlclose(user), 0);
  return finish();
}
