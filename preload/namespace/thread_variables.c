/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Thread-local variables in a dlmopen namespace (psABI x86-64, "Thread-Local Storage").
 *
 * Code of an executable reaches its own by fixed negative offsets from %fs (local-exec model): the block of module 1
 * ends at %fs. In this process module 1 is the runtime's executable, which keeps an unused array at the end of its
 * block for this purpose (loader/tls_reserve.h). Libraries that name a variable of the program find it by its module:
 * its entry in the thread's table leads there, too. The image is copied after relocation, since initial values may be
 * addresses. */
#include "preload/namespace/elf_view.h"
#include "preload/namespace/namespace.h"
#include "preload/thread_head.h"

#include <string.h>

static struct {
  const void* image;
  size_t file_bytes, bytes, room;
  size_t module;
} variables;
static bool looked;

static int find_variables(struct dl_phdr_info* object, size_t size, void* program)
{
  (void)size;
  if (object->dlpi_addr != ((const struct link_map*)program)->l_addr)
    return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_TLS)
      continue;
    const size_t align = segment->p_align ? segment->p_align : 1;
    variables.image = (const char*)object->dlpi_addr + segment->p_vaddr;
    variables.file_bytes = segment->p_filesz;
    variables.bytes = segment->p_memsz;
    variables.room = (segment->p_memsz + align - 1) & ~(align - 1);
    variables.module = object->dlpi_tls_modid;
  }
  return 1;
}

void umw_load_program_tls(void* thread_pointer)
{
  if (!looked) {
    UMW_REAL(dl_iterate_phdr)(find_variables, umw_first_object()->l_next);
    looked = true;
  }
  if (variables.bytes == 0)
    return;
  char* const block = (char*)thread_pointer - variables.room;
  memcpy(block, variables.image, variables.file_bytes);
  memset(block + variables.file_bytes, 0, variables.bytes - variables.file_bytes);
  union umw_dtv* const modules = ((struct umw_thread_head*)thread_pointer)->modules;
  if (variables.module <= modules[-1].count) {
    modules[variables.module].module.variables = block;
    modules[variables.module].module.to_free = NULL;
  }
}

static int renew(struct dl_phdr_info* object, size_t size, void* thread_pointer)
{
  (void)size;
  const union umw_dtv* const modules = ((const struct umw_thread_head*)thread_pointer)->modules;
  void* self;
  __asm__("mov %%fs:0, %0" : "=r"(self));
  const char* const of_c_library = (const char*)&errno - (const char*)self + (const char*)thread_pointer;
  if (object->dlpi_addr == umw_first_object()->l_next->l_addr || object->dlpi_tls_modid > modules[-1].count)
    return 0;
  for (int i = 0; object->dlpi_tls_modid != 0 && i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const segment = &object->dlpi_phdr[i];
    char* const block = modules[object->dlpi_tls_modid].module.variables;
    if (segment->p_type != PT_TLS || !block || block == (char*)-1 /* not made yet */ ||
        (of_c_library >= block && of_c_library < block + segment->p_memsz))
      continue;
    memcpy(block, (const char*)object->dlpi_addr + segment->p_vaddr, segment->p_filesz);
    memset(block + segment->p_filesz, 0, segment->p_memsz - segment->p_filesz);
  }
  return 0;
}

void umw_renew_variables(void* thread_pointer)
{
  UMW_REAL(dl_iterate_phdr)(renew, thread_pointer);
  umw_load_program_tls(thread_pointer);
}
