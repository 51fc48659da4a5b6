// SPDX-License-Identifier: LGPL-2.1-or-later
// What --latency-factor, --bandwidth-factor, --compute-factor and --fault say.
#include "runtime/plan/what_if.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/usage_error.h"

namespace umwelt::plan
{
namespace
{

using sim::microsecond;
using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& work)
{
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LinkFactor, IsOfAllLinksOrOfSome)
{
  EXPECT_EQ(parse_link_factor("--latency-factor", "0.5").links, "");
  EXPECT_EQ(parse_link_factor("--latency-factor", "0.5").factor, 0.5);
  EXPECT_EQ(parse_link_factor("--latency-factor", "leaf* to spine1=1e3").links, "leaf* to spine1");
  EXPECT_EQ(parse_link_factor("--latency-factor", "leaf* to spine1=1e3").factor, 1000);
  EXPECT_EQ(parse_link_factor("--latency-factor", "a=b=2").links, "a=b");
}

TEST(LinkFactor, IsAPositiveFiniteNumber)
{
  for (const char* text :
       {"0", "-1", "inf", "nan", "1e400", "", "2x", "fast", "leaf*=", "leaf*=0", "leaf*=-2", "leaf*"})
    EXPECT_THAT(error_of([&] { parse_link_factor("--latency-factor", text); }),
                AllOf(HasSubstr("--latency-factor"), HasSubstr("expected a number greater than 0")))
        << text;
  EXPECT_THAT(error_of([] { parse_link_factor("--bandwidth-factor", "1e10"); }), HasSubstr("a factor from 1e-09"));
  EXPECT_THAT(error_of([] { parse_link_factor("--bandwidth-factor", "=2"); }), HasSubstr("F, or CLASS=F"));
  EXPECT_THAT(error_of([] { parse_compute_factor("--compute-factor", "0"); }), HasSubstr("--compute-factor"));
  EXPECT_EQ(parse_compute_factor("--compute-factor", "2.5"), 2.5);
}

TEST(Fault, SaysWhichLinksWhenAndForHowLong)
{
  const platform::LinkFailure failure = parse_fault("--fault", "link=leaf0 to spine1:at=1ms:for=20us");
  EXPECT_EQ(failure.links, "leaf0 to spine1");
  EXPECT_EQ(failure.at, 1000 * microsecond);
  EXPECT_EQ(failure.length, 20 * microsecond);
  EXPECT_EQ(failure.text, "--fault link=leaf0 to spine1:at=1ms:for=20us");
  EXPECT_EQ(parse_fault("--fault", "link=a:b*:for=1us:at=0").links, "a:b*"); // either order, colons in names
  EXPECT_EQ(parse_fault("--fault", "link=a:at=2us").length, sim::never);
}

TEST(Fault, MistakesAreExplained)
{
  const auto message = [](const char* text) { return error_of([text] { parse_fault("--fault", text); }); };
  EXPECT_THAT(message("leaf*:at=1us"), AllOf(HasSubstr("expected link=GLOB"), HasSubstr("For example: --fault")));
  EXPECT_THAT(message("link=:at=1us"), HasSubstr("expected link=GLOB"));
  EXPECT_THAT(message("link=a"), HasSubstr("expected at=TIME"));
  EXPECT_THAT(message("link=a:for=1us"), HasSubstr("expected at=TIME"));
  EXPECT_THAT(message("link=a:at=1"), AllOf(HasSubstr("--fault at"), HasSubstr("a duration")));
  EXPECT_THAT(message("link=a:at=-1us"), HasSubstr("a duration"));
  EXPECT_THAT(message("link=a:at=1us:for=0"), HasSubstr("for=TIME above 0"));
  EXPECT_THAT(message("link=a:at=1us:at=2us"), HasSubstr("at= once"));
  EXPECT_THAT(message("link=a:at=1us:until=2us"), HasSubstr("expected at=TIME or for=TIME behind the link"));
}

TEST(WhatIf, FailuresAreCheckedBetweenTheNodesOfTheRanks)
{
  RunOptions options;
  const auto platform = platform::make_platform({.spec = "crossbar", .nodes = 3});
  Placement placement;
  placement.ranks.resize(2);
  placement.ranks[1].node = 1;
  EXPECT_EQ(make_failures(options, *platform, placement), nullptr);
  options.faults.push_back(parse_fault("--fault", "link=bxi2 *:at=0"));
  EXPECT_NE(make_failures(options, *platform, placement), nullptr); // nobody is there
  options.faults.push_back(parse_fault("--fault", "link=bxi1 up:at=1us"));
  EXPECT_THROW(make_failures(options, *platform, placement), std::invalid_argument);
}

TEST(WhatIf, NodesComputeFaster)
{
  RunOptions options;
  options.compute_factor = 4;
  const auto platform = platform::make_platform({.spec = "crossbar", .nodes = 1});
  apply_factors(options, *platform);
  EXPECT_EQ(platform->node(0).speed, 4);
}

} // namespace
} // namespace umwelt::plan
