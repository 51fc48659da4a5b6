// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/models_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace umwelt::cli
{
namespace
{

const std::vector<net::ModelEntry> models{{"delay",
                                           "a constant",
                                           {{"latency", net::ParameterKind::time, "1us", "of a message"},
                                            {"bw", net::ParameterKind::bandwidth, "12.5GB/s", "of all"}}}};

TEST(ModelsText, ListsModelsAndTheirParameters)
{
  EXPECT_THAT(models_text(models), testing::StartsWith("delay\n"
                                                       "  a constant\n"
                                                       "    latency       1us  time       of a message\n"
                                                       "    bw       12.5GB/s  bandwidth  of all\n"));
}

TEST(ModelsJson, ListsTheSame)
{
  const auto json = nlohmann::json::parse(models_json(models));
  EXPECT_EQ(json[0]["name"], "delay");
  EXPECT_EQ(json[0]["parameters"][1]["kind"], "bandwidth");
  EXPECT_EQ(json[0]["parameters"][0]["default"], "1us");
}

} // namespace
} // namespace umwelt::cli
