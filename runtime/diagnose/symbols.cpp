// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/diagnose/symbols.h"

#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <link.h>
#include <unistd.h>

#include "loader/rank_loader.h"
#include "runtime/base/demangle.h"
#include "runtime/diagnose/source_lines.h"

// The executable exports it (runtime/CMakeLists.txt).
extern "C" [[gnu::noipa, gnu::used, gnu::visibility("default")]] void umw_rank_loaded(int rank, const char* program,
                                                                                      std::uintptr_t offset);
void umw_rank_loaded(int rank, const char* program, std::uintptr_t offset)
{
  asm volatile("" : : "r"(rank), "r"(program), "r"(offset));
}

namespace umwelt::diagnose
{

namespace
{

struct Loaded {
  const umw_gate* gate;
  const r_debug* debug;
  const link_map* program;
  std::string program_path;
};

std::vector<Loaded>& ranks()
{
  static std::vector<Loaded> list;
  return list;
}

// struct r_debug_extended of glibc 2.35's link.h, which gdb 13 follows if the version is 2: each dynamic linker's list
// leads to the next.
struct Linkers {
  r_debug base;
  r_debug* next;
};

void tell_debuggers(r_debug& debug)
{
  static r_debug* last = &_r_debug;
  constexpr int with_next = 2;
  if (_r_debug.r_version > with_next)
    return;
  last->r_version = debug.r_version = with_next;
  reinterpret_cast<Linkers*>(last)->next = &debug;
  last = &debug;
  reinterpret_cast<void (*)()>(_r_debug.r_brk)(); // an empty function with a breakpoint
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

void add_rank(const umw_gate& gate, const loader::RankLoader& loader, const std::string& program_path)
{
  ranks().push_back({&gate, loader.debug(), loader.program(), program_path});
  if (!loader.is_known_to_debuggers())
    tell_debuggers(*loader.debug());
  umw_rank_loaded(gate.rank, program_path.c_str(), loader.program()->l_addr);
}

namespace
{

// What is there, in this process or in one of its ranks; `program`: that rank's path if it is in its program.
bool find_object(std::uintptr_t address, dl_find_object& object, const std::string*& program)
{
  auto* const place = reinterpret_cast<void*>(address);
  bool found = _dl_find_object(place, &object) == 0; // also what ranks have in namespaces
  for (const Loaded& rank : ranks()) {
    found = found || rank.gate->find_object(place, &object) == 0;
    if (found && object.dlfo_link_map == rank.program)
      program = &rank.program_path;
  }
  return found;
}

} // namespace

CodeLocation place_of(std::uintptr_t address)
{
  dl_find_object object{};
  const std::string* program = nullptr;
  if (!find_object(address, object, program))
    return {"?", address};
  const char* path = object.dlfo_link_map->l_name;
  if (program != nullptr)
    path = program->c_str();
  return {*path == '\0' ? "umwelt" : path, address - object.dlfo_link_map->l_addr};
}

// Without dladdr: it takes ld.so's lock, which the interrupted rank may hold.
Symbol symbol_at(std::uintptr_t address)
{
  Symbol result;
  dl_find_object object{};
  const std::string* program = nullptr;
  if (!find_object(address, object, program)) {
    result.object = "?";
    result.offset = address;
    return result;
  }
  static const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::string path = program != nullptr ? *program : object.dlfo_link_map->l_name;
  if (path.empty())
    path = self; // the executable itself
  const std::uintptr_t relative = address - object.dlfo_link_map->l_addr;
  result.ours = path == self || path.find("libumwelt-preload") != std::string::npos ||
                path.find("/umwelt/libportals") != std::string::npos; // translates calls for the shim
  result.object = path.substr(path.rfind('/') + 1);
  result.offset = relative;
  // Ranks have the same objects, and stand at the same places of them.
  static std::map<std::pair<std::string, std::uintptr_t>, Symbol> known;
  const auto [entry, is_new] = known.try_emplace({path, relative}, result);
  if (is_new) {
    search_file(path, relative, entry->second);
    if (!result.ours)
      entry->second.source = source_line(path, relative);
  }
  return entry->second;
}

std::string describe(const Symbol& symbol, std::uint64_t further)
{
  const std::string line = symbol.source.empty() ? "" : ", " + symbol.source;
  if (symbol.function.empty())
    return fmt::format("{}+{:#x}{}", symbol.object, symbol.offset + further, line);
  return fmt::format("{}+{:#x} ({}){}", symbol.function, symbol.offset + further, symbol.object, line);
}

} // namespace umwelt::diagnose

// The C library's reports the objects of its own linker. libunwind finds this one first and so sees all of them.
// Sanitizers call it before any of our code can run; with them a backtrace ends where a rank's C library calls main.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" __attribute__((visibility("default"))) int
dl_iterate_phdr(int (*callback)(dl_phdr_info* info, std::size_t size, void* data), void* data)
{
  if (const int result = umwelt::diagnose::c_library_iterate()(callback, data); result != 0)
    return result;
  for (const auto& rank : umwelt::diagnose::ranks())
    for (const link_map* object = rank.debug->r_map; object != nullptr; object = object->l_next) {
      const ElfW(Ehdr)* header = umwelt::loader::elf_header(*rank.gate, *object);
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
