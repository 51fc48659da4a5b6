/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv)
{
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!plugin)
    return 2;
  unsigned long (*sum)(unsigned long);
  *(void**)&sum = dlsym(plugin, "plugin_sum");
  printf("%lu\n", sum(1 << 20));
  return 0;
}
