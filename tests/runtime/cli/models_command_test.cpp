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
                                           {{"latency", ParameterKind::time, "1us", "of a message"},
                                            {"bw", ParameterKind::bandwidth, "12.5GB/s", "of all"}}}};

const net::ModelEntry node{"node", "a machine", {{"line", ParameterKind::time, "80ns", "between cores"}}};

TEST(ModelsText, ListsModelsAndTheirParameters)
{
  EXPECT_THAT(models_text(models, node), testing::StartsWith("delay\n"
                                                             "  a constant\n"
                                                             "    latency       1us  time       of a message\n"
                                                             "    bw       12.5GB/s  bandwidth  of all\n"));
}

TEST(ModelsText, EndsWithTheNodes)
{
  EXPECT_THAT(models_text(models, node), testing::HasSubstr("\nnode\n"
                                                            "  a machine\n"
                                                            "    line  80ns  time       between cores\n"
                                                            "\nSet them with: umwelt run --node KEY=VALUE"));
}

TEST(ModelsJson, ListsTheSame)
{
  const auto json = nlohmann::json::parse(models_json(models, node));
  EXPECT_EQ(json[0]["name"], "delay");
  EXPECT_EQ(json[0]["parameters"][1]["kind"], "bandwidth");
  EXPECT_EQ(json[0]["parameters"][0]["default"], "1us");
  EXPECT_EQ(json[0]["option"], "--nic");
  EXPECT_EQ(json[1]["name"], "node");
  EXPECT_EQ(json[1]["option"], "--node");
}

} // namespace
} // namespace umwelt::cli
