// SPDX-License-Identifier: LGPL-2.1-or-later
// Devices of a test's own: what writes to /dev/full might replace the machine's by a file.
#pragma once

#include <filesystem>
#include <string>

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace umwelt::observe
{

// null(4), full(4). Returns the path; empty: that needs root.
inline std::string make_device(const std::filesystem::path& path, unsigned minor)
{
  return mknod(path.c_str(), S_IFCHR | 0666, makedev(1, minor)) == 0 ? path.string() : std::string();
}
inline std::string make_null_device(const std::filesystem::path& path)
{
  return make_device(path, 3);
}
inline std::string make_full_device(const std::filesystem::path& path)
{
  return make_device(path, 7);
}

} // namespace umwelt::observe
