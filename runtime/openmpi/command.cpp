// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/openmpi/command.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>
#include <vector>

#include "loader/elf_file.h"
#include "loader/program.h"
#include "runtime/base/exit_codes.h"
#include "runtime/base/usage_error.h"
#include "runtime/openmpi/build.h"
#include "runtime/openmpi/library.h"

namespace umwelt::openmpi
{

namespace fs = std::filesystem;

namespace
{

constexpr std::string_view soname = "libmpi.so.40";

// Its libmpi.so.40.
fs::path library_of(const std::string& what)
{
  std::error_code error;
  if (fs::exists(what, error) && loader::inspect(what).soname == soname)
    return fs::canonical(what);
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    environment.emplace_back(*variable);
  const fs::path here = fs::current_path();
  const loader::Program program = loader::find_program({what}, environment, here);
  const auto found = std::find_if(program.libraries.begin(), program.libraries.end(),
                                  [](const loader::Library& library) { return library.name == soname; });
  if (found == program.libraries.end())
    throw UsageError(what, fmt::format("a program that is linked to Open MPI ({})", soname), "one that is not",
                     "Name a libmpi.so.40 itself: umwelt openmpi PREFIX/lib/libmpi.so.40");
  return fs::canonical(found->path);
}

} // namespace

int examine(const Parts& parts, const std::string& what, const std::string& source, const Lookup& environment)
{
  std::error_code error;
  if (what.find('/') != std::string::npos && !fs::exists(what, error))
    throw loader::Refusal(loader::Refusal::Kind::not_found,
                          fmt::format("{}: expected a program or a libmpi.so.40, got nothing", what));
  const fs::path library = library_of(what);
  const std::string version = version_of(library);
  if (!source.empty())
    build(parts, library, source, environment);
  const auto found = find(parts, library, environment);
  fmt::print("Open MPI {}: {}\nidentity: {}\ncomponents: {}\n", version, library.string(), identity(library),
             found ? found->string() : "none");
  if (found)
    return exit_code::ok;
  fmt::print("To build them: umwelt openmpi --source SOURCE {}, with the source of Open MPI {}, a directory or an "
             "archive.\n",
             library.string(), version);
  return exit_code::refused;
}

} // namespace umwelt::openmpi
