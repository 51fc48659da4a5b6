// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading an object that ld.so has loaded.
#pragma once

#include <dlfcn.h>
#include <link.h>

namespace umwelt::loader
{

// The ELF header: at the lowest mapped address, which is l_addr only if the object was linked at 0. Null if ld.so does not
// know the object (any more). Takes no lock: _dl_find_object of glibc 2.35.
inline const ElfW(Ehdr) * elf_header(const link_map& object)
{
  dl_find_object found{};
  return _dl_find_object(object.l_ld, &found) == 0 ? static_cast<const ElfW(Ehdr)*>(found.dlfo_map_start) : nullptr;
}

inline const ElfW(Phdr) * program_headers(const ElfW(Ehdr) & header)
{
  return reinterpret_cast<const ElfW(Phdr)*>(reinterpret_cast<const char*>(&header) + header.e_phoff);
}

} // namespace umwelt::loader
