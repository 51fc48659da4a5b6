/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What a program sees of how it was loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

extern const ElfW(Ehdr) __executable_start;

static int first_name(struct dl_phdr_info* info, size_t size, void* argument)
{
  (void)size;
  printf("first object '%s', %d program headers\n", info->dlpi_name, info->dlpi_phnum);
  *(const void**)argument = info->dlpi_phdr;
  return 1;
}

static void names(const char* argv0)
{
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  Dl_info info;
  printf("executable ends in %.12s\n", length > 12 ? path + length - 12 : "?");
  printf("names: %d %s\n", strcmp(program_invocation_name, argv0), program_invocation_short_name);
  const bool found = dladdr(&__executable_start, &info) != 0;
  printf("dladdr: %d %d\n", found && info.dli_fbase == &__executable_start,
         found && strcmp(info.dli_fname, argv0) == 0);
}

static void auxiliary_vector(void)
{
  const void* headers = NULL;
  dl_iterate_phdr(first_name, &headers);
  const ElfW(Ehdr)* header = &__executable_start;
  printf("headers %d, %d; entry %d; linker %d; page %lu, secure %lu\n", getauxval(AT_PHDR) == (unsigned long)headers,
         getauxval(AT_PHNUM) == header->e_phnum, getauxval(AT_ENTRY) - (unsigned long)header == header->e_entry,
         getauxval(AT_BASE) != 0, getauxval(AT_PAGESZ), getauxval(AT_SECURE));
}

static void stack(void)
{
  pthread_attr_t attributes;
  void* bottom = NULL;
  size_t size = 0;
  const int error = pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &bottom, &size);
  const char* here = (const char*)&attributes;
  printf("stack: %d, on it %d\n", error, here >= (char*)bottom && here < (char*)bottom + size);
}

static void handles(void)
{
  void* self = dlopen(NULL, RTLD_NOW);
  struct link_map* map = NULL;
  const int error = dlinfo(self, RTLD_DI_LINKMAP, &map);
  printf("own handle: %d, name '%s'\n", error, map ? map->l_name : "none");
  printf("before: %d %d\n", dlsym(RTLD_DEFAULT, "crypt") != NULL, dlsym(self, "crypt") != NULL);
  void* library = dlopen("libcrypt.so.1", RTLD_NOW | RTLD_GLOBAL);
  printf("after RTLD_GLOBAL: %d %d %d\n", library != NULL, dlsym(RTLD_DEFAULT, "crypt") != NULL,
         dlsym(self, "crypt") != NULL);
  printf("absent: %d\n", dlopen("libabsent.so", RTLD_NOW) == NULL && strstr(dlerror(), "cannot open shared") != NULL);
}

static void the_break(void)
{
  const int size = 100000;
  char* begin = sbrk(0);
  const bool grown = sbrk(size) == begin && sbrk(0) == begin + size;
  memset(begin, 1, (size_t)size);
  const bool shrunk = sbrk(-size) == begin + size && sbrk(0) == begin;
  const bool set = brk(begin + 1) == 0 && sbrk(0) == begin + 1;
  printf("break: %d %d %d\n", grown, shrunk, set);
}

int main(int argc, char** argv)
{
  (void)argc;
  names(argv[0]);
  auxiliary_vector();
  stack();
  handles();
  the_break();
  return 0;
}
