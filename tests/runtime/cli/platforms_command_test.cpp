// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/platforms_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace umwelt::cli
{
namespace
{

const std::vector<platform::CatalogueEntry> catalogue{{"bxi", "a fat tree", "leaf=24"}, {"plain", "a crossbar", ""}};

TEST(PlatformsText, ListsNameSummaryAndParameters)
{
  EXPECT_THAT(platforms_text(catalogue), testing::StartsWith("bxi    a fat tree\n"
                                                             "       parameters: leaf=24\n"
                                                             "plain  a crossbar\n"
                                                             "\n"));
}

TEST(PlatformsJson, ListsTheSame)
{
  const auto json = nlohmann::json::parse(platforms_json(catalogue));
  EXPECT_EQ(json[0]["name"], "bxi");
  EXPECT_EQ(json[1]["summary"], "a crossbar");
}

} // namespace
} // namespace umwelt::cli
