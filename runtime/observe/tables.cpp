// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/observe/format.h"
#include "runtime/observe/statistics.h"

namespace umwelt::observe
{

std::string aligned(const std::vector<Row>& rows, std::size_t left)
{
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += "  ";
      line += i < left ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string size_range(std::size_t size_class)
{
  if (size_class <= 1)
    return fmt::format("{} B", size_class);
  const std::uint64_t least = SizeHistogram::least(size_class);
  return least < 1024 ? fmt::format("{}-{} B", least, SizeHistogram::most(size_class))
                      : fmt::format("{}-", show_bytes(least));
}

} // namespace umwelt::observe
