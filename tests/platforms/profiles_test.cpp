// SPDX-License-Identifier: LGPL-2.1-or-later
// Profiles in SimGrid's format: links that fail and come back, and what is refused.
#include "platforms/profiles.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/link_failures.h"
#include "tests/platforms/scratch.h"
#include "tests/platforms/simgrid_answer.h"

namespace umwelt::platform
{
namespace
{

using sim::millisecond;
using sim::never;
using sim::SimTime;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Periods = std::vector<std::pair<SimTime, SimTime>>;

class Profiles : public testing::Test
{
protected:
  void file(const std::string& name, const std::string& text) const { std::ofstream(scratch_.path / name) << text; }
  // Hosts a and b with link `way` there and link `back` back.
  [[nodiscard]] std::string platform(const std::string& way, const std::string& more = "",
                                     const std::string& host = "") const
  {
    file("platform.xml", R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
  <host id="a" speed="1Gf" )" +
                             host + R"(/><host id="b" speed="1Gf"/>
  <link id="way" bandwidth="1GBps" latency="1us" )" +
                             way + R"(/>
  <link id="back" bandwidth="1GBps" latency="1us"/>
  <route src="a" dst="b" symmetrical="NO"><link_ctn id="way"/></route>
  <route src="b" dst="a" symmetrical="NO"><link_ctn id="back"/></route>)" +
                             more + "</zone></platform>\n");
    return scratch_.path / "platform.xml";
  }
  static Periods periods(const std::string& path, const std::string& link = "way")
  {
    const auto loaded = make_platform({.spec = path});
    Periods result;
    for (const Outage& outage : loaded->outages())
      if (outage.link->get_name() == link)
        result.emplace_back(outage.from, outage.to);
    return result;
  }
  Periods periods_of(const std::string& profile)
  {
    file("state", profile);
    return periods(platform("state_file='state'"));
  }

  const Scratch scratch_;
};

TEST_F(Profiles, OnceAndForGood)
{
  EXPECT_THAT(periods_of("0.001 0\n0.003 1\n0.005 0\n"),
              ElementsAre(std::pair(1 * millisecond, 3 * millisecond), std::pair(5 * millisecond, never)));
  EXPECT_THAT(periods_of("0 0\n0.25 1\n"), ElementsAre(std::pair(SimTime{0}, 250 * millisecond)));
  EXPECT_THAT(periods_of("0 1\n"), ElementsAre());
}

TEST_F(Profiles, Periodically)
{
  file("state", "PERIODICITY 10\n1 0\n3 1\n");
  const auto loaded = make_platform({.spec = platform("state_file='state'")});
  ASSERT_EQ(loaded->outages().size(), most_changes / 2);
  for (std::size_t i = 0; i < 1000; ++i) { // SimGrid adds up in floating point
    EXPECT_NEAR(static_cast<double>(loaded->outages()[i].from), (10.0 * i + 1) * 1e12, 1e3);
    EXPECT_NEAR(static_cast<double>(loaded->outages()[i].to), (10.0 * i + 3) * 1e12, 1e3);
  }
  LinkFailures failures(*loaded, {});
  EXPECT_EQ(failures.given().front().failure.times, most_changes / 2);
  EXPECT_THROW(failures.find(0, 1, loaded->outages_known_until()), std::runtime_error);
  EXPECT_GE(loaded->outages_known_until(), loaded->outages().back().to);
}

TEST_F(Profiles, AfterAPause)
{
  const Periods found = periods_of("LOOPAFTER 4\n1 0\n3 1\n"); // the next time 4 + 1 after the last line
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(found[0], std::pair(1000 * millisecond, 3000 * millisecond));
  EXPECT_EQ(found[1], std::pair(8000 * millisecond, 10000 * millisecond));
}

TEST_F(Profiles, OfATraceThatIsConnected)
{
  const std::string connect = "<trace_connect kind='LINK_AVAIL' trace='t' element='way'/>";
  EXPECT_THAT(periods(platform("", "<trace id='t' periodicity='0'>0.001 0\n0.002 1</trace>" + connect)),
              ElementsAre(std::pair(1 * millisecond, 2 * millisecond)));
  const Periods found = periods(platform("", "<trace id='t' periodicity='1'>0.001 0\n0.002 1</trace>" + connect));
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(found[1], std::pair(1001 * millisecond, 1002 * millisecond));
  file("state", "0.004 0\n");
  EXPECT_THAT(periods(platform("", "<trace id='t' periodicity='0' file='state'/>" + connect)),
              ElementsAre(std::pair(4 * millisecond, never)));
}

TEST_F(Profiles, OfBothDirectionsOfALink)
{
  file("state", "0.001 0\n0.002 1\n");
  file("two.xml", R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
  <link id="cable" bandwidth="1GBps" latency="1us" sharing_policy="SPLITDUPLEX" state_file="state"/>
  <route src="a" dst="b"><link_ctn id="cable" direction="UP"/></route></zone></platform>)");
  const std::string path = scratch_.path / "two.xml";
  EXPECT_THAT(periods(path, "cable_UP"), ElementsAre(std::pair(1 * millisecond, 2 * millisecond)));
  EXPECT_THAT(periods(path, "cable_DOWN"), ElementsAre(std::pair(1 * millisecond, 2 * millisecond)));
}

TEST_F(Profiles, ActAsFaultsDo)
{
  file("state", "0.001 0\n0.002 1\n");
  const auto loaded = make_platform({.spec = platform("state_file='state'")});
  LinkFailures failures(*loaded, {});
  EXPECT_EQ(failures.find(0, 1, 1 * millisecond).from, 2 * millisecond);
  EXPECT_NE(failures.find(1, 0, 1 * millisecond).route, nullptr);
  EXPECT_EQ(failures.first_failure(loaded->route(0, 1), 0, never), 1 * millisecond);
  ASSERT_EQ(failures.given().size(), 1U);
  EXPECT_EQ(failures.given()[0].failure.links, "way");
  EXPECT_EQ(failures.given()[0].failure.length, 1 * millisecond);
  // One of --fault that lasts beyond it
  const std::vector<LinkFailure> more{{"way", 1500 * sim::microsecond, 5 * millisecond, "--fault"}};
  LinkFailures both(*loaded, more);
  EXPECT_EQ(both.find(0, 1, 1 * millisecond).from, 6500 * sim::microsecond);
}

TEST_F(Profiles, ForGoodAreRefusedBetweenNodesOfTheRun)
{
  file("state", "0.001 0\n0.002 1\n0.005 0\n");
  const auto loaded = make_platform({.spec = platform("state_file='state'")});
  LinkFailures failures(*loaded, {});
  const std::vector<NodeIndex> both{0, 1};
  try {
    failures.check(both);
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("profile of link 'way'"), HasSubstr("none from a to b from 0.005 s on")));
  }
}

TEST_F(Profiles, WhatNoModelFollowsIsRefused)
{
  file("values", "0.5 7\n");
  const auto refused = [&](const std::string& way, const std::string& host = "") {
    return refusal(platform(way, "", host));
  };
  EXPECT_THAT(refused("bandwidth_file='values'"),
              HasSubstr("a profile that changes the bandwidth of link 'way' at 0.5 s, which no network model follows"));
  EXPECT_THAT(refused("latency_file='values'"), HasSubstr("a profile that changes the latency of link 'way'"));
  EXPECT_THAT(refused("", "speed_file='values'"), HasSubstr("a profile that changes the speed of host 'a' at 0.5 s"));
  file("values", "0.5 0\n");
  EXPECT_THAT(refused("", "state_file='values'"), HasSubstr("a profile that turns host 'a' off at 0.5 s"));
  file("values", "0.5 1e9\n"); // no change
  // In a process of its own: what SimGrid has planned outlives its engine.
  const std::string path = platform("bandwidth_file='values'");
  EXPECT_EQ(rehearse([&] { return refusal(path); }).result, "no error");
}

TEST_F(Profiles, WhatHoldsFromTheStartOn)
{
  file("values", "0 5e8\n");
  EXPECT_DOUBLE_EQ(make_platform({.spec = platform("bandwidth_file='values'")})->route(0, 1).bandwidth, 5e8);
}

TEST_F(Profiles, ThatCannotBeRead)
{
  EXPECT_THAT(refusal(platform("state_file='absent'")),
              AllOf(HasSubstr("platform.xml'"), HasSubstr("Cannot open file 'absent'")));
  file("state", "2 0\n1 1\n");
  EXPECT_THAT(refusal(platform("state_file='state'")), HasSubstr("Events must be sorted"));
  EXPECT_THAT(refusal(platform("", "<trace_connect kind='LINK_AVAIL' trace='t' element='way'/>")),
              HasSubstr("of link 'way': expected the id of a trace, got 't'"));
  EXPECT_THAT(refusal(platform("", "<trace id='t' periodicity='0'>0 1</trace>"
                                   "<trace_connect kind='LINK_AVAIL' trace='t' element='weg'/>")),
              HasSubstr("a state profile of link 'weg', which is not there"));
}

TEST_F(Profiles, ErrorsElsewhereNameTheFile)
{
  file("state", "1 0\n");
  EXPECT_THAT(refusal(platform("state_file='state'", "<rout src='a'/>")),
              AllOf(HasSubstr((scratch_.path / "platform.xml").string() + ":8"), testing::Not(HasSubstr("/proc/"))));
}

} // namespace
} // namespace umwelt::platform
