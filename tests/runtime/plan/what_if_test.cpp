// SPDX-License-Identifier: LGPL-2.1-or-later
// What --latency-factor, --bandwidth-factor, --compute-factor say.
#include "runtime/plan/what_if.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/usage_error.h"

namespace umwelt::plan
{
namespace
{

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
