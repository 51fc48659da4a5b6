// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/shared_object.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <simgrid/engine.h>
#include <simgrid/version.h>

#include "platforms/simgrid.h"

namespace umwelt::platform
{

namespace
{

constexpr std::string_view library = "libsimgrid.so"; // what names of all versions begin with

// Its name for ld.so, "libsimgrid.so.3.32".
std::string own_simgrid()
{
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&simgrid_get_clock), &info) != 0 && info.dli_fname != nullptr)
    if (std::string name = std::filesystem::path(info.dli_fname).filename(); name.starts_with(library))
      return name;
  return fmt::format("{}.{}.{}", library, SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR);
}

class ElfFile
{
public:
  explicit ElfFile(const std::string& path)
  {
    std::ifstream in(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    whole_ = bytes_.starts_with(ELFMAG) && read(0, header_);
    native_ = whole_ && header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_machine == EM_X86_64;
    if (!native_ || header_.e_phentsize != sizeof(Elf64_Phdr))
      return;
    for (std::size_t i = 0; i < header_.e_phnum; ++i) {
      Elf64_Phdr segment{};
      if (!read(header_.e_phoff + i * sizeof segment, segment))
        break;
      if (segment.p_type == PT_LOAD)
        loaded_.push_back(segment);
      else if (segment.p_type == PT_DYNAMIC)
        read_dynamic(segment);
    }
  }

  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] bool native() const { return native_; }
  [[nodiscard]] bool shared() const { return header_.e_type == ET_DYN && !executable_; }
  [[nodiscard]] unsigned machine() const { return header_.e_machine; }
  // Libraries it asks for.
  [[nodiscard]] std::vector<std::string> needed() const
  {
    const auto strings =
        std::find_if(dynamic_.begin(), dynamic_.end(), [](const auto& e) { return e.d_tag == DT_STRTAB; });
    std::vector<std::string> names;
    for (const Elf64_Dyn& entry : dynamic_)
      if (entry.d_tag == DT_NEEDED && strings != dynamic_.end())
        if (const std::size_t at = offset_of(strings->d_un.d_ptr) + entry.d_un.d_val; at < bytes_.size())
          names.emplace_back(bytes_.c_str() + at); // ends with the file at the latest
    return names;
  }

private:
  template <class T> bool read(std::size_t offset, T& into) const
  {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof into)
      return false;
    std::memcpy(&into, bytes_.data() + offset, sizeof into);
    return true;
  }

  void read_dynamic(const Elf64_Phdr& segment)
  {
    Elf64_Dyn entry{};
    for (std::size_t i = 0; i < segment.p_filesz / sizeof entry; ++i) {
      if (!read(segment.p_offset + i * sizeof entry, entry) || entry.d_tag == DT_NULL)
        return;
      dynamic_.push_back(entry);
      executable_ = executable_ || (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0);
    }
  }

  // Of an address in the file, or beyond its end.
  [[nodiscard]] std::size_t offset_of(Elf64_Addr address) const
  {
    for (const Elf64_Phdr& segment : loaded_)
      if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
        return address - segment.p_vaddr + segment.p_offset;
    return bytes_.size();
  }

  std::string bytes_;
  Elf64_Ehdr header_{};
  bool whole_ = false;
  bool native_ = false;
  bool executable_ = false; // position-independent, which looks like a shared object otherwise
  std::vector<Elf64_Phdr> loaded_;
  std::vector<Elf64_Dyn> dynamic_;
};

} // namespace

bool is_elf(const std::string& path)
{
  std::array<char, SELFMAG> magic{};
  std::ifstream in(path, std::ios::binary);
  return in.read(magic.data(), magic.size()) && std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
}

void check_shared_object(const std::string& path)
{
  const ElfFile file(path);
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument(fmt::format("expected a shared object (c++ -shared -fPIC), got {}", what));
  };
  if (!file.whole())
    refuse("a file that is none");
  if (!file.native())
    refuse(fmt::format("one for another machine than x86-64 (ELF machine {})", file.machine()));
  if (!file.shared())
    refuse("an executable or an object file");
  const std::vector<std::string> needed = file.needed();
  const auto simgrid =
      std::find_if(needed.begin(), needed.end(), [](const std::string& name) { return name.starts_with(library); });
  const std::string own = own_simgrid();
  if (simgrid == needed.end())
    throw std::invalid_argument(
        fmt::format("expected a shared object that is linked with SimGrid (-lsimgrid), whose version it then names, "
                    "{}, got one that names none",
                    own));
  if (*simgrid != own)
    throw std::invalid_argument(fmt::format("expected a shared object that was built against the SimGrid of this "
                                            "Umwelt, {}, got one built against {}",
                                            own, *simgrid));
}

void call_load_platform(const std::string& path)
{
  using Function = void (*)(const simgrid::s4u::Engine&);
  // With a '/' in it, so that ld.so does not search for it.
  void* const object = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr)
    throw std::invalid_argument(fmt::format("expected a shared object that can be loaded, got: {}", dlerror()));
  const auto function = reinterpret_cast<Function>(dlsym(object, "load_platform"));
  if (function == nullptr) {
    const bool mangled = dlsym(object, "_Z13load_platformRKN7simgrid3s4u6EngineE") != nullptr;
    throw std::invalid_argument(fmt::format(
        "expected a function load_platform(const simgrid::s4u::Engine&) in it, got {}",
        mangled ? "one with a C++ name; declare it extern \"C\"" : "a shared object without such a function"));
  }
  function(simgrid_engine());
}

} // namespace umwelt::platform
