// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/calibration/measurements.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/parameters.h"

namespace umwelt::net
{

namespace
{

constexpr std::uint64_t largest_size = std::uint64_t{1} << 40;

std::vector<std::string_view> split(std::string_view line)
{
  std::vector<std::string_view> fields;
  for (;;) {
    const auto comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos)
      return fields;
    line.remove_prefix(comma + 1);
  }
}

// Lower case, and "us" for the two ways to write a mu in UTF-8.
std::string plain(std::string_view name)
{
  std::string text(name);
  for (const std::string_view mu : {"\xc2\xb5", "\xce\xbc"})
    for (auto at = text.find(mu); at != std::string::npos; at = text.find(mu))
      text.replace(at, mu.size(), "u");
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return c < 0x80 ? static_cast<char>(std::tolower(c)) : static_cast<char>(c); });
  return text;
}

std::string shortened(std::string_view text)
{
  std::string printable;
  for (const char c : text.substr(0, 60))
    printable += c >= ' ' && c <= '~' ? c : '?';
  return printable + (text.size() > 60 ? "..." : "");
}

struct Columns {
  std::optional<std::size_t> size, time, rate, rank;
};

Columns find_columns(std::string_view header, const std::string& name)
{
  Columns columns;
  const auto fields = split(header);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string field = plain(fields[i]);
    if (field == "message size (b)" || field == "msg size (b)" || field == "size (b)")
      columns.size = i;
    else if (field == "latency (us)" || field == "time (us)")
      columns.time = i;
    else if (field == "message rate (kmsg/s)")
      columns.rate = i;
    else if (field == "rank")
      columns.rank = i;
  }
  if (!columns.size || (!columns.time && !columns.rate))
    throw std::invalid_argument(fmt::format(
        "{}:1: expected the names of the columns, among them 'size (B)' and 'time (us)' (or 'message size (B)' and "
        "'message rate (kmsg/s)', as ptlbench writes them), got '{}'. Name the columns in the first line.",
        name, shortened(header)));
  return columns;
}

class Reader
{
public:
  Reader(std::string_view header, std::string name, const std::set<std::uint64_t>& ranks)
      : name_(std::move(name)), wanted_(ranks), columns_(find_columns(header, name_))
  {
  }

  void line(std::string_view text, std::size_t number)
  {
    const auto fields = split(text);
    const auto field = [&](std::size_t column, const char* what) {
      if (column >= fields.size())
        throw std::invalid_argument(fmt::format("{}:{}: expected a {} in column {}, got {} columns. Correct the line.",
                                                name_, number, what, column + 1, fields.size()));
      return fields[column];
    };
    const auto fail = [&](const char* expected, std::string_view got) {
      throw std::invalid_argument(fmt::format("{}:{}: expected {}, got '{}'. Correct the line or remove it.", name_,
                                              number, expected, shortened(got)));
    };
    if (columns_.rank) {
      std::uint64_t rank = 0;
      const std::string_view given = field(*columns_.rank, "rank");
      if (!whole(given, rank))
        fail("a rank (a whole number)", given);
      ranks_.insert(rank);
      if (!wanted_.empty() && !wanted_.contains(rank))
        return;
    }
    std::uint64_t size = 0;
    const std::string_view bytes = field(*columns_.size, "message size");
    if (!whole(bytes, size) || size > largest_size)
      fail("a message size in bytes (a whole number up to 1 TiB)", bytes);
    double value = 0;
    const std::string_view number_text = columns_.time ? field(*columns_.time, "time") : field(*columns_.rate, "rate");
    const auto parsed = std::from_chars(number_text.data(), number_text.data() + number_text.size(), value);
    // The bounds keep logarithms and times in picoseconds far from their ends.
    if (parsed.ec != std::errc{} || parsed.ptr != number_text.data() + number_text.size() || !std::isfinite(value) ||
        value < 1e-9 || value > 1e12)
      fail(columns_.time ? "a time in us above 0" : "a rate in 1000 messages per s above 0", number_text);
    values_[size].push_back(columns_.time ? value : 1e3 / value);
  }

  Series finish()
  {
    if (wanted_.empty() && ranks_.size() > 1)
      throw std::invalid_argument(fmt::format(
          "{}: expected lines of one rank, got lines of ranks {} and {}{}. Say with --rank which is the initiator.",
          name_, *ranks_.begin(), *std::next(ranks_.begin()), ranks_.size() > 2 ? " and more" : ""));
    if (values_.empty())
      throw std::invalid_argument(
          !ranks_.empty()
              ? fmt::format("{}: expected lines of rank {}, got none (but of rank {}). Correct --rank.", name_,
                            fmt::join(wanted_, " or "), *ranks_.begin())
              : fmt::format("{}: expected at least one measurement below the names of the columns, got none.", name_));
    Series series;
    for (auto& [size, repetitions] : values_)
      series[size] = median(repetitions);
    return series;
  }

private:
  static bool whole(std::string_view text, std::uint64_t& value)
  {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc{} && result.ptr == text.data() + text.size();
  }
  static double median(std::vector<double>& values)
  {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }

  std::string name_;
  const std::set<std::uint64_t>& wanted_;
  Columns columns_;
  std::set<std::uint64_t> ranks_;
  std::map<std::uint64_t, std::vector<double>> values_;
};

} // namespace

Series read_series(std::istream& stream, const std::string& name, const std::set<std::uint64_t>& ranks)
{
  std::string line;
  if (!std::getline(stream, line))
    throw std::invalid_argument(fmt::format("{}: expected a CSV file, got an empty one.", name));
  Reader reader(line, name, ranks);
  for (std::size_t number = 2; std::getline(stream, line); ++number)
    if (!trim(line).empty())
      reader.line(line, number);
  return reader.finish();
}

Series load_series(const std::string& path, const std::set<std::uint64_t>& ranks)
{
  std::error_code error;
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path, error))
    throw std::invalid_argument(fmt::format("{}: expected a CSV file with measurements, got {}. Check the path.", path,
                                            file ? "a directory" : std::strerror(errno)));
  return read_series(file, path, ranks);
}

double mean_error(const Series& predicted, const Series& measured)
{
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [size, time] : measured)
    if (const auto found = predicted.find(size); found != predicted.end()) {
      sum += std::abs(std::log(found->second / time));
      ++count;
    }
  return count == 0 ? 0 : std::exp(sum / static_cast<double>(count)) - 1;
}

} // namespace umwelt::net
