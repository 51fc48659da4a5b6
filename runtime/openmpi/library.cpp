// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/openmpi/library.h"

#include <array>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "loader/elf_file.h"
#include "loader/program.h"
#include "runtime/base/child_answer.h"
#include "runtime/openmpi/content.h"

namespace umwelt::openmpi
{

namespace
{

std::string describe(const std::filesystem::path& library)
{
  const auto error = [] {
    const char* text = dlerror();
    return fmt::format("!{}", text == nullptr ? "unknown error" : text);
  };
  void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr)
    return error();
  using GetLibraryVersion = int (*)(char*, int*); // callable before MPI_Init (MPI 3.1, section 8.1.1)
  const auto get_version = reinterpret_cast<GetLibraryVersion>(dlsym(handle, "MPI_Get_library_version"));
  link_map* map = nullptr;
  if (get_version == nullptr || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
    return error();
  std::array<char, 4096> version{}; // MPI_MAX_LIBRARY_VERSION_STRING of Open MPI is 256
  int length = 0;
  get_version(version.data(), &length);
  return fmt::format("{}\n{}", version.data(), map->l_name);
}

} // namespace

std::string description(const std::filesystem::path& library)
{
  return child_answer([&] { return describe(library); });
}

std::string identity(const std::filesystem::path& library)
{
  std::string id = loader::build_id(library);
  return id.empty() ? fmt::format("{:016x}", content_hash({library})) : id;
}

std::string version_of(const std::filesystem::path& library)
{
  constexpr std::string_view begin = "Open MPI v"; // "Open MPI v4.1.4, package: ..."
  const std::string text = description(library);
  if (!text.starts_with(begin))
    throw loader::Refusal(
        loader::Refusal::Kind::not_runnable,
        fmt::format("{}: expected an Open MPI that says its version, got {}", library.string(),
                    text.empty() ? "a crash when it was loaded" : text.substr(text.starts_with('!') ? 1 : 0)));
  const auto end = text.find_first_not_of("0123456789.", begin.size());
  return text.substr(begin.size(), end == std::string::npos ? end : end - begin.size());
}

std::string_view series(std::string_view version)
{
  const auto dot = version.find('.');
  return version.substr(0, dot == std::string_view::npos ? dot : version.find('.', dot + 1));
}

} // namespace umwelt::openmpi
