// SPDX-License-Identifier: LGPL-2.1-or-later
// Long messages that share a link by packets.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "net_models/bxi/model.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::millisecond;

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr double rate = 12.5e9 * 0.934; // of a link, in bytes per second
const std::string one_spine = "bxi:leaf=4,spines=1";

std::uint64_t wire_bytes(std::uint64_t payload)
{
  return 64 + payload + (payload + 1023) / 1024 * 64;
}

double wire(std::uint64_t payload) // in picoseconds
{
  return static_cast<double>(wire_bytes(payload)) / rate * 1e12;
}

double alone(const std::string& spec, std::uint64_t payload, NodeIndex to)
{
  Bench bench("bxi", "", 8, spec);
  return static_cast<double>(bench.put_time(payload, 0, to));
}

void run_until(Bench& bench, SimTime when)
{
  while (bench.timeline.next() <= when)
    bench.timeline.step();
  bench.timeline.advance_to(when);
}

TEST(BxiSharing, TwoLongMessagesAdvanceSideBySide)
{
  const double one = alone(one_spine, mebibyte, 4);
  Bench bench("bxi", "", 8, one_spine);
  const Observed& a = bench.put(mebibyte, 0, 4);
  const Observed& b = bench.put(mebibyte, 1, 5);
  bench.run();
  EXPECT_NEAR(static_cast<double>(a.done), one + wire(mebibyte), 0.01 * one);
  EXPECT_NEAR(static_cast<double>(b.done), one + wire(mebibyte), 0.01 * one);
}

TEST(BxiSharing, WhoComesLaterGetsItsShareFromThenOn)
{
  const double one = alone(one_spine, mebibyte, 4);
  const double whole = wire(mebibyte);
  Bench bench("bxi", "", 8, one_spine);
  const Observed& a = bench.put(mebibyte, 0, 4);
  run_until(bench, static_cast<SimTime>(whole / 2));
  const Observed& b = bench.put(mebibyte, 1, 5);
  bench.run();
  EXPECT_NEAR(static_cast<double>(a.done), one + whole / 2, 0.01 * one); // half alone, half at half the rate
  EXPECT_NEAR(static_cast<double>(b.done), one + whole, 0.01 * one);     // the other way round
}

TEST(BxiSharing, ThereIsNoChangeForWhoIsAlone)
{
  const double one = alone(one_spine, mebibyte, 4);
  Bench bench("bxi", "", 8, one_spine);
  const Observed& a = bench.put(mebibyte, 0, 4);
  run_until(bench, a.started + static_cast<SimTime>(one));
  const Observed& b = bench.put(mebibyte, 1, 5);
  bench.run();
  EXPECT_EQ(a.done, static_cast<SimTime>(one));
  EXPECT_EQ(b.done - b.started, a.done);
}

TEST(BxiSharing, PortsHaveSharesNotMessages)
{
  const double one = alone(one_spine, mebibyte, 4);
  Bench bench("bxi", "", 8, one_spine);
  const Observed& first = bench.put(mebibyte, 0, 4);
  const Observed& second = bench.put(mebibyte, 0, 5);
  const Observed& third = bench.put(mebibyte, 0, 6);
  const Observed& other = bench.put(mebibyte, 1, 7);
  bench.run();
  // What one node sends goes in the order in which it was sent; another node's message has half the link.
  EXPECT_NEAR(static_cast<double>(first.done), one + wire(mebibyte), 0.01 * one);
  EXPECT_NEAR(static_cast<double>(other.done), one + wire(mebibyte), 0.01 * one);
  EXPECT_NEAR(static_cast<double>(second.done), one + 2 * wire(mebibyte), 0.02 * one);
  EXPECT_NEAR(static_cast<double>(third.done), one + 3 * wire(mebibyte), 0.02 * one);
}

TEST(BxiSharing, AnIncastEndsForAllAtTheSameTime)
{
  const double one = alone("crossbar", mebibyte, 7);
  Bench bench("bxi", "", 8, "crossbar");
  for (NodeIndex from = 0; from < 7; ++from)
    bench.put(mebibyte, from, 7);
  bench.run();
  for (const Observed& each : bench.all)
    EXPECT_NEAR(static_cast<double>(each.done), one + 6 * wire(mebibyte), 0.01 * one);
}

TEST(BxiSharing, BytesThatComeInSlowlyLeaveTheRestToOthers)
{
  // Three share the cable to the spine and have a third each; a neighbour of one of their targets has the other two
  // thirds of the cable to that.
  const double one = alone(one_spine, mebibyte, 4);
  const double near = alone("crossbar", mebibyte, 4);
  Bench bench("bxi", "", 8, one_spine);
  for (NodeIndex from = 0; from < 3; ++from)
    bench.put(mebibyte, from, 4 + from);
  const Observed& neighbour = bench.put(mebibyte, 7, 4);
  bench.run();
  for (NodeIndex from = 0; from < 3; ++from)
    EXPECT_NEAR(static_cast<double>(bench.all[from].done), one + 2 * wire(mebibyte), 0.02 * one) << from;
  EXPECT_NEAR(static_cast<double>(neighbour.done), near + wire(mebibyte) / 2, 0.02 * near);
}

TEST(BxiSharing, WhatIsSharedTwiceHasTheLesserShare)
{
  // 0 and 1 share the way up, then what 0 sends shares the last link with two neighbours of its target.
  const double one = alone(one_spine, mebibyte, 4);
  Bench bench("bxi", "", 8, one_spine);
  const Observed& far = bench.put(mebibyte, 0, 4);
  const Observed& beside = bench.put(mebibyte, 1, 5);
  const Observed& a = bench.put(mebibyte, 6, 4);
  const Observed& b = bench.put(mebibyte, 7, 4);
  bench.run();
  EXPECT_NEAR(static_cast<double>(far.done), one + 2 * wire(mebibyte), 0.02 * one);
  EXPECT_NEAR(static_cast<double>(a.done), static_cast<double>(far.done), 0.02 * one);
  EXPECT_NEAR(static_cast<double>(b.done), static_cast<double>(far.done), 0.02 * one);
  EXPECT_NEAR(static_cast<double>(beside.done), one + wire(mebibyte), 0.02 * one);
}

TEST(BxiSharing, ALongMessageAdvancesBesideAFloodOfShortOnes)
{
  const double one = alone(one_spine, mebibyte, 4);
  Bench bench("bxi", "", 8, one_spine);
  for (int i = 0; i < 6000; ++i) {
    bench.put(1024, 1, 5);
    bench.put(1024, 2, 6);
  }
  const Observed& beside = bench.put(mebibyte, 0, 4);
  bench.run();
  SimTime last = 0;
  for (const Observed& each : bench.all)
    last = std::max(last, each.done);
  EXPECT_GT(static_cast<double>(beside.done), 1.2 * one);
  EXPECT_LT(static_cast<double>(beside.done), 3.5 * one);
  EXPECT_GT(last, beside.done);
  EXPECT_GT(static_cast<double>(last), 12000 * wire(1024) + wire(mebibyte));
}

TEST(BxiSharing, AShortMessageSlipsInBetweenPacketsOfAll)
{
  Bench bench("bxi", "", 8, one_spine);
  for (NodeIndex from = 0; from < 3; ++from)
    bench.put(mebibyte, from, 4 + from);
  run_until(bench, 100 * microsecond);
  const Observed& tiny = bench.put(8, 3, 7);
  bench.run();
  EXPECT_LT(tiny.done - tiny.started, 3 * microsecond);
}

TEST(BxiSharing, WhatIsLostLoadsNoLink)
{
  const double one = alone(one_spine, mebibyte, 4);
  Bench bench("bxi", "drop_on=bxi5 down:1,e2e_retries=1,e2e_timeout=1ms", 8, one_spine);
  const Observed& fine = bench.put(mebibyte, 0, 4);
  const Observed& lost = bench.put(mebibyte, 1, 5);
  bench.run();
  EXPECT_NEAR(static_cast<double>(fine.done), one, 0.01 * one);
  EXPECT_GT(lost.failed_at, 2 * millisecond);
  EXPECT_EQ(dynamic_cast<const BxiModel&>(*bench.model).in_flight(), 0U);
}

// Messages of all sizes between all nodes, at random times.
struct Traffic {
  explicit Traffic(std::string_view parameters, std::uint32_t seed, const std::string& spec = one_spine)
      : bench("bxi", parameters, 8, spec)
  {
    std::mt19937 random(seed);
    SimTime when = 0;
    for (int i = 0; i < 400; ++i) {
      const NodeIndex from = random() % 8;
      const NodeIndex to = (from + 1 + random() % 7) % 8;
      bench.put(random() % (1U << (4 + random() % 17)), from, to);
      when += random() % 4 * 3 * microsecond;
      run_until(bench, when);
    }
    bench.run();
  }
  Bench bench;
};

TEST(BxiSharing, RunsRepeat)
{
  const auto times = [] {
    const Traffic traffic("drop=0.02,e2e_retries=100,e2e_timeout=50us", 1);
    std::vector<SimTime> found;
    for (const Observed& each : traffic.bench.all)
      found.push_back(each.done);
    return found;
  };
  EXPECT_EQ(times(), times());
}

TEST(BxiSharing, EverythingArrivesInTheOrderOfItsPair)
{
  for (const char* parameters : {"", "drop=0.05,e2e_retries=100,e2e_timeout=20us", "inflight_node=1", "e2e_entries=2"})
    for (const char* spec : {"bxi:leaf=4,spines=1", "bxi:leaf=2,spines=1", "crossbar"}) {
      const Traffic traffic(parameters, 2, spec);
      EXPECT_EQ(dynamic_cast<const BxiModel&>(*traffic.bench.model).in_flight(), 0U);
      const auto& all = traffic.bench.all;
      for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_NE(all[i].done, -1) << i;
        EXPECT_NE(all[i].source_free, -1) << i;
        for (std::size_t j = i + 1; j < all.size(); ++j)
          if (all[i].source == all[j].source && all[i].target == all[j].target) {
            EXPECT_LE(all[i].header, all[j].header) << i << ' ' << j << ' ' << spec;
          }
      }
    }
}

// What began and ended between two times has passed between them: never more than a link can carry.
void expect_conserved(const std::vector<const Observed*>& crossing)
{
  for (const Observed* first : crossing) {
    std::vector<const Observed*> later;
    std::copy_if(crossing.begin(), crossing.end(), std::back_inserter(later),
                 [&](const Observed* each) { return each->started >= first->started; });
    std::sort(later.begin(), later.end(), [](const auto* a, const auto* b) { return a->done < b->done; });
    double bytes = 0;
    for (const Observed* each : later) {
      bytes += static_cast<double>(wire_bytes(each->payload));
      ASSERT_LE(bytes, rate * sim::to_seconds(each->done - first->started)) << each->source << " to " << each->target;
    }
  }
}

TEST(BxiSharing, ALinkCarriesNoMoreThanItsRate)
{
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    const Traffic traffic("", seed);
    std::vector<const Observed*> up;
    std::vector<std::vector<const Observed*>> down(8);
    for (const Observed& each : traffic.bench.all) {
      if (each.source < 4 && each.target >= 4)
        up.push_back(&each);
      down[each.target].push_back(&each);
    }
    expect_conserved(up);
    for (const auto& each : down)
      expect_conserved(each);
  }
}

} // namespace
} // namespace umwelt::net
