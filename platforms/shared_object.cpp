// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/shared_object.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <simgrid/engine.h>
#include <simgrid/version.h>

#include "loader/elf_file.h"
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

} // namespace

bool is_elf(const std::string& path)
{
  std::array<char, SELFMAG> magic{};
  std::ifstream in(path, std::ios::binary);
  return in.read(magic.data(), magic.size()) && std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
}

void check_shared_object(const std::string& path)
{
  const loader::ElfFile file = loader::inspect(path);
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument(fmt::format("expected a shared object (c++ -shared -fPIC), got {}", what));
  };
  if (file.kind == loader::ElfFile::Kind::not_elf)
    refuse("a file that is none");
  if (!file.native)
    refuse(fmt::format("one for another machine than x86-64 ({})", file.machine));
  if (file.kind != loader::ElfFile::Kind::shared || file.pie)
    refuse("an executable or an object file");
  const auto simgrid = std::find_if(file.needed.begin(), file.needed.end(),
                                    [](const std::string& name) { return name.starts_with(library); });
  const std::string own = own_simgrid();
  if (simgrid == file.needed.end())
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
