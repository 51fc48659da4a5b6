/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copy relocations. A program that refers to a variable of a library (stderr, environ, std::cout) has room for it in
 * its own .bss; at start-up ld.so copies the library's initial value there, and every object of the process then uses
 * the program's copy. For a program loaded with dlmopen ld.so looks the symbol up in the wrong scope: it finds the
 * program's own, still empty, room and copies that onto itself. So it is done again here, before any other constructor
 * runs and after all relocations are in place. (psABI x86-64, R_X86_64_COPY.)
 */
#include "preload/namespace/elf_view.h"
#include "preload/namespace/namespace.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint32_t gnu_hash(const char* name)
{
  uint32_t hash = 5381;
  for (const unsigned char* c = (const unsigned char*)name; *c; ++c)
    hash = hash * 33 + *c;
  return hash;
}

static uint32_t sysv_hash(const char* name)
{
  uint32_t hash = 0;
  for (const unsigned char* c = (const unsigned char*)name; *c; ++c) {
    hash = (hash << 4) + *c;
    const uint32_t high = hash & 0xf0000000;
    hash = (hash ^ (high >> 24)) & ~high;
  }
  return hash;
}

static bool is_definition(const ElfW(Sym) * symbol, const char* names, const char* name)
{
  return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT &&
         strcmp(names + symbol->st_name, name) == 0;
}

static const ElfW(Sym) * find_definition(const struct link_map* object, const char* name)
{
  const ElfW(Sym)* symbols = umw_dynamic_address(object, DT_SYMTAB);
  const char* names = umw_dynamic_address(object, DT_STRTAB);
  const uint32_t* table = umw_dynamic_address(object, DT_GNU_HASH);
  if (!symbols || !names)
    return NULL;
  if (table) {
    const uint32_t buckets = table[0], first = table[1], bloom_words = table[2];
    const uint32_t* bucket = table + 4 + (size_t)bloom_words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t* chain = bucket + buckets;
    const uint32_t hash = gnu_hash(name);
    uint32_t index = buckets ? bucket[hash % buckets] : 0;
    if (index < first)
      return NULL;
    for (;; ++index) {
      const uint32_t entry = chain[index - first];
      if ((entry | 1) == (hash | 1) && is_definition(&symbols[index], names, name))
        return &symbols[index];
      if (entry & 1)
        return NULL;
    }
  }
  table = umw_dynamic_address(object, DT_HASH);
  if (table && table[0] != 0)
    for (uint32_t index = table[2 + sysv_hash(name) % table[0]]; index != 0; index = table[2 + table[0] + index])
      if (is_definition(&symbols[index], names, name))
        return &symbols[index];
  return NULL;
}

/* Room for constants (vtables, type information) lies in the part that ld.so has made read-only by now. */
static void protect_constants(const struct link_map* program, int protection)
{
  const ElfW(Phdr)* constants = umw_program_header(program, PT_GNU_RELRO);
  if (!constants)
    return;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t begin = (program->l_addr + constants->p_vaddr) & ~(page - 1);
  const uintptr_t end = (program->l_addr + constants->p_vaddr + constants->p_memsz) & ~(page - 1);
  if (end > begin)
    mprotect((void*)begin, end - begin, protection);
}

void umw_copy_relocations(const struct link_map* program)
{
  const ElfW(Rela)* relocations = umw_dynamic_address(program, DT_RELA);
  const ElfW(Sym)* symbols = umw_dynamic_address(program, DT_SYMTAB);
  const char* names = umw_dynamic_address(program, DT_STRTAB);
  const size_t count = umw_dynamic_value(program, DT_RELASZ) / sizeof *relocations;
  if (!relocations || !symbols || !names)
    return;
  protect_constants(program, PROT_READ | PROT_WRITE);
  for (size_t i = 0; i < count; ++i) {
    if (ELF64_R_TYPE(relocations[i].r_info) != R_X86_64_COPY)
      continue;
    const ElfW(Sym)* room = &symbols[ELF64_R_SYM(relocations[i].r_info)];
    for (const struct link_map* object = program->l_next; object; object = object->l_next) {
      const ElfW(Sym)* definition = find_definition(object, names + room->st_name);
      if (!definition)
        continue;
      const size_t size = room->st_size < definition->st_size ? room->st_size : definition->st_size;
      memcpy((void*)(program->l_addr + relocations[i].r_offset), (const void*)(object->l_addr + definition->st_value),
             size);
      break;
    }
  }
  protect_constants(program, PROT_READ);
}
