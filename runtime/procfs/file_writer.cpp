// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/procfs/file_writer.h"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

namespace umwelt::procfs
{

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& text)
{
  fs::create_directories(path.parent_path());
  std::ofstream file(path);
  file << text;
  if (!file.flush())
    throw std::system_error(errno, std::generic_category(), path.string());
}

void replace_file(const fs::path& path, const std::string& text)
{
  const fs::path draft = path.string() + ".new";
  write_file(draft, text);
  fs::rename(draft, path);
}

std::string read_file(const std::string& path)
{
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return std::move(text).str();
}

void LinkedFiles::write(const fs::path& path, const std::string& text)
{
  const auto [found, is_new] = first_.try_emplace(text, path);
  std::error_code failed;
  if (!is_new) {
    fs::create_directories(path.parent_path());
    fs::create_hard_link(found->second, path, failed);
  }
  if (is_new || failed)
    write_file(path, text);
}

} // namespace umwelt::procfs
