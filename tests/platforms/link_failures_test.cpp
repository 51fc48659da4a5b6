// SPDX-License-Identifier: LGPL-2.1-or-later
// Which way there is while links are away.
#include "platforms/link_failures.h"

#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::platform
{
namespace
{

using sim::microsecond;
using sim::never;
using sim::SimTime;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct Failing {
  Failing(const std::vector<LinkFailure>& faults, const std::string& spec = "bxi:leaf=4,spines=4", unsigned nodes = 8)
      : platform(make_platform({.spec = spec, .nodes = nodes})), failures(*platform, faults)
  {
  }
  std::vector<std::string> way(NodeIndex from, NodeIndex to, SimTime when)
  {
    std::vector<std::string> names;
    const LinkFailures::Way found = failures.find(from, to, when);
    if (found.route != nullptr)
      for (const LinkIndex link : found.route->links)
        names.push_back(platform->link(link).name);
    return names;
  }
  std::unique_ptr<Platform> platform;
  LinkFailures failures;
};

LinkFailure fault(const std::string& links, SimTime at, SimTime length)
{
  return {links, at, length, "--fault link=" + links};
}

TEST(LinkFailures, AFatTreeHasOtherWays)
{
  Failing failing({fault("leaf0 to spine0", 10 * microsecond, 5 * microsecond)});
  const auto usual = ElementsAre("bxi0 up", "leaf0 to spine0", "spine0 to leaf1", "bxi4 down");
  EXPECT_THAT(failing.way(0, 4, 10 * microsecond - 1), usual);
  EXPECT_FALSE(failing.failures.find(0, 4, 10 * microsecond - 1).detour);
  const std::vector<std::string> other = failing.way(0, 4, 10 * microsecond);
  ASSERT_EQ(other.size(), 4U);
  EXPECT_EQ(other[0], "bxi0 up");
  EXPECT_NE(other[1], "leaf0 to spine0");
  EXPECT_EQ(other[3], "bxi4 down");
  EXPECT_TRUE(failing.failures.find(0, 4, 10 * microsecond).detour);
  EXPECT_EQ(failing.failures.find(0, 4, 10 * microsecond).route, failing.failures.find(0, 4, 12 * microsecond).route);
  EXPECT_THAT(failing.way(0, 4, 15 * microsecond), usual);
}

TEST(LinkFailures, TheMessagesOfALinkTakeDifferentOtherWays)
{
  Failing failing({fault("leaf0 to spine0", 0, never)}, "bxi:leaf=8,spines=4,routing=d_mod_k", 16);
  std::set<std::string> taken;
  for (const NodeIndex to : {8U, 12U}) // both usually by spine0
    for (NodeIndex from = 0; from < 8; ++from)
      taken.insert(failing.way(from, to, 0).at(1));
  EXPECT_EQ(taken.size(), 3U);
}

TEST(LinkFailures, OneWithoutAnotherWayIsWaitedFor)
{
  Failing failing({fault("bxi4 down", 10 * microsecond, 5 * microsecond)});
  const LinkFailures::Way way = failing.failures.find(0, 4, 12 * microsecond);
  EXPECT_EQ(way.route, nullptr);
  EXPECT_EQ(way.from, 15 * microsecond);
  EXPECT_NE(failing.failures.find(4, 0, 12 * microsecond).route, nullptr); // the other direction is another link
}

TEST(LinkFailures, FailuresThatTouchAreOne)
{
  Failing failing({fault("bxi4 down", 10, 5), fault("bxi4*", 15, 10), fault("bxi4 down", 12, 20)});
  EXPECT_EQ(failing.failures.find(0, 4, 11).from, 32);
  EXPECT_EQ(failing.failures.find(4, 0, 16).from, 25);
}

TEST(LinkFailures, TheFirstFailureOfARoute)
{
  Failing failing({fault("bxi4 down", 30, 5), fault("bxi0 up", 10, 5)});
  const Route& route = failing.platform->route(0, 4);
  EXPECT_EQ(failing.failures.first_failure(route, 0, 100), 10);
  EXPECT_EQ(failing.failures.first_failure(route, 0, 10), never);
  EXPECT_EQ(failing.failures.first_failure(route, 15, 100), 30);
  EXPECT_EQ(failing.failures.first_failure(route, 35, 100), never);
  EXPECT_EQ(failing.failures.first_failure(route, 12, 13), 12); // away already
}

TEST(LinkFailures, NodesHandNothingOn)
{
  // Three nodes with a cable each to two switches. From node 0 only the second is left, to node 1 only the first: node
  // 2 has cables to both, and is no switch.
  Failing failing({fault("leaf* to spine*", 0, never), fault("node0 up", 0, never), fault("node1 down #2", 0, never)},
                  "fat_tree:down=3x2,up=2x1,cables=1x1", 6);
  EXPECT_EQ(failing.failures.find(0, 1, 0).from, never);
  EXPECT_EQ(failing.way(0, 2, 0).size(), 2U);
  EXPECT_EQ(failing.way(2, 1, 0).size(), 2U);
}

TEST(LinkFailures, ThatCutNodesOffForGoodAreRefused)
{
  const std::vector<NodeIndex> all{0, 1, 4};
  const auto refused = [&all](const std::vector<LinkFailure>& faults) -> std::string {
    Failing failing(faults);
    try {
      failing.failures.check(all);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(refused({fault("bxi4 *", 1 * microsecond, never)}),
              AllOf(HasSubstr("--fault link=bxi4 *"), HasSubstr("none from bxi0 to bxi4 from 1e-06 s on"),
                    HasSubstr(":for=TIME")));
  EXPECT_EQ(refused({fault("bxi3 *", 1 * microsecond, never)}), "no error");   // no rank is there
  EXPECT_EQ(refused({fault("*spine2*", 1 * microsecond, never)}), "no error"); // there are others
  EXPECT_EQ(refused({fault("bxi4 *", 1 * microsecond, microsecond)}), "no error");
  EXPECT_THAT(refused({fault("bxi4 *", 0, microsecond), fault("leaf*", 5 * microsecond, never)}),
              HasSubstr("--fault link=leaf*"));
}

TEST(LinkFailures, UnknownLinksAreRefused)
{
  try {
    const Failing failing({fault("leaf0 to spine9", 0, never)});
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("--fault link=leaf0 to spine9"), HasSubstr("'leaf0 to spine0'")));
  }
}

} // namespace
} // namespace umwelt::platform
