// SPDX-License-Identifier: LGPL-2.1-or-later
// Links that fail (--fault), in each model.
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/link_failures.h"
#include "platforms/simgrid.h"
#include "platforms/simgrid_versions.h"
#include "tests/net_models/probe.h"
#include "tests/platforms/scratch.h"

namespace umwelt::net
{
namespace
{

using platform::LinkFailure;
using sim::microsecond;
using sim::millisecond;
using sim::never;
using sim::SimTime;

LinkFailure fault(const std::string& links, SimTime at, SimTime length)
{
  return {links, at, length, "--fault"};
}

struct Failing : Bench {
  Failing(std::string_view name, std::string_view list, const std::vector<LinkFailure>& faults, unsigned nodes = 2,
          const std::string& spec = "crossbar")
      : Bench("delay", "", nodes, spec), failures(*platform, faults)
  {
    make(name, list, {}, &failures);
  }
  // As the engine does, for models with a solver of their own, too.
  void run_all(const std::function<void()>& begin)
  {
    platform::versions::add_actor("conductor", platform->node(0).host, [&] {
      begin();
      while (model->external_pending() || timeline.next() != never)
        if (!model->external_pending() || !model->advance_external(timeline.next()))
          timeline.step();
    });
    platform::simgrid_engine().run();
  }
  [[nodiscard]] const platform::LinkFailures::Counts& counts() const { return failures.counts; }

  platform::LinkFailures failures;
};

const std::vector<std::string> all_models = {"bxi", "flow", "loggp", "piecewise", "delay", "zero"};

TEST(Failures, BeforeTheyComeAndAfterThemNothingIsDifferent)
{
  for (const std::string& model : all_models)
    for (const std::uint64_t size : {0UL, 100UL, 1UL << 20}) {
      SimTime alone = 0;
      {
        Bench plain(model);
        platform::versions::add_actor("conductor", plain.platform->node(0).host, [&] {
          const Observed& put = plain.put(size);
          while (plain.model->external_pending() || plain.timeline.next() != never)
            if (!plain.model->external_pending() || !plain.model->advance_external(plain.timeline.next()))
              plain.timeline.step();
          alone = put.done - put.started;
        });
        platform::simgrid_engine().run();
      }
      Failing bench(model, "", {fault("bxi1 down", 10 * millisecond, millisecond), fault("bxi0 down", 0, millisecond)});
      const Observed* put = nullptr;
      bench.run_all([&] { put = &bench.put(size); });
      // Reliability may need an acknowledgement more, which comes after this.
      EXPECT_EQ(put->done - put->started, alone) << model << ", " << size;
      EXPECT_EQ(bench.counts().resent, 0U) << model;
    }
}

TEST(Failures, WithoutAWayMessagesWaitInTheirOrder)
{
  for (const std::string& model : all_models) {
    Failing bench(model, "", {fault("bxi1 down", 0, 3 * millisecond)}, 3);
    std::vector<const Observed*> puts;
    const Observed* other = nullptr;
    bench.run_all([&] {
      for (const std::uint64_t size : {1UL << 20, 1UL << 16, 4096UL})
        puts.push_back(&bench.put(size));
      other = &bench.put(8, 0, 2); // behind them, but with a way
    });
    for (const Observed* put : puts) {
      EXPECT_GE(put->header, 3 * millisecond) << model;
      EXPECT_LT(put->done, 4 * millisecond) << model;
    }
    EXPECT_LT(other->done, 100 * microsecond) << model;
    const std::vector<const Observed*> order{other, puts[0], puts[1], puts[2]};
    EXPECT_EQ(bench.probe.headers, order) << model;
    EXPECT_EQ(bench.counts().delayed, 3U) << model;
    EXPECT_NEAR(static_cast<double>(bench.counts().waited), 9e9, 2e8) << model;
    EXPECT_EQ(bench.counts().failed, 0U) << model;
  }
}

TEST(Failures, WhatIsOnTheLinkWhenItFailsIsSentAgain)
{
  for (const char* model : {"bxi", "flow", "loggp", "piecewise", "delay"}) {
    Failing bench(model, "", {fault("bxi1 down", 500 * microsecond, 2 * millisecond)});
    const Observed* put = nullptr;
    const Observed* next = nullptr;
    bench.run_all([&] {
      put = &bench.put(16 << 20); // 1.3 ms and more
      next = &bench.put(4096);
    });
    EXPECT_GT(put->done, 2500 * microsecond + 1300 * microsecond) << model;
    EXPECT_LT(put->done, 6 * millisecond) << model;
    EXPECT_GE(put->source_free, put->header) << model; // the source is read again
    EXPECT_EQ(bench.counts().resent, 1U) << model;
    EXPECT_GE(bench.counts().delayed, 1U) << model; // the next one, too, unless it shared the link and was through
    EXPECT_LE(bench.counts().delayed, 2U) << model;
    EXPECT_EQ(bench.probe.headers, (std::vector<const Observed*>{put, next})) << model;
    EXPECT_GT(next->done, 0) << model;
  }
}

TEST(Failures, AFatTreeTakesOtherWays)
{
  for (const char* model : {"bxi", "flow", "piecewise"}) {
    Failing bench(model, "", {fault("leaf0 to spine0", 500 * microsecond, never)}, 8, "bxi:leaf=4,spines=2");
    const Observed* before = nullptr;
    const Observed* after = nullptr;
    bench.run_all([&] { before = &bench.put(16 << 20, 0, 4); });
    bench.run_all([&] { after = &bench.put(1 << 20, 0, 4); });
    EXPECT_GT(before->done, 1800 * microsecond) << model; // sent again, all of it
    EXPECT_LT(before->done, 4 * millisecond) << model;
    EXPECT_LT(after->done - after->started, 150 * microsecond) << model;
    EXPECT_EQ(bench.counts().resent, 1U) << model;
    EXPECT_EQ(bench.counts().rerouted, 2U) << model;
    EXPECT_EQ(bench.counts().delayed, 0U) << model;
  }
}

TEST(Failures, WithoutAnyWayForGoodMessagesFail)
{
  for (const std::string& model : all_models) {
    Failing bench(model, "", {fault("bxi1 down", 0, never)}, 3);
    const Observed* lost = nullptr;
    const Observed* behind = nullptr;
    bench.run_all([&] {
      lost = &bench.put(8);
      behind = &bench.put(8, 0, 2);
    });
    EXPECT_GE(lost->failed_at, 0) << model;
    EXPECT_EQ(lost->why, TransferFailure::undeliverable) << model;
    EXPECT_EQ(lost->done, -1) << model;
    EXPECT_GE(behind->done, 0) << model;
    EXPECT_EQ(bench.counts().failed, 1U) << model;
  }
}

TEST(Failures, WithoutReliabilityWhatWasOnTheLinkIsLost)
{
  Failing bench("bxi", "e2e=off", {fault("bxi1 down", 500 * microsecond, 2 * millisecond)});
  const Observed* put = nullptr;
  bench.run_all([&] { put = &bench.put(16 << 20); });
  EXPECT_GT(put->failed_at, 500 * microsecond);
  EXPECT_EQ(put->done, -1);
  EXPECT_EQ(bench.counts().failed, 1U);
}

TEST(Failures, WaysBackAreWaitedForToo)
{
  // The acknowledgement from NIC to NIC has none at first: the buffer is kept, nothing is sent twice.
  Failing bench("bxi", "", {fault("bxi0 down", 0, 3 * millisecond)});
  const Observed* put = nullptr;
  bench.run_all([&] { put = &bench.put(100'000); });
  EXPECT_LT(put->done, millisecond);
  EXPECT_GT(put->source_free, 3 * millisecond);
  EXPECT_EQ(bench.counts().resent, 0U);
}

TEST(Failures, LongMessagesThatShareTheLinkAreAllSentAgain)
{
  Failing bench("bxi", "", {fault("bxi2 down", 500 * microsecond, 100 * microsecond)}, 3);
  std::vector<const Observed*> puts;
  bench.run_all([&] {
    puts = {&bench.put(8 << 20, 0, 2), &bench.put(8 << 20, 1, 2)}; // 1.4 ms for both
  });
  EXPECT_EQ(bench.counts().resent, 2U);
  for (const Observed* put : puts) {
    EXPECT_GT(put->done, 1400 * microsecond);
    EXPECT_LT(put->done, 6 * millisecond);
  }
}

// A platform of two nodes and a cable between them, whose profile of failures is `profile`; empty: none.
std::string platform_file(const std::string& profile)
{
  static const Scratch scratch;
  std::ofstream(scratch.path / "cable.state") << profile;
  std::string path = scratch.path / (profile.empty() ? "whole.xml" : "failing.xml");
  std::ofstream(path) << R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
  <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
  <link id="cable" bandwidth="10GBps" latency="1us" sharing_policy="SPLITDUPLEX" )"
                      << (profile.empty() ? "" : "state_file=\"cable.state\"") << R"(/>
  <route src="a" dst="b"><link_ctn id="cable" direction="UP"/></route>
</zone></platform>)";
  return path;
}

TEST(Failures, ByProfileAreThoseByFault)
{
  // In a process of its own, where SimGrid's clock begins.
  const auto times = [](const std::string& model, const std::string& spec, const std::vector<LinkFailure>& faults) {
    const platform::Rehearsal rehearsal = platform::rehearse([&] {
      Failing bench(model, "", faults, 2, spec);
      std::vector<const Observed*> puts;
      bench.run_all([&] {
        for (unsigned i = 0; i < 8; ++i)
          puts.push_back(&bench.put(1UL << 20));
      });
      std::string result;
      for (const Observed* put : puts)
        result += std::to_string(put->done) + ' ';
      const auto& counts = bench.counts();
      for (const std::uint64_t count :
           {counts.delayed, static_cast<std::uint64_t>(counts.waited), counts.resent, counts.failed})
        result += std::to_string(count) + ' ';
      return result;
    });
    EXPECT_EQ(rehearsal.problem, "");
    return rehearsal.result;
  };
  for (const std::string& model : all_models) {
    const auto plain = times(model, platform_file(""), {});
    const auto fault = times(model, platform_file(""), {{"cable_*", 50 * microsecond, millisecond, "--fault"}});
    const auto profile = times(model, platform_file("0.00005 0\n0.00105 1\n"), {});
    EXPECT_EQ(profile, fault) << model;
    if (model != "zero") { // whose messages have arrived before
      EXPECT_NE(fault, plain) << model;
    }
  }
}

} // namespace
} // namespace umwelt::net
