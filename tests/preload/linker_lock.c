/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Usage: linker_lock PLUGIN
 * ld.so's lock is held while the constructor of a library waits; what other threads ask of ld.so comes afterwards. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

/* The plugin's constructor uses them. */
sem_t constructor_began;
int constructor_ended;

static void* open_plugin(void* name)
{
  void* plugin = dlopen(name, RTLD_NOW);
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return plugin;
}

static const char* order(void)
{
  return __atomic_load_n(&constructor_ended, __ATOMIC_ACQUIRE) ? "after" : "before";
}

static void* look_up(void* nothing)
{
  (void)nothing;
  if (!dlsym(RTLD_DEFAULT, "puts"))
    exit(1);
  printf("dlsym comes back %s the constructor\n", order());
  return NULL;
}

int main(int argc, char** argv)
{
  pthread_t opener, other;
  if (argc != 2)
    return 2;
  sem_init(&constructor_began, 0, 0);
  pthread_create(&opener, NULL, open_plugin, argv[1]);
  sem_wait(&constructor_began);
  printf("main is on its way %s the constructor has ended\n", order());
  pthread_create(&other, NULL, look_up, NULL);
  pthread_join(other, NULL);
  void* plugin;
  pthread_join(opener, &plugin);
  printf("dlclose: %d\n", dlclose(plugin));
  return 0;
}
