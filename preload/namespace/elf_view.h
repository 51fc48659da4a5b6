/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Reading a loaded object through its link map. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
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

/* The ELF header is mapped at the lowest address, which is l_addr only if the object was linked at 0. */
static inline const ElfW(Ehdr) * umw_elf_header(const struct link_map* object)
{
  struct dl_find_object found;
  return _dl_find_object(object->l_ld, &found) == 0 ? (const ElfW(Ehdr)*)found.dlfo_map_start : NULL;
}

static inline const ElfW(Phdr) * umw_program_headers(const ElfW(Ehdr) * header)
{
  return (const ElfW(Phdr)*)((const char*)header + header->e_phoff);
}

/* Program header of a type. */
static inline const ElfW(Phdr) * umw_program_header(const struct link_map* object, uint32_t type)
{
  const ElfW(Ehdr)* header = umw_elf_header(object);
  if (!header)
    return NULL;
  const ElfW(Phdr)* headers = umw_program_headers(header);
  for (unsigned i = 0; i < header->e_phnum; ++i)
    if (headers[i].p_type == type)
      return &headers[i];
  return NULL;
}
