// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/known_linker.h"

#include <charconv>
#include <exception>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "loader/image.h"

namespace umwelt::loader
{

namespace
{

// What the suite of tests has passed with: Debian 12's to Debian 13's.
constexpr int oldest = 36;
constexpr int newest = 41;

// The minor version of glibc 2 that the file's own greeting names (csu/version.c); -1: there is none.
int version_of(const std::string& path)
{
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view greeting = " release version 2.";
  const std::size_t at = bytes.find(greeting);
  int minor = -1;
  if (at != std::string::npos) {
    const char* const digits = bytes.data() + at + greeting.size();
    std::from_chars(digits, bytes.data() + bytes.size(), minor);
  }
  return minor;
}

} // namespace

std::string why_unknown(const std::string& interpreter)
{
  const int minor = version_of(interpreter);
  if (minor < 0)
    return fmt::format("{} is not glibc's dynamic linker", interpreter);
  if (minor < oldest || minor > newest)
    return fmt::format("{} is of glibc 2.{}, and a linker for each rank is known to work with 2.{} to 2.{}",
                       interpreter, minor, oldest, newest);
  try {
    const Image image(
        interpreter, [](void*, int) {}, nullptr);
    if (!image.returns())
      return fmt::format("{} ends in a way that is not known", interpreter);
  } catch (const std::exception& error) {
    return fmt::format("{}: {}", interpreter, error.what());
  }
  return {};
}

} // namespace umwelt::loader
