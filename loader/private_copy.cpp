// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/private_copy.h"

#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>

#include "loader/elf_handle.h"

namespace umwelt::loader
{

namespace
{

void clear_flags(Elf* elf)
{
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC)
      continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    for (int i = 0; data != nullptr; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, i, &entry) == nullptr || entry.d_tag == DT_NULL)
        break;
      if (entry.d_tag != DT_FLAGS_1)
        continue;
      entry.d_un.d_val &= ~static_cast<GElf_Xword>(DF_1_PIE | DF_1_NOOPEN);
      gelf_update_dyn(data, i, &entry);
      elf_flagdata(data, ELF_C_SET, ELF_F_DIRTY);
    }
  }
}

void make_shared_object(Elf* elf)
{
  GElf_Ehdr header;
  if (gelf_getehdr(elf, &header) == nullptr || header.e_type != ET_EXEC)
    return;
  header.e_type = ET_DYN;
  gelf_update_ehdr(elf, &header);
}

} // namespace

void make_private_copy(const std::string& program, const std::string& copy)
{
  std::filesystem::copy_file(program, copy);
  chmod(copy.c_str(), S_IRWXU);
  elf_version(EV_CURRENT);
  const FileDescriptor file{open(copy.c_str(), O_RDWR | O_CLOEXEC)};
  const ElfHandle elf(file.fd < 0 ? nullptr : elf_begin(file.fd, ELF_C_RDWR, nullptr));
  if (!elf)
    throw std::runtime_error(fmt::format("{}: private copy of {} cannot be edited: {}", copy, program,
                                         file.fd < 0 ? "not writable" : elf_errmsg(-1)));
  elf_flagelf(elf.get(), ELF_C_SET, ELF_F_LAYOUT); // everything stays where it is
  clear_flags(elf.get());
  make_shared_object(elf.get());
  if (elf_update(elf.get(), ELF_C_WRITE) < 0)
    throw std::runtime_error(
        fmt::format("{}: private copy of {} cannot be written: {}", copy, program, elf_errmsg(-1)));
}

} // namespace umwelt::loader
