// SPDX-License-Identifier: LGPL-2.1-or-later
// What the tests of the command line share.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/cli/options.h"

namespace umwelt::cli::test
{

inline Lookup environment(std::map<std::string, std::string> variables)
{
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

inline plan::RunOptions parse(const std::vector<std::string>& arguments,
                              std::map<std::string, std::string> variables = {})
{
  return parse_run(arguments, environment(std::move(variables)));
}

// Text of the UsageError that `work` throws; empty if it throws none.
inline std::string error_of(const std::function<void()>& work)
{
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

inline std::string parse_error(const std::vector<std::string>& arguments)
{
  return error_of([&] { parse(arguments); });
}

// A directory that is gone when the object is.
class TemporaryDirectory
{
public:
  TemporaryDirectory()
  {
    std::string pattern = (std::filesystem::temp_directory_path() / "umwelt-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error("mkdtemp: cannot make " + pattern);
    path_ = pattern;
  }
  ~TemporaryDirectory()
  {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, const std::string& text) const
  {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

private:
  std::filesystem::path path_;
};

} // namespace umwelt::cli::test
