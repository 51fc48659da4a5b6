// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/csv.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"
#include "runtime/kernels/expression.h"

namespace umwelt::kernels
{
namespace
{

std::vector<std::string> cells(std::string_view line)
{
  std::vector<std::string> result;
  while (true) {
    const auto comma = line.find(',');
    std::string_view cell = trim(line.substr(0, comma));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
      cell = cell.substr(1, cell.size() - 2);
    result.emplace_back(cell);
    if (comma == std::string_view::npos)
      return result;
    line.remove_prefix(comma + 1);
  }
}

} // namespace

CsvReader::CsvReader(const std::string& path, std::string_view next) : path_(path), file_(path)
{
  std::error_code error;
  if (!file_ || std::filesystem::is_directory(path, error))
    throw UsageError(path, "a readable CSV file", file_ ? "a directory" : std::strerror(errno), next);
}

bool CsvReader::next(std::vector<std::string>& row)
{
  std::string line;
  while (std::getline(file_, line)) {
    if (++number_ == 1 && line.starts_with("\xef\xbb\xbf")) // byte order mark
      line.erase(0, 3);
    const std::string_view text = trim(line);
    if (text.empty() || text.front() == '#')
      continue;
    row = cells(text);
    return true;
  }
  return false;
}

std::string CsvReader::object() const
{
  return fmt::format("{}:{}", path_, number_);
}

std::pair<std::string, double> csv_header(const std::string& cell, std::string_view object)
{
  const auto bracket = cell.find('[');
  std::string name(trim(std::string_view(cell).substr(0, bracket)));
  if (bracket == std::string::npos)
    return {std::move(name), 0};
  const Expression unit(fmt::format("1 {}", cell.substr(bracket + 1, cell.find(']') - bracket - 1)), {},
                        fmt::format("{}, column {}", object, name));
  require_time(unit);
  return {std::move(name), unit.evaluate({})};
}

} // namespace umwelt::kernels
