// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/diagnose/symbols.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <link.h>
#include <unistd.h>

#include "loader/loaded_object.h"

namespace umwelt::diagnose
{

namespace
{

std::vector<const link_map*>& namespaces()
{
  static std::vector<const link_map*> list;
  return list;
}

std::map<std::string, std::string>& aliases()
{
  static std::map<std::string, std::string> map;
  return map;
}

std::string demangle(const char* name)
{
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

void search_table(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, std::uintptr_t relative, Symbol& result)
{
  Elf_Data* data = elf_getdata(section, nullptr);
  for (std::size_t i = 0; data != nullptr && i < data->d_size / header.sh_entsize; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
        symbol.st_shndx == SHN_UNDEF)
      continue;
    if (relative < symbol.st_value || relative >= symbol.st_value + symbol.st_size)
      continue;
    if (const char* name = elf_strptr(elf, header.sh_link, symbol.st_name)) {
      result.function = demangle(name);
      result.offset = relative - symbol.st_value;
      return;
    }
  }
}

// The full symbol table of the file if it has one (static functions are only there), else what it exports.
void search_file(const std::string& path, std::uintptr_t relative, Symbol& result)
{
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  for (const GElf_Word table : {SHT_SYMTAB, SHT_DYNSYM}) {
    Elf_Scn* section = nullptr;
    while (elf != nullptr && result.function.empty() && (section = elf_nextscn(elf, section)) != nullptr) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) != nullptr && header.sh_type == table && header.sh_entsize != 0)
        search_table(elf, section, header, relative, result);
    }
  }
  elf_end(elf);
  close(fd);
}

#if !defined(__SANITIZE_ADDRESS__)
using Callback = int (*)(dl_phdr_info*, std::size_t, void*);
using Iterate = int (*)(Callback, void*);

Iterate c_library_iterate()
{
  static const auto function = reinterpret_cast<Iterate>(dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  return function;
}

// Looked up at once: later, in a crashed rank, dlsym could wait for ld.so's lock for ever.
[[maybe_unused]] const Iterate looked_up = c_library_iterate();
#endif

} // namespace

void add_objects(const link_map* first)
{
  namespaces().push_back(first);
}

void add_alias(const std::string& private_path, const std::string& path)
{
  aliases()[private_path] = path;
}

// Without dladdr: it takes ld.so's lock, which the interrupted rank may hold.
Symbol symbol_at(std::uintptr_t address)
{
  Symbol result;
  dl_find_object object{};
  if (_dl_find_object(reinterpret_cast<void*>(address), &object) != 0) {
    result.object = "?";
    result.offset = address;
    return result;
  }
  static const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::string path = object.dlfo_link_map->l_name;
  if (path.empty())
    path = self; // the executable itself
  if (const auto alias = aliases().find(path); alias != aliases().end())
    path = alias->second;
  const std::uintptr_t relative = address - object.dlfo_link_map->l_addr;
  result.ours = path == self || path.find("libumwelt-preload") != std::string::npos;
  result.object = path.substr(path.rfind('/') + 1);
  result.offset = relative;
  search_file(path, relative, result);
  return result;
}

} // namespace umwelt::diagnose

// The C library's reports the objects of the caller's namespace. libunwind finds this one first and so sees all of them.
// AddressSanitizer calls it before any of our code can run; with it there are no ranks.
#if !defined(__SANITIZE_ADDRESS__)
extern "C" __attribute__((visibility("default"))) int
dl_iterate_phdr(int (*callback)(dl_phdr_info* info, std::size_t size, void* data), void* data)
{
  if (const int result = umwelt::diagnose::c_library_iterate()(callback, data); result != 0)
    return result;
  for (const link_map* first : umwelt::diagnose::namespaces())
    for (const link_map* object = first; object != nullptr; object = object->l_next) {
      const ElfW(Ehdr)* header = umwelt::loader::elf_header(*object);
      if (header == nullptr || std::string_view(object->l_name).find("linux-vdso") != std::string_view::npos)
        continue;
      dl_phdr_info info{};
      info.dlpi_addr = object->l_addr;
      info.dlpi_name = object->l_name;
      info.dlpi_phdr = umwelt::loader::program_headers(*header);
      info.dlpi_phnum = header->e_phnum;
      if (const int result = callback(&info, sizeof info, data); result != 0)
        return result;
    }
  return 0;
}
#endif
