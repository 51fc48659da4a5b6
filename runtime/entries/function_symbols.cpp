// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/entries/function_symbols.h"

#include <algorithm>
#include <tuple>

#include <fcntl.h>
#include <gelf.h>

#include "loader/elf_handle.h"

namespace umwelt::entries
{

namespace
{

// Of both tables: .dynsym is in .symtab, too, unless the file is stripped.
template <class Visitor> void each_function(const std::string& path, Visitor visit)
{
  const loader::FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0)
    return;
  elf_version(EV_CURRENT);
  const loader::ElfHandle elf(elf_begin(file.fd, ELF_C_READ_MMAP, nullptr));
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF)
    return;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0 ||
        (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
      continue;
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr)
      continue;
    for (std::size_t i = 0; i < data->d_size / header.sh_entsize; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF)
        continue;
      const auto type = GELF_ST_TYPE(symbol.st_info);
      if (type != STT_FUNC && type != STT_GNU_IFUNC)
        continue;
      if (const char* const name = elf_strptr(elf.get(), header.sh_link, symbol.st_name))
        visit(name, symbol, type == STT_GNU_IFUNC);
    }
  }
}

FunctionSymbol function_of(const char* name, const GElf_Sym& symbol, bool chosen_late)
{
  return {name, symbol.st_value, symbol.st_size, GELF_ST_BIND(symbol.st_info) == STB_LOCAL, chosen_late};
}

} // namespace

std::vector<FunctionSymbol> find_functions(const std::string& path, const std::unordered_set<std::string>& names)
{
  std::vector<FunctionSymbol> found;
  each_function(path, [&](const char* name, const GElf_Sym& symbol, bool chosen_late) {
    if (names.contains(name))
      found.push_back(function_of(name, symbol, chosen_late));
  });
  const auto key = [](const FunctionSymbol& one) { return std::tie(one.address, one.name); };
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  found.erase(std::unique(found.begin(), found.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }),
              found.end());
  return found;
}

std::vector<FunctionSymbol> all_functions(const std::string& path)
{
  std::vector<FunctionSymbol> found;
  each_function(path, [&](const char* name, const GElf_Sym& symbol, bool chosen_late) {
    found.push_back(function_of(name, symbol, chosen_late));
  });
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  found.erase(
      std::unique(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.address == b.address; }),
      found.end());
  return found;
}

std::vector<std::string> function_names(const std::string& path)
{
  std::vector<std::string> names;
  each_function(path, [&](const char* name, const GElf_Sym&, bool) { names.emplace_back(name); });
  return names;
}

} // namespace umwelt::entries
