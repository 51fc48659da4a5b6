// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/diagnose/source_lines.h"

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "loader/elf_file.h"
#include "runtime/base/descriptor.h"

namespace umwelt::diagnose
{

namespace
{

struct End {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
using Information = std::unique_ptr<Dwarf, End>;

// Null: there is none.
Information read_information(const std::string& path)
{
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Information dwarf(file.get() >= 0 ? dwarf_begin(file.get(), DWARF_C_READ) : nullptr);
  if (dwarf)
    elf_cntl(dwarf_getelf(dwarf.get()), ELF_C_FDDONE); // it is mapped: ranks count descriptors
  return dwarf;
}

std::string separate_file(const std::string& path)
{
  const std::string id = loader::build_id(path);
  return id.size() > 2 ? fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", id.substr(0, 2), id.substr(2)) : "";
}

// Kept: other addresses of the object are looked for soon.
Dwarf* information_of(const std::string& path)
{
  static std::map<std::string, Information> known;
  const auto [entry, is_new] = known.try_emplace(path);
  if (is_new) {
    entry->second = read_information(path);
    if (const std::string other = entry->second ? "" : separate_file(path); !other.empty())
      entry->second = read_information(other);
  }
  return entry->second.get();
}

// The compilation unit that has the address. Compilers need not write the table that says so (clang does not).
bool find_unit(Dwarf* dwarf, Dwarf_Addr address, Dwarf_Die* unit)
{
  if (dwarf_addrdie(dwarf, address, unit) != nullptr)
    return true;
  Dwarf_CU* next = nullptr;
  while (dwarf_get_units(dwarf, next, &next, nullptr, nullptr, unit, nullptr) == 0)
    if (dwarf_haspc(unit, address) == 1)
      return true;
  return false;
}

} // namespace

std::string source_line(const std::string& path, std::uint64_t relative)
{
  Dwarf* const dwarf = information_of(path);
  Dwarf_Die unit;
  if (dwarf == nullptr || !find_unit(dwarf, relative, &unit))
    return {};
  Dwarf_Line* const line = dwarf_getsrc_die(&unit, relative);
  int number = 0;
  const char* const source = line != nullptr ? dwarf_linesrc(line, nullptr, nullptr) : nullptr;
  if (source == nullptr || dwarf_lineno(line, &number) != 0 || number == 0)
    return {};
  const std::string_view name(source);
  return fmt::format("{}:{}", name.substr(name.rfind('/') + 1), number);
}

} // namespace umwelt::diagnose
