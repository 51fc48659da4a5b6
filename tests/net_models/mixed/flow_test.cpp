// SPDX-License-Identifier: LGPL-2.1-or-later
// SimGrid's solver beside other models. As in flow_test.cpp, the loop is a SimGrid actor.
#include <functional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "platforms/simgrid.h"
#include "platforms/simgrid_versions.h"
#include "tests/net_models/mixed/bench.h"

namespace umwelt::net
{
namespace
{

// No NIC, no headers.
const std::string plain = "inline_max=0,pio_max=0,pci_latency=0,pci_read=0,pci_packet=0,tx_time=0,rx_time=0,coding=1,"
                          "header=0,packet=1,packet_header=0,page_miss=0,e2e=off";

void run(MixedBench& bench, const std::function<void()>& begin)
{
  platform::versions::add_actor("conductor", bench.platform->node(0).host, [&] {
    begin();
    for (;;) {
      const SimTime next = bench.timeline.next();
      if (bench.model->external_pending() && bench.model->advance_external(next))
        continue;
      if (!bench.timeline.step())
        return;
    }
  });
  platform::simgrid_engine().run();
}

TEST(FlowBeside, TwoToAnotherModelShareTheLink)
{
  MixedBench bench({{"flow", plain}, {"zero", ""}}, {0, 0, 1}, false, {}, "crossbar:lat=100ns,bw=1GB/s");
  const Observed* a = nullptr;
  const Observed* b = nullptr;
  run(bench, [&] {
    a = &bench.put(1'000'000, 0, 2);
    b = &bench.put(500'000, 1, 2);
  });
  EXPECT_NEAR(sim::to_microseconds(b->done), 1000.2, 0.01);
  EXPECT_NEAR(sim::to_microseconds(a->done), 1500.2, 0.01);
  EXPECT_EQ(a->source_free, a->done);
}

TEST(FlowBeside, WhatOthersCarriedIsReceived)
{
  MixedBench bench({{"zero", ""}, {"flow", plain}, {"bxi", ""}}, {0, 1, 2}, false, {}, "crossbar:lat=100ns,bw=1GB/s");
  const Observed* from_zero = nullptr;
  const Observed* from_bxi = nullptr;
  const Observed* to_bxi = nullptr;
  run(bench, [&] {
    from_zero = &bench.put(1'000'000, 0, 1);
    from_bxi = &bench.put(1'000'000, 2, 1);
    to_bxi = &bench.put(1'000'000, 1, 2);
  });
  EXPECT_LT(from_zero->header, 1 * sim::microsecond);
  EXPECT_GE(from_zero->done, from_zero->header);
  EXPECT_GT(from_bxi->done, sim::millisecond); // the wire of 1 GB/s
  EXPECT_GT(to_bxi->done, sim::millisecond);
  EXPECT_LT(to_bxi->done, 2 * sim::millisecond);
}

TEST(FlowBeside, OneSolverInARun)
{
  EXPECT_THROW(MixedBench({{"flow", ""}, {"flow", plain}}, {0, 1}), std::invalid_argument);
}

} // namespace
} // namespace umwelt::net
