// SPDX-License-Identifier: LGPL-2.1-or-later
// Umwelt's own files: all of them there, and of one build.
#include "runtime/cli/doctor.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <unistd.h>

#include "preload/abi/version_mark.h"

namespace umwelt::cli
{
namespace
{

constexpr const char* again = "Install Umwelt again, or build the whole project.";

// What the library says of itself; nothing if it has no mark. It is read, not loaded: its constructors are for ranks.
std::optional<std::string> version_in(const std::string& contents)
{
  const auto mark = contents.find(UMW_VERSION_MARK);
  if (mark == std::string::npos)
    return std::nullopt;
  return contents.c_str() + mark + std::strlen(UMW_VERSION_MARK); // up to its '\0'
}

} // namespace

Finding check_library(const std::filesystem::path& file, std::string_view version)
{
  Finding finding{file.filename().string(), Health::ok, file.string(), ""};
  std::string trouble;
  std::ifstream in(file, std::ios::binary);
  if (!in)
    trouble = std::strerror(errno);
  else {
    const std::optional<std::string> found = version_in({std::istreambuf_iterator<char>(in), {}});
    if (!found)
      trouble = "no version in it: not a library of Umwelt, or of an older one";
    else if (*found != version)
      trouble = fmt::format("version {}, but this is umwelt {}", *found, version);
  }
  if (!trouble.empty()) {
    finding.health = Health::fail;
    finding.detail = fmt::format("{}: {}", file.string(), trouble);
    finding.advice = again;
  }
  return finding;
}

Finding check_program(std::string_view command, const std::filesystem::path& program)
{
  Finding finding{std::string(command), Health::ok, program.string(), ""};
  if (access(program.c_str(), X_OK) != 0) {
    finding.health = Health::warn; // runs do not need it
    finding.detail = fmt::format("{}: {}", program.string(), std::strerror(errno));
    finding.advice = again;
  }
  return finding;
}

} // namespace umwelt::cli
