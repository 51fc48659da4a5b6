// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/coverage.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace umwelt::cli
{
namespace
{

using testing::HasSubstr;

const std::vector<CoverageTable> sample{
    {"Sample", {{"one", "V_1", "FULL", ""}, {"two", "V_2", "PARTIAL", "a|b"}, {"three", "V_2", "FULL", ""}}}};

TEST(CoverageMarkdown, HasARowForEachSymbol)
{
  EXPECT_THAT(coverage_markdown(sample), HasSubstr("## Sample\n\n3 symbols, 2 FULL, 1 PARTIAL\n\n"
                                                   "| Symbol | Version | Level | Note |\n|---|---|---|---|\n"
                                                   "| `one` | V_1 | FULL |  |\n"));
}

TEST(CoverageMarkdown, EscapesBarsInNotes)
{
  EXPECT_THAT(coverage_markdown(sample), HasSubstr("| PARTIAL | a\\|b |"));
}

TEST(CoverageJson, HasTheSameRows)
{
  const auto json = nlohmann::json::parse(coverage_json(sample));
  EXPECT_EQ(json["apis"][0]["title"], "Sample");
  EXPECT_EQ(json["apis"][0]["symbols"][1]["note"], "a|b");
  EXPECT_EQ(json["levels"].size(), 4u);
}

TEST(CoverageTables, HoldWhatTheShimIsMadeFrom)
{
  const auto tables = coverage_tables();
  const auto portals = std::find_if(tables.begin(), tables.end(), [](const auto& t) { return t.title == "Portals 4"; });
  ASSERT_NE(portals, tables.end());
  EXPECT_TRUE(
      std::any_of(portals->rows.begin(), portals->rows.end(), [](const auto& r) { return r.symbol == "PtlPut"; }));
}

TEST(CoverageTables, UseOnlyKnownLevels)
{
  const std::set<std::string_view> known{"FULL", "PARTIAL", "IGNORED", "ERROR"};
  for (const CoverageTable& table : coverage_tables()) {
    for (const CoverageRow& row : table.rows)
      EXPECT_TRUE(known.contains(row.level)) << row.symbol << ": " << row.level;
  }
}

TEST(CoverageTables, NameEachSymbolOnce)
{
  std::set<std::string_view> seen;
  for (const CoverageTable& table : coverage_tables()) {
    for (const CoverageRow& row : table.rows)
      EXPECT_TRUE(seen.insert(row.symbol).second) << row.symbol << " of " << table.title;
  }
}

TEST(CoverageTables, ForgetNoTable)
{
  std::ostringstream all;
  all << std::ifstream(UMWELT_TABLES "/all.h").rdbuf();
  for (const auto& entry : std::filesystem::directory_iterator(UMWELT_TABLES)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".def") && name != "services.def" && !name.starts_with("mpi")) {
      EXPECT_THAT(all.str(), HasSubstr("preload/abi/tables/" + name));
    }
  }
}

} // namespace
} // namespace umwelt::cli
