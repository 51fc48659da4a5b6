/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A library that closes its plug-ins in its destructor, as libfabric does. The plug-in needs the library, and the
 * program has closed that: what else keeps it? Each part of this file is one of the three. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(LIBRARY)
void* library_open(const char* plugin);
static void* opened;

void* library_open(const char* plugin)
{
  return opened = dlopen(plugin, RTLD_NOW);
}

__attribute__((destructor)) static void end(void)
{
  static int times;
  if (times++ > 0)
    abort(); /* whoever takes a lock here waits for itself */
  if (opened && dlclose(opened) != 0)
    abort();
  fprintf(stderr, "library\n");
}
#elif defined(PLUGIN)
void* library_open(const char* plugin);
void* plugin_needs(void);

void* plugin_needs(void)
{
  return library_open(NULL);
}

__attribute__((destructor)) static void end(void)
{
  fprintf(stderr, "plug-in\n");
}
#else
int main(int argc, char** argv)
{
  void* library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
  void* (*open)(const char*) = NULL;
  if (library)
    *(void**)&open = dlsym(library, "library_open");
  return !open || !open(argv[2]) || dlclose(library) != 0;
}
#endif
