// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/platform_question.h"

#include <cstdio>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runtime/base/usage_error.h"

namespace umwelt::cli
{
namespace
{

using testing::HasSubstr;

std::string error_of(const PlatformQuestion& question)
{
  try {
    answer(question, false);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PlatformQuestion, ListsParametersOfOne)
{
  const std::string text = answer({.spec = "torus:dims=3x3"}, false).text;
  EXPECT_THAT(text, HasSubstr("torus: 9 nodes of 128 cores, 9 switches, 27 cables\n"));
  EXPECT_THAT(text, HasSubstr("  dims=4x4x4                   switches in each dimension\n"));
}

TEST(PlatformQuestion, TellsARouteByNamesAndNumbers)
{
  const PlatformQuestion question{.spec = "torus:dims=4x4", .routes = {"node1", "3"}};
  EXPECT_THAT(answer(question, false).text, HasSubstr("node1 to node3: 4 links, 400ns, 12.5GB/s\n"
                                                      "  node1 up  [virtual channel 0]\n"
                                                      "  switch1.0 to switch2.0  [virtual channel 0]\n"
                                                      "  switch2.0 to switch3.0  [virtual channel 0]\n"
                                                      "  node3 down  [virtual channel 0]\n"));
  const auto json = nlohmann::json::parse(answer(question, true).text);
  EXPECT_EQ(json["route"][1]["link"], "switch1.0 to switch2.0");
  EXPECT_EQ(json["nodes"], 16);
  EXPECT_THAT(error_of({.spec = "torus:dims=4x4", .routes = {"node1", "node61"}}),
              HasSubstr("expected two nodes of platform torus, node0 to node15 or 0 to 15, got 'node61'"));
}

TEST(PlatformQuestion, ChecksRoutes)
{
  const PlatformAnswer checked = answer({.spec = "dragonfly:routing=valiant", .check = true}, false);
  EXPECT_TRUE(checked.sound);
  EXPECT_THAT(checked.text, HasSubstr("routes: 5112 between 72 nodes,"));
  EXPECT_THAT(checked.text,
              HasSubstr("reachable: every pair\ndeadlock: none, the channel dependency graph has no cycle "
                        "(3 virtual channels)\n"));
  EXPECT_THAT(answer({.spec = "bxi", .nodes = 2000, .check = true}, false).text, HasSubstr("1000 nodes (a sample)"));
}

TEST(PlatformQuestion, SaysWhetherTheBisectionIsKnown)
{
  EXPECT_THAT(answer({.spec = "torus:dims=4x4", .bisection = true}, false).text,
              HasSubstr("bisection: 8 cables, 100GB/s per direction\n  closed form: across the longest dimension"));
  EXPECT_THAT(answer({.spec = "torus:dims=3x5", .bisection = true}, false).text, HasSubstr("  minimum cut between"));
  EXPECT_THAT(error_of({.spec = "bxi", .nodes = 1, .bisection = true}), HasSubstr("expected two nodes at least"));
}

TEST(PlatformQuestion, DrawsIntoAFile)
{
  const std::string path = testing::TempDir() + "umwelt-drawing.svg";
  const auto drawn = [&](const std::string& spec) {
    EXPECT_THAT(answer({.spec = spec, .draw = path}, false).text, HasSubstr("drawn: " + path));
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::remove(path.c_str());
    return text.str();
  };
  const std::string small = drawn("mesh:dims=3x3");
  EXPECT_THAT(small, testing::StartsWith("<svg "));
  EXPECT_THAT(small, HasSubstr("<title>switch1.2</title>"));
  EXPECT_THAT(small, HasSubstr("<title>switch0.0 to switch1.0</title>"));
  const std::string large = drawn("dragonfly:groups=33,routers=8,hosts=4,global=4");
  EXPECT_THAT(large, HasSubstr("group 32: 8 switches, 28 cables within, 32 of nodes"));
  EXPECT_EQ(large.find("router0.0"), std::string::npos);
  EXPECT_THROW(answer({.spec = "mesh", .draw = "/nonexistent/picture.svg"}, false), std::runtime_error);
}

TEST(PlatformQuestion, BadPlatformsAreRefused)
{
  EXPECT_THAT(error_of({.spec = "tours"}), HasSubstr("Did you mean 'torus'?"));
  EXPECT_THAT(error_of({.spec = "torus:dim=3"}), HasSubstr("Did you mean 'dims'?"));
}

} // namespace
} // namespace umwelt::cli
