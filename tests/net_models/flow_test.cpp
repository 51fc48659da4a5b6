// SPDX-License-Identifier: LGPL-2.1-or-later
// The flow model needs SimGrid to run: the loop is a SimGrid actor here, as in the engine.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Link.hpp>

#include "net_models/catalogue.h"
#include "tests/net_models/in_actor.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::millisecond;
using sim::nanosecond;

// No NIC, no headers: the fabric alone.
const std::string plain = "inline_max=0,pio_max=0,pci_latency=0,pci_read=0,pci_packet=0,tx_time=0,rx_time=0,coding=1,"
                          "header=0,packet=1,packet_header=0,page_miss=0";
const std::string machine = "crossbar:lat=100ns,bw=1GB/s";

TEST(Flow, AloneItGetsTheWholeLink)
{
  Bench bench("flow", plain, 2, machine);
  in_actor(bench, [&] {
    const Observed& put = bench.put(1'000'000);
    loop(bench);
    EXPECT_EQ(put.header, 201 * nanosecond); // a packet of one byte
    EXPECT_NEAR(static_cast<double>(put.done), static_cast<double>(millisecond + 200 * nanosecond), 1e3);
  });
}

TEST(Flow, TwoIntoOneShareTheLink)
{
  Bench bench("flow", plain, 3, machine);
  in_actor(bench, [&] {
    const Observed& a = bench.put(1'000'000, 0, 2);
    const Observed& b = bench.put(500'000, 1, 2);
    loop(bench);
    EXPECT_NEAR(sim::to_microseconds(b.done), 1000.2, 0.01);
    EXPECT_NEAR(sim::to_microseconds(a.done), 1500.2, 0.01);
  });
}

TEST(Flow, OppositeDirectionsDoNotDisturbEachOther)
{
  Bench bench("flow", plain, 2, machine);
  in_actor(bench, [&] {
    const Observed& there = bench.put(1'000'000, 0, 1);
    const Observed& back = bench.put(1'000'000, 1, 0);
    loop(bench);
    EXPECT_NEAR(sim::to_microseconds(there.done), 1000.2, 0.01);
    EXPECT_EQ(there.done, back.done);
  });
}

TEST(Flow, ShortMessagesKeepTheirNanoseconds)
{
  Bench bench("flow", plain, 2, machine);
  in_actor(bench, [&] {
    const Observed& put = bench.put(7);
    loop(bench);
    EXPECT_NEAR(static_cast<double>(put.done), static_cast<double>(207 * nanosecond), 10);
  });
}

TEST(Flow, ALateFlowBeginsAtItsTime)
{
  Bench bench("flow", plain, 2, machine);
  in_actor(bench, [&] {
    bench.timeline.advance_to(5 * millisecond);
    const Observed& put = bench.put(1000);
    loop(bench);
    EXPECT_NEAR(sim::to_microseconds(put.done - put.started), 1.2, 0.001);
  });
}

TEST(Flow, EventsAndFlowsInterleave)
{
  struct Tick final : sim::Event {
    void fire() override { bench->put(100'000, 1, 0); }
    Bench* bench = nullptr;
  };
  Bench bench("flow", plain, 2, machine);
  Tick tick;
  tick.bench = &bench;
  in_actor(bench, [&] {
    const Observed& first = bench.put(1'000'000);
    bench.timeline.schedule(tick, 300 * microsecond);
    loop(bench);
    const Observed& second = bench.all.back();
    EXPECT_NEAR(sim::to_microseconds(second.done), 400.2, 0.01);
    EXPECT_NEAR(sim::to_microseconds(first.done), 1000.2, 0.01);
  });
}

TEST(Flow, HeadersOfAPairStayInOrder)
{
  Bench bench("flow", plain, 2, machine);
  in_actor(bench, [&] {
    const Observed& first = bench.put(1'000'000);
    const Observed& second = bench.put(0);
    loop(bench);
    EXPECT_THAT(bench.probe.headers, testing::ElementsAre(&first, &second));
    EXPECT_LT(second.done, first.done);
  });
}

TEST(Flow, LoopbackIsNotAFlow)
{
  Bench bench("flow", plain + ",loopback=0,pci_transfer=1GB/s", 2, machine);
  const Observed& put = bench.put(1000, 1, 1);
  EXPECT_FALSE(bench.model->external_pending());
  bench.run();
  EXPECT_EQ(put.done, 1001 * nanosecond); // a byte to look at, then all of it
}

TEST(Flow, ManyFlowsAllFinish)
{
  Bench bench("flow", plain, 8, machine);
  in_actor(bench, [&] {
    for (NodeIndex i = 0; i < 8; ++i)
      for (NodeIndex j = 0; j < 8; ++j)
        bench.put(1000 * (i + 1), i, j);
    loop(bench);
    for (const Observed& transfer : bench.all)
      EXPECT_NE(transfer.done, -1);
  });
}

// CM02 by itself would give the near one two thirds: the lower a route's latency, the more.
TEST(Flow, ALinkIsSharedEquallyHoweverFarItsFlowsCome)
{
  Bench bench("flow", plain, 4, "bxi:leaf=2,spines=1");
  in_actor(bench, [&] {
    const Observed& near = bench.put(1'000'000, 0, 1);
    const Observed& far = bench.put(1'000'000, 2, 1);
    loop(bench);
    EXPECT_NEAR(sim::to_microseconds(near.done), 160.2, 0.01);
    EXPECT_NEAR(sim::to_microseconds(far.done), 160.4, 0.01);
  });
}

TEST(Flow, CodingPacketsAndHeadersTakeTheirShareOfALink)
{
  Bench bench("flow", plain + ",coding=0.5,header=100,packet=1000,packet_header=100", 2, machine);
  in_actor(bench, [&] {
    const Observed& put = bench.put(10'000);
    loop(bench);
    EXPECT_NEAR(sim::to_microseconds(put.done), 0.2 + 2 * (10 + 0.1 + 10 * 0.1), 0.01);
  });
}

TEST(Flow, SendOfALongMessageWaitsForTheEndToEndAcknowledgement)
{
  Bench bench("flow", plain + ",inline_max=64,ack_time=1us", 2, machine);
  in_actor(bench, [&] {
    const Observed& inlined = bench.put(64);
    loop(bench);
    const Observed& kept = bench.put(65);
    loop(bench);
    EXPECT_LT(inlined.source_free, inlined.done);
    EXPECT_EQ(kept.source_free - kept.done, 1 * microsecond + 200 * nanosecond);
  });
}

TEST(Flow, ALinkThatGoesDownFailsTheMessagesOnIt)
{
  struct Cut final : sim::Event {
    void fire() override { link->turn_off(); }
    simgrid::s4u::Link* link = nullptr;
  };
  Bench bench("flow", plain, 3, machine);
  Cut cut;
  cut.link = bench.platform->link(bench.platform->route(0, 2).links.front()).link;
  in_actor(bench, [&] {
    const Observed& lost = bench.put(1'000'000, 0, 2);
    const Observed& other = bench.put(1'000'000, 1, 2);
    bench.timeline.schedule(cut, 300 * microsecond);
    loop(bench);
    EXPECT_EQ(lost.done, -1);
    EXPECT_EQ(lost.failed_at, 300 * microsecond);
    EXPECT_EQ(lost.why, TransferFailure::undeliverable);
    EXPECT_NEAR(sim::to_microseconds(other.done), 1150.2, 0.01);
  });
}

TEST(Flow, EventsOfANodeFollowEachOther)
{
  Bench bench("flow", plain + ",event_gap=100ns,counter_gap=50ns,pci_latency=30ns", 2, machine);
  Seen event(bench.timeline);
  Seen counter(bench.timeline);
  bench.model->write_to_host(0, WriteKind::full_event, event);
  bench.model->write_to_host(0, WriteKind::counter, counter);
  bench.run();
  EXPECT_EQ(event.at, 130 * nanosecond);
  EXPECT_EQ(counter.at, 180 * nanosecond);
}

TEST(Flow, ParametersOfTheNicAreThoseOfBxi)
{
  std::map<std::string, ParameterInfo> bxi;
  for (const ModelEntry& model : models())
    if (model.name == "bxi")
      for (const ParameterInfo& info : model.parameters)
        bxi.emplace(info.key, info);
  for (const ModelEntry& model : models()) {
    if (model.name != "flow")
      continue;
    for (const ParameterInfo& info : model.parameters) {
      ASSERT_TRUE(bxi.contains(info.key)) << info.key;
      const ParameterInfo& same = bxi.at(info.key);
      EXPECT_EQ(info.kind, same.kind) << info.key;
      EXPECT_EQ(info.standard, same.standard) << info.key;
      if (info.key != "e2e") { // bxi's resends, too
        EXPECT_EQ(info.help, same.help) << info.key;
      }
    }
  }
}

TEST(Flow, TakesWhatItHasOfThePlatformsNic)
{
  Bench bench("flow", "", 2, "crossbar:nic:issue=7ns,nic:queue_depth=3");
  EXPECT_EQ(bench.model->issue_cost(bench.transfer(TransferKind::put, 0)), 7 * nanosecond);
}

// ---- Beside the bxi model ----

struct Times {
  double first = 0; // of the deliveries, us
  double last = 0;
  double mean = 0;
  double send = 0; // of the last SEND
};

struct Message {
  NodeIndex from = 0;
  NodeIndex to = 1;
};

// All `messages` at once on `fabric`.
Times times(const char* model, const std::string& fabric, unsigned nodes, std::uint64_t payload,
            const std::vector<Message>& messages)
{
  Times found;
  Bench bench(model, "", nodes, fabric);
  in_actor(bench, [&] {
    for (const Message& message : messages)
      bench.put(payload, message.from, message.to);
    loop(bench);
    found.first = 1e300;
    for (const Observed& put : bench.all) {
      const double done = sim::to_microseconds(put.done);
      found.first = std::min(found.first, done);
      found.last = std::max(found.last, done);
      found.mean += done / static_cast<double>(bench.all.size());
      found.send = std::max(found.send, sim::to_microseconds(put.source_free));
    }
  });
  return found;
}

// Time of a message on a link of 12.5 GB/s.
double wire(std::uint64_t payload)
{
  const std::uint64_t packets = (payload + 1023) / 1024;
  return static_cast<double>(64 + payload + packets * 64) / (12.5e3 * 0.934);
}

constexpr std::uint64_t kib = 1024;

class BesideBxi : public testing::TestWithParam<std::uint64_t>
{
};

TEST_P(BesideBxi, OneMessageTakesAsLong)
{
  const std::uint64_t size = GetParam();
  for (const char* fabric : {"crossbar", "bxi:leaf=2,spines=2", "crossbar:bw=1GB/s,lat=2us", "crossbar:bw=25GB/s"}) {
    const Times bxi = times("bxi", fabric, 4, size, {{0, 3}});
    const Times flow = times("flow", fabric, 4, size, {{0, 3}});
    EXPECT_NEAR(flow.last, bxi.last, 0.05 * bxi.last) << fabric;
    EXPECT_NEAR(flow.send, bxi.send, 0.05 * bxi.send) << fabric;
  }
}

TEST_P(BesideBxi, AWindowTakesAsLong)
{
  const std::uint64_t size = GetParam();
  const std::vector<Message> window(64, Message{0, 3});
  for (const char* fabric : {"crossbar", "bxi:leaf=2,spines=2"}) {
    const Times bxi = times("bxi", fabric, 4, size, window);
    const Times flow = times("flow", fabric, 4, size, window);
    EXPECT_NEAR(flow.last, bxi.last, 0.05 * bxi.last) << fabric;
    EXPECT_GT(flow.last, 64 * wire(size)) << fabric;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, BesideBxi,
                         testing::Values(64 * kib, 256 * kib, 1024 * kib, 1468006, 4096 * kib, 64 * 1024 * kib));

// The bottleneck never idles, so the last ends after n transfers. Flow gives all messages the same, bxi the ports of
// each switch: behind a spine, who shares a cable with more others has less.
TEST(CongestedBesideBxi, IncastTakesNTransfers)
{
  constexpr unsigned n = 8;
  constexpr std::uint64_t size = 256 * kib;
  std::vector<Message> messages;
  for (NodeIndex i = 0; i < n; ++i)
    messages.push_back({i, n});
  for (const char* fabric : {"crossbar", "bxi:leaf=3,spines=2"}) {
    const double alone = times("bxi", "crossbar", 2, size, {{0, 1}}).last;
    const Times bxi = times("bxi", fabric, n + 1, size, messages);
    const Times flow = times("flow", fabric, n + 1, size, messages);
    for (const Times& found : {bxi, flow})
      EXPECT_NEAR(found.last, alone + (n - 1) * wire(size), 0.01 * found.last) << fabric;
    EXPECT_NEAR(flow.first, flow.last, 0.01 * flow.last) << fabric;
    if (fabric == std::string_view("crossbar"))
      EXPECT_NEAR(bxi.first, bxi.last, 0.01 * bxi.last);
    else
      EXPECT_LT(bxi.first, 0.8 * bxi.last);
  }
}

TEST(CongestedBesideBxi, TwoLeavesWithOneCableShareIt)
{
  constexpr std::uint64_t size = 1024 * kib;
  const double alone = times("bxi", "bxi:leaf=2,spines=1", 4, size, {{0, 2}}).last;
  for (const char* model : {"bxi", "flow"}) {
    const Times found = times(model, "bxi:leaf=2,spines=1", 4, size, {{0, 2}, {1, 3}});
    EXPECT_NEAR(found.last, alone + wire(size), 0.01 * found.last) << model;
  }
}

TEST(CongestedBesideBxi, APermutationOnACrossbarTakesOneTransfer)
{
  constexpr std::uint64_t size = 256 * kib;
  const double alone = times("bxi", "crossbar", 2, size, {{0, 1}}).last;
  for (const char* model : {"bxi", "flow"}) {
    const Times found = times(model, "crossbar", 6, size, {{0, 3}, {1, 4}, {2, 0}, {3, 5}, {4, 1}, {5, 2}});
    EXPECT_NEAR(found.last, alone, 0.01 * alone) << model;
  }
}

// In shifts, so that each switch port sees one message at a time.
TEST(CongestedBesideBxi, AnAllToAllTakesOneTransferPerPeer)
{
  constexpr unsigned n = 6;
  constexpr std::uint64_t size = 256 * kib;
  std::vector<Message> messages;
  for (NodeIndex shift = 1; shift < n; ++shift)
    for (NodeIndex i = 0; i < n; ++i)
      messages.push_back({i, (i + shift) % n});
  const double alone = times("bxi", "crossbar", 2, size, {{0, 1}}).last;
  for (const char* model : {"bxi", "flow"}) {
    const Times found = times(model, "crossbar", n, size, messages);
    EXPECT_NEAR(found.last, alone + (n - 2) * wire(size), 0.01 * found.last) << model;
  }
}

} // namespace
} // namespace umwelt::net
