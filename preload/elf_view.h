/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Reading a loaded object through its link map. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

static inline const ElfW(Dyn) * umw_dynamic(const struct link_map* object, ElfW(Sxword) tag)
{
  for (const ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag)
      return entry;
  return NULL;
}

/* Address held by a dynamic entry; ld.so relocates most of them in place, but not those of the vDSO. */
static inline const void* umw_dynamic_address(const struct link_map* object, ElfW(Sxword) tag)
{
  const ElfW(Dyn)* entry = umw_dynamic(object, tag);
  if (!entry)
    return NULL;
  const uintptr_t value = entry->d_un.d_ptr;
  return (const void*)(value < object->l_addr ? value + object->l_addr : value);
}

static inline size_t umw_dynamic_value(const struct link_map* object, ElfW(Sxword) tag)
{
  const ElfW(Dyn)* entry = umw_dynamic(object, tag);
  return entry ? entry->d_un.d_val : 0;
}

/* Program header of a type; the ELF header of a shared object is mapped at its load address. */
static inline const ElfW(Phdr) * umw_program_header(const struct link_map* object, uint32_t type)
{
  const ElfW(Ehdr)* header = (const ElfW(Ehdr)*)object->l_addr;
  const ElfW(Phdr)* headers = (const ElfW(Phdr)*)(object->l_addr + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i)
    if (headers[i].p_type == type)
      return &headers[i];
  return NULL;
}
