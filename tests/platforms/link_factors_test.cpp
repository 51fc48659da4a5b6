// SPDX-License-Identifier: LGPL-2.1-or-later
// --latency-factor, --bandwidth-factor on links; names and classes of links.
#include "platforms/link_factors.h"

#include <fstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/scratch.h"

namespace umwelt::platform
{
namespace
{

using sim::nanosecond;
using testing::AllOf;
using testing::HasSubstr;

// Two levels: 0 and 4 are on different leaves.
constexpr const char* tree = "bxi:leaf=4,spines=2,lat=100ns,spine_lat=300ns,bw=10GB/s,spine_bw=20GB/s";

struct Scaled {
  explicit Scaled(const LinkFactors& factors, const std::string& spec = tree)
      : platform(make_platform({.spec = spec, .nodes = 8}))
  {
    scale_links(*platform, factors);
  }
  std::unique_ptr<Platform> platform;
};

std::string message(const LinkFactors& factors, const std::string& spec = tree)
{
  try {
    const Scaled scaled(factors, spec);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(LinkFactors, OfAllLinks)
{
  const Scaled scaled({{{"", 10}}, {{"", 0.5}}});
  EXPECT_EQ(scaled.platform->route(0, 4).latency, 8000 * nanosecond);
  EXPECT_DOUBLE_EQ(scaled.platform->route(0, 4).bandwidth, 5e9);
}

TEST(LinkFactors, OneChangesNothing)
{
  auto plain = make_platform({.spec = tree, .nodes = 8});
  const sim::SimTime latency = plain->route(0, 4).latency;
  const double bandwidth = plain->route(0, 4).bandwidth;
  plain.reset(); // SimGrid has one at a time
  const Scaled scaled({{{"", 1}, {"leaf*", 1}}, {{"node", 1}}});
  EXPECT_EQ(scaled.platform->route(0, 4).latency, latency);
  EXPECT_EQ(scaled.platform->route(0, 4).bandwidth, bandwidth);
}

TEST(LinkFactors, OfAPatternOfNames)
{
  const Scaled scaled({{{"leaf* to spine*", 2}}, {}});
  EXPECT_EQ(scaled.platform->route(0, 4).latency, (100 + 600 + 300 + 100) * nanosecond);
  EXPECT_EQ(scaled.platform->route(0, 1).latency, 200 * nanosecond);
}

TEST(LinkFactors, OfAKindOfCable)
{
  const Scaled scaled({{{"local", 2}}, {{"node", 4}}});
  EXPECT_EQ(scaled.platform->route(0, 4).latency, (100 + 600 + 600 + 100) * nanosecond);
  EXPECT_DOUBLE_EQ(scaled.platform->route(0, 1).bandwidth, 40e9);
  EXPECT_DOUBLE_EQ(scaled.platform->route(0, 4).bandwidth, 20e9);
}

TEST(LinkFactors, TheLastThatFitsCounts)
{
  Scaled scaled({{{"", 2}, {"bxi0 up", 5}}, {}});
  EXPECT_EQ(scaled.platform->route(0, 1).latency, (500 + 200) * nanosecond);
  scaled.platform.reset();
  const Scaled other({{{"bxi0 up", 5}, {"", 2}}, {}});
  EXPECT_EQ(other.platform->route(0, 1).latency, 400 * nanosecond);
}

TEST(LinkFactors, WhatFitsNoLinkIsRefusedWithTheNearestNames)
{
  EXPECT_THAT(message({{{"lef0 to spine1", 2}}, {}}),
              AllOf(HasSubstr("--latency-factor lef0 to spine1=2"), HasSubstr("one of node, local, global"),
                    HasSubstr("'leaf0 to spine1'")));
  EXPECT_THAT(message({{}, {{"global", 2}}}), HasSubstr("--bandwidth-factor global=2")); // a fat tree has none
}

TEST(LinkFactors, WhatCannotBeSimulatedIsRefused)
{
  EXPECT_THAT(message({{{"", 1e9}}, {}}, "crossbar:lat=1s"),
              AllOf(HasSubstr("--latency-factor"), HasSubstr("its latency 1000000000 s")));
  EXPECT_THAT(message({{}, {{"", 1e-9}}}, "crossbar:bw=1MB/s"),
              AllOf(HasSubstr("--bandwidth-factor"), HasSubstr("B/s")));
}

TEST(LinkFactors, OfPlatformsFromFiles)
{
  const Scratch scratch;
  const std::string path = scratch.path / "factors.xml";
  std::ofstream(path) << R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
  <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
  <link id="rack1-3" bandwidth="1GBps" latency="1us"/><link id="uplink[0]" bandwidth="1GBps" latency="1us"/>
  <route src="a" dst="b"><link_ctn id="rack1-3"/><link_ctn id="uplink[0]"/></route>
</zone></platform>)";
  Scaled scaled({{{"rack*", 3}, {"uplink[0]", 7}}, {}}, path);
  EXPECT_EQ(scaled.platform->route(0, 1).latency, 10'000 * nanosecond);
  scaled.platform.reset();
  EXPECT_THAT(message({{{"node", 2}}, {}}, path), AllOf(HasSubstr("a pattern of names"), HasSubstr("'rack1-3'")));
}

TEST(SpeedUp, IsOfEveryNode)
{
  const auto platform = make_platform({.spec = "crossbar", .nodes = 2});
  platform->speed_up(4);
  EXPECT_EQ(platform->node(1).speed, 4.0);
}

} // namespace
} // namespace umwelt::platform
