// SPDX-License-Identifier: LGPL-2.1-or-later
// Parameters of models and platforms: key=value strings in, typed values with units out.
//
// A model keeps its constants in a plain struct with a member template `visit(visitor)` that names each of them once:
// key, member, meaning. Reading values (ParameterReader) and listing them with their defaults (ParameterLister) are two
// visitors, so that code, command line and documentation cannot drift apart.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/time.h"

namespace umwelt
{

class Parameters
{
public:
  Parameters() = default;

  // Adds "key=value,key=value". `origin` says in messages where the text came from ("--nic"). A later value of a key
  // replaces an earlier one. Throws std::invalid_argument for an item without '=' or with an empty key.
  void add(std::string_view list, std::string_view origin);
  void set(std::string key, std::string value, std::string_view origin);
  // Adds the lines "key = value" of a file; '#' begins a comment. Throws std::invalid_argument naming the line.
  void add_file(const std::string& path);
  // What an option was given, in this order: keys and values, or "@FILE" without a value for the lines of that file.
  void add_settings(std::span<const std::pair<std::string, std::string>> settings, std::string_view option);

  struct Value {
    std::string text;
    std::string origin;
  };
  [[nodiscard]] const std::map<std::string, Value>& values() const { return values_; }

private:
  std::map<std::string, Value> values_;
};

// Without blanks (space, tab, the end of a line of DOS) at either end.
std::string_view trim(std::string_view text, const char* blanks = " \t\r");

// Text to number. Units are mandatory for times and rates and may be in decimal (kB, MB, GB: powers of 1000) or binary
// (KiB, MiB, GiB) prefixes; rates take bytes or bits ("12.5GB/s", "12.5GBps", "100Gbps"). False: not such a thing, or
// negative.
bool parse_time(std::string_view text, sim::SimTime& value);   // "2us", "150ns", "0.5ms"; ps, ns, us, ms, s
bool parse_bandwidth(std::string_view text, double& value);    // bytes per second
bool parse_size(std::string_view text, std::uint64_t& value);  // "64", "64B", "4KiB", "2MB"
bool parse_count(std::string_view text, std::uint64_t& value); // "16"
bool parse_fraction(std::string_view text, double& value);     // "0.01", "1%"; 0 to 1
bool parse_number(std::string_view text, double& value);       // "1.5"; not negative
bool parse_flag(std::string_view text, bool& value);           // on, off, yes, no, true, false, 1, 0

// Number to the shortest such text that reads back as the same number.
std::string time_text(sim::SimTime value);
std::string bandwidth_text(double value);
std::string size_text(std::uint64_t value);

// Reads what is there, leaves the other members at their defaults. After the visit, finish() throws
// std::invalid_argument for keys nobody asked for. All messages: object, expected, got, next step.
class ParameterReader
{
public:
  // `object` is what the parameters belong to, as a user would call it: "model bxi".
  ParameterReader(const Parameters& parameters, std::string object);

  void time(std::string_view key, sim::SimTime& value, std::string_view help);
  void bandwidth(std::string_view key, double& value, std::string_view help);
  void size(std::string_view key, std::uint64_t& value, std::string_view help);
  void count(std::string_view key, std::uint64_t& value, std::string_view help);
  void fraction(std::string_view key, double& value, std::string_view help);
  void number(std::string_view key, double& value, std::string_view help);
  void flag(std::string_view key, bool& value, std::string_view help);
  void text(std::string_view key, std::string& value, std::string_view help);

  void finish() const;

private:
  template <class T, class Parse> void read(std::string_view key, T& value, Parse parse, std::string_view expected);

  const Parameters& parameters_;
  std::string object_;
  std::vector<std::string> known_;
};

enum class ParameterKind : std::uint8_t { time, bandwidth, size, count, fraction, number, flag, text };

// "time", "bandwidth", ...: for people.
std::string_view kind_name(ParameterKind kind);

struct ParameterInfo {
  std::string key;
  ParameterKind kind;
  std::string standard; // default value as text
  std::string help;
};

class ParameterLister
{
public:
  void time(std::string_view key, sim::SimTime& value, std::string_view help);
  void bandwidth(std::string_view key, double& value, std::string_view help);
  void size(std::string_view key, std::uint64_t& value, std::string_view help);
  void count(std::string_view key, std::uint64_t& value, std::string_view help);
  void fraction(std::string_view key, double& value, std::string_view help);
  void number(std::string_view key, double& value, std::string_view help);
  void flag(std::string_view key, bool& value, std::string_view help);
  void text(std::string_view key, std::string& value, std::string_view help);

  [[nodiscard]] std::vector<ParameterInfo> take() { return std::move(list_); }

private:
  void add(std::string_view key, ParameterKind kind, std::string standard, std::string_view help);

  std::vector<ParameterInfo> list_;
};

// The struct `T` filled from `parameters`.
template <class T> T read_parameters(const Parameters& parameters, std::string object)
{
  T values;
  ParameterReader reader(parameters, std::move(object));
  values.visit(reader);
  reader.finish();
  return values;
}

template <class T> std::vector<ParameterInfo> list_parameters()
{
  T values;
  ParameterLister lister;
  values.visit(lister);
  return lister.take();
}

} // namespace umwelt
