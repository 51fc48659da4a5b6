// SPDX-License-Identifier: LGPL-2.1-or-later
// The flow model needs SimGrid to run: the loop is a SimGrid actor here, as in the engine.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>

#include "platforms/simgrid.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::millisecond;
using sim::nanosecond;

// What the engine does: ask the model before every event.
void loop(Bench& bench)
{
  for (;;) {
    const SimTime next = bench.timeline.next();
    if (bench.model->external_pending() && bench.model->advance_external(next))
      continue;
    if (!bench.timeline.step())
      return;
  }
}

void in_actor(Bench& bench, const std::function<void()>& body)
{
  simgrid::s4u::Actor::create("conductor", bench.platform->node(0).host, body);
  platform::simgrid_engine().run();
}

constexpr const char* plain = "overhead=0";
const std::string machine = "crossbar:lat=100ns,bw=1GB/s";

TEST(Flow, AloneItGetsTheWholeLink)
{
  Bench bench("flow", plain, 2, machine);
  in_actor(bench, [&] {
    const Observed& put = bench.put(1'000'000);
    loop(bench);
    EXPECT_EQ(put.header, 200 * nanosecond);
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

TEST(Flow, ALateFlowBeginsAtItsDate)
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
  Bench bench("flow", "overhead=0,loopback_bandwidth=1GB/s", 2, machine);
  const Observed& put = bench.put(1000, 1, 1);
  EXPECT_FALSE(bench.model->external_pending());
  bench.run();
  EXPECT_EQ(put.done, 1 * microsecond);
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

} // namespace
} // namespace umwelt::net
