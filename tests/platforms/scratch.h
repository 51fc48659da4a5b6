// SPDX-License-Identifier: LGPL-2.1-or-later
// A directory for files of a test. It goes with the object, in the process that made it: children made by fork() leave
// it alone.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

namespace umwelt
{

class Scratch
{
public:
  Scratch()
  {
    std::string pattern = (std::filesystem::temp_directory_path() / "umwelt-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), pattern);
    path = pattern;
  }
  ~Scratch()
  {
    std::error_code gone_already;
    if (getpid() == maker_)
      std::filesystem::remove_all(path, gone_already);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path path;

private:
  pid_t maker_ = getpid();
};

} // namespace umwelt
