// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/parameters.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/nearest.h"

namespace umwelt
{

namespace
{

struct Unit {
  std::string_view name;
  double factor;
};

// Ascending, so that the last one not above the value gives the shortest text.
constexpr std::array time_units{Unit{"ps", 1}, Unit{"ns", 1e3}, Unit{"us", 1e6}, Unit{"ms", 1e9}, Unit{"s", 1e12}};
constexpr std::array size_units{Unit{"B", 1},        Unit{"kB", 1e3},     Unit{"KiB", 1024.0},
                                Unit{"MB", 1e6},     Unit{"MiB", 0x1p20}, Unit{"GB", 1e9},
                                Unit{"GiB", 0x1p30}, Unit{"TB", 1e12},    Unit{"TiB", 0x1p40}};
constexpr std::array bit_units{Unit{"b", 0.125}, Unit{"kb", 125}, Unit{"Mb", 125e3}, Unit{"Gb", 125e6},
                               Unit{"Tb", 125e9}};

// Splits "12.5 GB" into 12.5 and "GB".
bool split_number(std::string_view text, double& number, std::string_view& unit)
{
  text = trim(text);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc{} || !std::isfinite(number) || number < 0)
    return false;
  unit = trim(text.substr(static_cast<std::size_t>(result.ptr - text.data())));
  return true;
}

template <std::size_t N> const Unit* find_unit(const std::array<Unit, N>& units, std::string_view name)
{
  for (const Unit& unit : units)
    if (unit.name == name)
      return &unit;
  return nullptr;
}

bool drop_suffix(std::string_view& text, std::string_view suffix)
{
  if (!text.ends_with(suffix))
    return false;
  text.remove_suffix(suffix.size());
  return true;
}

} // namespace

std::string_view trim(std::string_view text, const char* blanks)
{
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool parse_time(std::string_view text, sim::SimTime& value)
{
  double number = 0;
  std::string_view name;
  if (!split_number(text, number, name))
    return false;
  const Unit* unit = find_unit(time_units, name);
  if (unit == nullptr && (number != 0 || !name.empty()))
    return false;
  value = unit == nullptr ? 0 : sim::from_seconds(number * unit->factor * 1e-12);
  return true;
}

bool parse_bandwidth(std::string_view text, double& value)
{
  double number = 0;
  std::string_view name;
  if (!split_number(text, number, name) || (!drop_suffix(name, "/s") && !drop_suffix(name, "ps")))
    return false;
  const Unit* unit = find_unit(size_units, name);
  if (unit == nullptr)
    unit = find_unit(bit_units, name);
  if (unit == nullptr || number == 0)
    return false;
  value = number * unit->factor;
  return true;
}

bool parse_size(std::string_view text, std::uint64_t& value)
{
  double number = 0;
  std::string_view name;
  if (!split_number(text, number, name))
    return false;
  const Unit* unit = name.empty() ? &size_units.front() : find_unit(size_units, name);
  if (unit == nullptr || number * unit->factor > 0x1p53 || std::floor(number * unit->factor) != number * unit->factor)
    return false;
  value = static_cast<std::uint64_t>(number * unit->factor);
  return true;
}

bool parse_count(std::string_view text, std::uint64_t& value)
{
  text = trim(text);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size();
}

bool parse_fraction(std::string_view text, double& value)
{
  double number = 0;
  std::string_view unit;
  if (!split_number(text, number, unit) || !(unit.empty() || unit == "%"))
    return false;
  number *= unit.empty() ? 1 : 0.01;
  if (number > 1)
    return false;
  value = number;
  return true;
}

bool parse_number(std::string_view text, double& value)
{
  std::string_view unit;
  return split_number(text, value, unit) && unit.empty();
}

bool parse_flag(std::string_view text, bool& value)
{
  text = trim(text);
  for (const std::string_view yes : {"on", "yes", "true", "1"})
    if (text == yes)
      return value = true;
  for (const std::string_view no : {"off", "no", "false", "0"})
    if (text == no) {
      value = false;
      return true;
    }
  return false;
}

std::string time_text(sim::SimTime value)
{
  const Unit* best = &time_units.front();
  for (const Unit& unit : time_units)
    if (static_cast<double>(value) >= unit.factor)
      best = &unit;
  return fmt::format("{}{}", static_cast<double>(value) / best->factor, best->name);
}

std::string bandwidth_text(double value)
{
  const Unit* best = &size_units.front();
  for (const Unit& unit : size_units)
    if (!unit.name.ends_with("iB") && value >= unit.factor)
      best = &unit;
  return fmt::format("{}{}/s", value / best->factor, best->name);
}

std::string size_text(std::uint64_t value)
{
  for (auto unit = size_units.rbegin(); unit != size_units.rend(); ++unit) {
    const auto factor = static_cast<std::uint64_t>(unit->factor);
    if (value != 0 && unit->name.ends_with("iB") && value % factor == 0)
      return fmt::format("{}{}", value / factor, unit->name);
  }
  return fmt::format("{}B", value);
}

void Parameters::add(std::string_view list, std::string_view origin)
{
  while (!list.empty()) {
    const auto comma = list.find(',');
    const std::string_view item = trim(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    if (item.empty())
      continue;
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw std::invalid_argument(fmt::format(
          "{}: expected key=value, got '{}'. Write each parameter as key=value, separated by commas.", origin, item));
    set(std::string(trim(item.substr(0, equals))), std::string(trim(item.substr(equals + 1))), origin);
  }
}

void Parameters::add_file(const std::string& path)
{
  std::ifstream file(path);
  std::error_code error;
  if (!file || std::filesystem::is_directory(path, error))
    throw std::invalid_argument(fmt::format("parameter file '{}': expected a readable file of lines 'key = value', "
                                            "got {}. Check the path.",
                                            path, file ? "a directory" : std::strerror(errno)));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view text = trim(std::string_view(line).substr(0, line.find('#')));
    if (text.empty())
      continue;
    const std::string origin = fmt::format("{}:{}", path, number);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw std::invalid_argument(fmt::format("{}: expected 'key = value', got '{}'. Correct the line or put '#' "
                                              "before it.",
                                              origin, text.substr(0, 80)));
    set(std::string(trim(text.substr(0, equals))), std::string(trim(text.substr(equals + 1))), origin);
  }
}

void Parameters::add_settings(std::span<const std::pair<std::string, std::string>> settings, std::string_view option)
{
  for (const auto& [key, value] : settings) {
    if (key.starts_with('@'))
      add_file(key.substr(1));
    else
      set(key, value, option);
  }
}

void Parameters::set(std::string key, std::string value, std::string_view origin)
{
  values_[std::move(key)] = Value{std::move(value), std::string(origin)};
}

ParameterReader::ParameterReader(const Parameters& parameters, std::string object)
    : parameters_(parameters), object_(std::move(object))
{
}

template <class T, class Parse>
void ParameterReader::read(std::string_view key, T& value, Parse parse, std::string_view expected)
{
  known_.emplace_back(key);
  const auto found = parameters_.values().find(known_.back());
  if (found == parameters_.values().end())
    return;
  T parsed{};
  if (!parse(found->second.text, parsed))
    throw std::invalid_argument(fmt::format("{}: parameter {} of {}: expected {}, got '{}'. Correct the value or leave "
                                            "the parameter out to keep its default.",
                                            found->second.origin, key, object_, expected, found->second.text));
  value = std::move(parsed);
}

void ParameterReader::time(std::string_view key, sim::SimTime& value, std::string_view)
{
  read(key, value, parse_time, "a time with unit such as 250ns or 2us");
}

void ParameterReader::bandwidth(std::string_view key, double& value, std::string_view)
{
  read(key, value, parse_bandwidth, "a bandwidth with unit such as 12.5GB/s or 100Gbps");
}

void ParameterReader::size(std::string_view key, std::uint64_t& value, std::string_view)
{
  read(key, value, parse_size, "a size in bytes such as 64, 4KiB or 2MB");
}

void ParameterReader::count(std::string_view key, std::uint64_t& value, std::string_view)
{
  read(key, value, parse_count, "a whole number");
}

void ParameterReader::fraction(std::string_view key, double& value, std::string_view)
{
  read(key, value, parse_fraction, "a fraction from 0 to 1 such as 0.001 or 0.1%");
}

void ParameterReader::number(std::string_view key, double& value, std::string_view)
{
  read(key, value, parse_number, "a number that is not negative");
}

void ParameterReader::flag(std::string_view key, bool& value, std::string_view)
{
  read(key, value, parse_flag, "on or off");
}

void ParameterReader::text(std::string_view key, std::string& value, std::string_view)
{
  const auto copy = [](const std::string& from, std::string& to) {
    to = from;
    return true;
  };
  read(key, value, copy, "text");
}

void ParameterReader::finish() const
{
  for (const auto& [key, value] : parameters_.values()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end())
      continue;
    const std::string_view guess = plausible(key, known_);
    if (!guess.empty())
      throw std::invalid_argument(
          fmt::format("{}: {} has no parameter '{}'. Did you mean '{}'?", value.origin, object_, key, guess));
    throw std::invalid_argument(
        fmt::format("{}: {} has no parameter '{}'; expected {}.", value.origin, object_, key,
                    known_.empty() ? "none" : fmt::format("one of {}", fmt::join(known_, " "))));
  }
}

std::string_view kind_name(ParameterKind kind)
{
  constexpr std::array<std::string_view, 8> names{"time",     "bandwidth", "size", "count",
                                                  "fraction", "number",    "flag", "text"};
  return names[static_cast<std::size_t>(kind)];
}

void ParameterLister::add(std::string_view key, ParameterKind kind, std::string standard, std::string_view help)
{
  list_.push_back({std::string(key), kind, std::move(standard), std::string(help)});
}

void ParameterLister::time(std::string_view key, sim::SimTime& value, std::string_view help)
{
  add(key, ParameterKind::time, time_text(value), help);
}

void ParameterLister::bandwidth(std::string_view key, double& value, std::string_view help)
{
  add(key, ParameterKind::bandwidth, bandwidth_text(value), help);
}

void ParameterLister::size(std::string_view key, std::uint64_t& value, std::string_view help)
{
  add(key, ParameterKind::size, size_text(value), help);
}

void ParameterLister::count(std::string_view key, std::uint64_t& value, std::string_view help)
{
  add(key, ParameterKind::count, fmt::format("{}", value), help);
}

void ParameterLister::fraction(std::string_view key, double& value, std::string_view help)
{
  add(key, ParameterKind::fraction, fmt::format("{}", value), help);
}

void ParameterLister::number(std::string_view key, double& value, std::string_view help)
{
  add(key, ParameterKind::number, fmt::format("{}", value), help);
}

void ParameterLister::flag(std::string_view key, bool& value, std::string_view help)
{
  add(key, ParameterKind::flag, value ? "on" : "off", help);
}

void ParameterLister::text(std::string_view key, std::string& value, std::string_view help)
{
  add(key, ParameterKind::text, value, help);
}

} // namespace umwelt
