/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The program's own thread-local variables. Code of an executable reaches them by fixed negative offsets from %fs (local-exec
 * model, psABI "Thread-Local Storage"): the block of TLS module 1 ends at %fs. In this process module 1 is the runtime's
 * executable, which keeps a large unused array at the end of its block for this purpose (loader/tls_reserve). The image
 * is copied after relocation, since initial values may be addresses.
 */
#include "preload/elf_view.h"
#include "preload/shim.h"

#include <string.h>

static char* thread_pointer(void)
{
  char* self;
  __asm__("mov %%fs:0, %0" : "=r"(self)); /* the TCB's first word is its own address */
  return self;
}

void umw_load_program_tls(struct link_map* program)
{
  const ElfW(Phdr)* segment = umw_program_header(program, PT_TLS);
  if (!segment)
    return;
  const size_t align = segment->p_align ? segment->p_align : 1;
  const size_t size = (segment->p_memsz + align - 1) & ~(align - 1);
  char* block = thread_pointer() - size;
  memcpy(block, (const void*)(program->l_addr + segment->p_vaddr), segment->p_filesz);
  memset(block + segment->p_filesz, 0, segment->p_memsz - segment->p_filesz);
}
