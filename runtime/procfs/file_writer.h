// SPDX-License-Identifier: LGPL-2.1-or-later
// Many small files, of which some are the same.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace umwelt::procfs
{

// Makes a file and the directories above it. Throws std::exception.
void write_file(const std::filesystem::path& path, const std::string& text);
// The same in the place of what is there, which who has opened it keeps.
void replace_file(const std::filesystem::path& path, const std::string& text);
std::string read_file(const std::string& path); // empty: it cannot be read

// Files with the same text are one file with several names.
class LinkedFiles
{
public:
  void write(const std::filesystem::path& path, const std::string& text);

private:
  std::map<std::string, std::filesystem::path> first_; // by text
};

} // namespace umwelt::procfs
