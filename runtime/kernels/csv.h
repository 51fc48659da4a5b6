// SPDX-License-Identifier: LGPL-2.1-or-later
// CSV files line by line: RFC 4180, but for quoted cells that contain commas, quotes or lines, since numbers and names
// do not. Empty lines and lines that begin with # do not count.
#pragma once

#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace umwelt::kernels
{

class CsvReader
{
public:
  // Throws UsageError, with `next` as what to do, if there is no such file.
  CsvReader(const std::string& path, std::string_view next);

  // The cells of the next line; false: there is none.
  bool next(std::vector<std::string>& row);
  // "FILE:LINE", of the last one.
  [[nodiscard]] std::string object() const;

private:
  std::string path_;
  std::ifstream file_;
  int number_ = 0;
};

// "alpha [us]": a name, and the unit of time in brackets in seconds; 0: none. Throws UsageError for other units.
std::pair<std::string, double> csv_header(const std::string& cell, std::string_view object);

// Of all of the cell.
template <typename Number> std::optional<Number> csv_number(std::string_view text)
{
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

} // namespace umwelt::kernels
