// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/elf_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include "loader/elf_handle.h"

namespace umwelt::loader
{

namespace
{

std::string machine_name(const GElf_Ehdr& header)
{
  const char* bits = header.e_ident[EI_CLASS] == ELFCLASS64 ? "64-bit" : "32-bit";
  switch (header.e_machine) {
  case EM_X86_64:
    return fmt::format("x86-64, {}", bits);
  case EM_386:
    return fmt::format("i386, {}", bits);
  case EM_AARCH64:
    return fmt::format("AArch64, {}", bits);
  case EM_ARM:
    return fmt::format("Arm, {}", bits);
  case EM_PPC64:
    return fmt::format("POWER, {}", bits);
  case EM_RISCV:
    return fmt::format("RISC-V, {}", bits);
  default:
    return fmt::format("ELF machine {}, {}", header.e_machine, bits);
  }
}

ElfFile::Kind kind_of(GElf_Half type)
{
  switch (type) {
  case ET_REL:
    return ElfFile::Kind::relocatable;
  case ET_EXEC:
    return ElfFile::Kind::executable;
  case ET_DYN:
    return ElfFile::Kind::shared;
  case ET_CORE:
    return ElfFile::Kind::core;
  default:
    return ElfFile::Kind::not_elf;
  }
}

void read_interpreter(Elf* elf, const GElf_Phdr& segment, ElfFile& result)
{
  std::size_t size = 0;
  const char* image = elf_rawfile(elf, &size);
  if (image == nullptr || segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
    return;
  result.interpreter.assign(image + segment.p_offset, segment.p_filesz);
  result.interpreter.resize(result.interpreter.find('\0') == std::string::npos ? result.interpreter.size()
                                                                               : result.interpreter.find('\0'));
}

void extend(AddressRange& image, const GElf_Phdr& segment)
{
  constexpr std::uint64_t page = 4096;
  const std::uint64_t begin = segment.p_vaddr / page * page;
  // ld.so takes as much more as the alignment is larger than a page (glibc 2.36, elf/dl-map-segments.h).
  const std::uint64_t end =
      (segment.p_vaddr + segment.p_memsz + page - 1) / page * page + (segment.p_align > page ? segment.p_align : 0);
  if (image.end == 0 || begin < image.begin)
    image.begin = begin;
  if (end > image.end)
    image.end = end;
}

void read_dynamic(Elf* elf, ElfFile& result)
{
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC || header.sh_entsize == 0)
      continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr)
      continue;
    for (std::size_t i = 0; i < data->d_size / header.sh_entsize; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr || entry.d_tag == DT_NULL)
        break;
      if (entry.d_tag == DT_FLAGS_1)
        result.pie = (entry.d_un.d_val & DF_1_PIE) != 0;
      if (entry.d_tag == DT_NEEDED)
        if (const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val))
          result.needed.emplace_back(name);
      if (entry.d_tag == DT_SONAME)
        if (const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val))
          result.soname = name;
    }
  }
}

} // namespace

ElfFile inspect(const std::string& path)
{
  ElfFile result;
  const FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0)
    throw std::system_error(errno, std::generic_category(), path);
  elf_version(EV_CURRENT);
  const ElfHandle elf(elf_begin(file.fd, ELF_C_READ_MMAP, nullptr));
  GElf_Ehdr header;
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF || gelf_getehdr(elf.get(), &header) == nullptr)
    return result;
  result.kind = kind_of(header.e_type);
  result.machine = machine_name(header);
  result.native =
      header.e_machine == EM_X86_64 && header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
  std::size_t segments = 0;
  if (elf_getphdrnum(elf.get(), &segments) != 0)
    segments = 0;
  for (std::size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) == nullptr)
      break;
    if (segment.p_type == PT_LOAD)
      extend(result.image, segment);
    else if (segment.p_type == PT_INTERP)
      read_interpreter(elf.get(), segment, result);
    else if (segment.p_type == PT_DYNAMIC)
      result.dynamic = true;
  }
  if (result.dynamic)
    read_dynamic(elf.get(), result);
  return result;
}

namespace
{

// Calls look(elf) for a file that is ELF.
void look_into(const std::string& path, const std::function<void(Elf*)>& look)
{
  const FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0)
    return;
  elf_version(EV_CURRENT);
  const ElfHandle elf(elf_begin(file.fd, ELF_C_READ_MMAP, nullptr));
  if (elf)
    look(elf.get());
}

// Calls look(section header, data) for each section of this type.
void each_section(Elf* elf, GElf_Word type, const std::function<void(const GElf_Shdr&, Elf_Data*)>& look)
{
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != type)
      continue;
    if (Elf_Data* const data = elf_getdata(section, nullptr))
      look(header, data);
  }
}

// What the first note of this name and type says; empty: there is none.
std::vector<unsigned char> description_of(const std::string& path, std::string_view wanted, GElf_Word type)
{
  std::vector<unsigned char> result;
  look_into(path, [&](Elf* elf) {
    each_section(elf, SHT_NOTE, [&](const GElf_Shdr&, Elf_Data* data) {
      GElf_Nhdr note;
      std::size_t name = 0;
      std::size_t description = 0;
      for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &description)) != 0;) {
        const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
        if (result.empty() && note.n_type == type && note.n_namesz == wanted.size() + 1 &&
            std::memcmp(bytes + name, wanted.data(), wanted.size()) == 0)
          result.assign(bytes + description, bytes + description + note.n_descsz);
      }
    });
  });
  return result;
}

} // namespace

std::string build_id(const std::string& path)
{
  return fmt::format("{:02x}", fmt::join(description_of(path, "GNU", NT_GNU_BUILD_ID), ""));
}

std::optional<std::uint32_t> word_of_note(const std::string& path, std::string_view name)
{
  const std::vector<unsigned char> bytes = description_of(path, name, 1);
  std::uint32_t word = 0;
  if (bytes.size() != sizeof word)
    return std::nullopt;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

std::vector<std::string> imports(const std::string& path, std::string_view prefix)
{
  std::vector<std::string> names;
  look_into(path, [&](Elf* elf) {
    each_section(elf, SHT_DYNSYM, [&](const GElf_Shdr& header, Elf_Data* data) {
      GElf_Sym symbol;
      for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
        const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (symbol.st_shndx == SHN_UNDEF && name != nullptr && std::string_view(name).starts_with(prefix))
          names.emplace_back(name);
      }
    });
  });
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace umwelt::loader
