// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of all options of `umwelt run`: names, values, help and what each does. options.cpp has it,
// option_parser.cpp reads it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/plan/options.h"

namespace umwelt::cli
{

inline constexpr std::uint64_t most_ranks = 1'000'000;

// What the options of one program have said so far.
struct Draft {
  plan::AppContext app;
  std::vector<plan::Host> host_list;
  std::vector<plan::Host> hostfile;
};

struct State {
  plan::RunOptions run;
  Draft draft;
  const Lookup& environment;
};

// An option as the user wrote it, with its values.
struct Given {
  std::string_view option;
  std::span<const std::string> values;
  [[nodiscard]] const std::string& value() const { return values.front(); }
};

enum class Group {
  most_used,
  programs,
  hosts,
  placement,
  cores,
  output,
  results,
  network,
  what_if,
  power,
  looking,
  time,
  machine,
  information,
  accepted,
  watching
};

struct Option {
  Group group;
  std::string_view names;  // separated by blanks, the one for messages first
  std::string_view values; // placeholders separated by blanks; empty: a flag
  std::string_view help;
  void (*apply)(State&, const Given&);
  std::string_view former = {}; // earlier names, accepted but not shown
};

struct Heading {
  Group group;
  std::string_view text;
};

std::span<const Option> option_table();
std::span<const Heading> option_headings();

// The words of a text, without empty ones.
std::vector<std::string_view> split(std::string_view text, char separator);

} // namespace umwelt::cli
