// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/coverage.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace umwelt::cli
{
namespace
{

constexpr auto levels = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"FULL", "behaves as documented, withon the simulated machine"},
    {"PARTIAL", "works within the limits of the note"},
    {"IGNORED", "accepted, has no effect"},
    {"ERROR", "refused with the error of the note"},
});

// A table worker process: '|' would end it.
std::string worker(std::string_view text)
{
  std::string result;
  for (const char c : text) {
    if (c == '|')
      result += '\\';
    result += c;
  }
  return result;
}

std::string counts(const CoverageTable& table)
{
  std::string text = fmt::format("{} symbols", table.rows.size());
  for (const auto& [level, meaning] : levels) {
    const auto count = std::count_if(table.rows.begin(), table.rows.end(),
                                     [name = level](const CoverageRow& row) { return row.level == name; });
    if (count != 0)
      text += fmt::format(", {} {}", count, level);
  }
  return text;
}

} // namespace

std::string coverage_markdown(std::span<const CoverageTable> tables)
{
  std::string text = "# Interposed interfaces\n\n";
  for (const auto& [level, meaning] : levels)
    text += fmt::format("- {}: {}\n", level, meaning);
  for (const CoverageTable& table : tables) {
    text += fmt::format("\n## {}\n\n{}\n\n| Symbol | Version | Level | Note |\n|---|---|---|---|\n", table.title,
                        counts(table));
    for (const CoverageRow& row : table.rows)
      text += fmt::format("| `{}` | {} | {} | {} |\n", row.symbol, worker(row.version), row.level, worker(row.note));
  }
  return text;
}

std::string coverage_json(std::span<const CoverageTable> tables)
{
  nlohmann::ordered_json json;
  for (const auto& [level, meaning] : levels)
    json["levels"][level] = meaning;
  json["apis"] = nlohmann::ordered_json::array();
  for (const CoverageTable& table : tables) {
    nlohmann::ordered_json symbols = nlohmann::ordered_json::array();
    for (const CoverageRow& row : table.rows)
      symbols.push_back({{"symbol", row.symbol}, {"version", row.version}, {"level", row.level}, {"note", row.note}});
    json["apis"].push_back({{"title", table.title}, {"symbols", std::move(symbols)}});
  }
  return json.dump(2) + "\n";
}

} // namespace umwelt::cli
