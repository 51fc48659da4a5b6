/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * dlopen inside a namespace. Four things differ from a process of one's own:
 *  - ld.so 2.36 crashes on RTLD_GLOBAL in a secondary namespace (glibc bug 18684), so the flag is dropped. Libraries opened
 *    with it are remembered; when a later library needs a symbol that only they define, both are opened through
 *    a generated stub that needs first the new library, then those: the stub's search list becomes part of the scope of
 *    everything it brings in, which is what RTLD_GLOBAL would have achieved.
 *  - ld.so takes the caller for the shim, so the caller's own DT_RUNPATH or DT_RPATH is searched here.
 *  - without a name ld.so opens the runtime's executable, the program of the process.
 *  - all namespaces share one loader lock: a constructor that waits in simulated time while holding it must not stop
 *    another rank for good, so ranks queue for it in the simulation.
 */
#include "preload/elf_view.h"
#include "preload/shim.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct promoted { /* opened with RTLD_GLOBAL */
  void* handle;
  char* path;
};
static struct promoted* promoted;
static int promoted_count;

static struct link_map* object_of(const void* address)
{
  Dl_info info;
  struct link_map* object = NULL;
  return dladdr1(address, &info, (void**)&object, RTLD_DL_LINKMAP) ? object : NULL;
}

static bool is_program(const struct link_map* object)
{
  return object->l_prev && !object->l_prev->l_prev;
}

/* One element of a search path with $ORIGIN replaced, plus "/file"; false if it does not fit. */
static bool expand(const char* element, size_t length, const struct link_map* object, const char* file, char* result)
{
  const char* self = is_program(object) ? umw_gate->program : object->l_name;
  const char* slash = strrchr(self, '/');
  const int origin = slash ? (int)(slash - self) : 0;
  char head[PATH_MAX];
  if (length >= sizeof head)
    return false;
  memcpy(head, element, length);
  head[length] = '\0';
  static const char* const names[] = {"${ORIGIN}", "$ORIGIN"};
  for (int i = 0; i < 2; ++i)
    if (strncmp(head, names[i], strlen(names[i])) == 0)
      return snprintf(result, PATH_MAX, "%.*s%s/%s", origin, self, head + strlen(names[i]), file) < PATH_MAX;
  return snprintf(result, PATH_MAX, "%s/%s", head, file) < PATH_MAX;
}

/* `file` as the caller's run path resolves it, or `file` itself. */
static const char* resolve(const char* file, const void* caller, char* buffer)
{
  const struct link_map* object = object_of(caller);
  if (strchr(file, '/') || !object)
    return file;
  const ElfW(Dyn)* path = umw_dynamic(object, DT_RUNPATH);
  if (!path)
    path = umw_dynamic(object, DT_RPATH);
  const char* names = umw_dynamic_address(object, DT_STRTAB);
  if (!path || !names)
    return file;
  for (const char* element = names + path->d_un.d_val; *element;) {
    const size_t length = strcspn(element, ":");
    if (expand(element, length, object, file, buffer) && access(buffer, R_OK) == 0)
      return buffer;
    element += length + (element[length] == ':');
  }
  return file;
}

/* Marks in `wanted` the promoted libraries that define a symbol which the file at `path` leaves open and the global scope
 * does not have. True if there is one. */
static bool needs_promoted(const char* path, bool* wanted)
{
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  bool found = false;
  if (fd < 0)
    return false;
  if (fstat(fd, &status) == 0 && (size_t)status.st_size > sizeof(ElfW(Ehdr))) {
    const size_t size = (size_t)status.st_size;
    const char* image = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (image != MAP_FAILED) {
      const ElfW(Ehdr)* header = (const ElfW(Ehdr)*)image;
      const ElfW(Shdr)* sections = (const ElfW(Shdr)*)(image + header->e_shoff);
      const bool readable = memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                            header->e_shoff + (size_t)header->e_shnum * sizeof *sections <= size;
      for (unsigned s = 0; readable && s < header->e_shnum; ++s) {
        if (sections[s].sh_type != SHT_DYNSYM || sections[s].sh_link >= header->e_shnum)
          continue;
        const ElfW(Shdr)* strings = &sections[sections[s].sh_link];
        if (sections[s].sh_offset + sections[s].sh_size > size || strings->sh_offset + strings->sh_size > size)
          continue;
        const ElfW(Sym)* symbols = (const ElfW(Sym)*)(image + sections[s].sh_offset);
        for (size_t i = 1; i < sections[s].sh_size / sizeof *symbols; ++i) {
          if (symbols[i].st_shndx != SHN_UNDEF || symbols[i].st_name >= strings->sh_size ||
              ELF64_ST_BIND(symbols[i].st_info) == STB_WEAK)
            continue;
          const char* name = image + strings->sh_offset + symbols[i].st_name;
          if (*name == '\0' || dlsym(RTLD_DEFAULT, name))
            continue;
          for (int p = 0; p < promoted_count; ++p)
            if (dlsym(promoted[p].handle, name)) {
              wanted[p] = found = true;
              break;
            }
        }
      }
      munmap((void*)image, size);
    }
  }
  close(fd);
  dlerror(); /* failed look-ups must not show up as the program's error */
  return found;
}

static void* open_with_promoted(const char* path, int flags, const bool* wanted)
{
  const char* needed[promoted_count + 1];
  char stub[PATH_MAX];
  int count = 0;
  needed[count++] = path;
  for (int p = 0; p < promoted_count; ++p)
    if (wanted[p])
      needed[count++] = promoted[p].path;
  if (umw_stub_create(needed, count, stub, sizeof stub) < 0)
    return NULL;
  void* group = UMW_REAL(dlopen)(stub, flags);
  umw_stub_remove(stub);
  return group ? UMW_REAL(dlopen)(path, flags | RTLD_NOLOAD) : NULL;
}

static void promote(void* handle)
{
  struct link_map* object = NULL;
  for (int p = 0; p < promoted_count; ++p)
    if (promoted[p].handle == handle)
      return;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &object) != 0 || !object->l_name || !*object->l_name)
    return;
  struct promoted* grown = realloc(promoted, sizeof *promoted * (size_t)(promoted_count + 1));
  if (!grown)
    return;
  promoted = grown;
  promoted[promoted_count].handle = handle;
  promoted[promoted_count].path = strdup(object->l_name);
  promoted_count += promoted[promoted_count].path != NULL;
}

/* Forgets libraries that are no longer loaded. */
static void review_promoted(void)
{
  int kept = 0;
  for (int p = 0; p < promoted_count; ++p) {
    void* handle = UMW_REAL(dlopen)(promoted[p].path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) {
      UMW_REAL(dlclose)(handle);
      promoted[kept++] = promoted[p];
    } else {
      free(promoted[p].path);
    }
  }
  promoted_count = kept;
  dlerror();
}

UMW_PUBLIC int dlclose(void* handle)
{
  if (!umw_gate)
    return UMW_REAL(dlclose)(handle);
  umw_loader_lock(1);
  const int status = UMW_REAL(dlclose)(handle);
  if (status == 0)
    review_promoted();
  umw_loader_lock(0);
  return status;
}

UMW_PUBLIC void* dlopen(const char* file, int flags)
{
  if (!umw_gate)
    return UMW_REAL(dlopen)(file, flags);
  char buffer[PATH_MAX];
  /* dlopen(3): the program and what was loaded with it; all that the stub needs */
  const bool global = !file || !*file;
  const char* path = global ? umw_first_object()->l_name : resolve(file, __builtin_return_address(0), buffer);
  const int local = flags & ~RTLD_GLOBAL;
  umw_loader_lock(1);
  void* handle = UMW_REAL(dlopen)(path, local | RTLD_NOLOAD);
  if (!handle && !(flags & RTLD_NOLOAD)) {
    dlerror();
    bool wanted[promoted_count + 1];
    memset(wanted, 0, sizeof wanted);
    if (promoted_count > 0 && strchr(path, '/') && needs_promoted(path, wanted))
      handle = open_with_promoted(path, local, wanted);
    else
      handle = UMW_REAL(dlopen)(path, local);
  }
  if (handle && (flags & RTLD_GLOBAL) && !global)
    promote(handle);
  umw_loader_lock(0);
  return handle;
}

void* umw_symbol_of(const char* library, const char* name)
{
  void* symbol = dlsym(RTLD_NEXT, name);
  for (const struct link_map* object = umw_first_object(); object && !symbol; object = object->l_next) {
    const char* slash = strrchr(object->l_name, '/');
    if (!slash || strncmp(slash + 1, library, strlen(library)) != 0)
      continue;
    void* handle = UMW_REAL(dlopen)(object->l_name, RTLD_NOW | RTLD_NOLOAD);
    if (handle) {
      symbol = dlsym(handle, name);
      UMW_REAL(dlclose)(handle);
    }
  }
  return symbol;
}
