// SPDX-License-Identifier: LGPL-2.1-or-later
// --latency-factor and --bandwidth-factor in each model; those of links are the platform's.
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/link_factors.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::nanosecond;
using testing::AllOf;
using testing::HasSubstr;

// As a run with such options makes them.
struct WhatIf : Bench {
  WhatIf(std::string_view name, std::string_view list, double latency, double bandwidth,
         const std::string& some_links = "")
      : Bench("delay")
  {
    platform::LinkFactors links;
    links.latency.push_back({"", latency});
    links.bandwidth.push_back({"", bandwidth});
    platform::scale_links(*platform, links);
    make(name, list, {latency, bandwidth, some_links});
  }
};

std::string refusal(std::string_view name, std::string_view list, double latency, double bandwidth,
                    const std::string& some_links = "")
{
  try {
    const WhatIf bench(name, list, latency, bandwidth, some_links);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Factors, OfOneChangeNothing)
{
  for (const char* model : {"bxi", "loggp", "piecewise", "delay", "zero"})
    for (const std::uint64_t size : {0UL, 8UL, 4096UL, 1UL << 20}) {
      Bench plain(model);
      const sim::SimTime time = plain.put_time(size);
      plain.platform.reset(); // SimGrid has one at a time
      WhatIf same(model, "", 1, 1);
      EXPECT_EQ(same.put_time(size), time) << model << ", " << size;
    }
}

TEST(Factors, OfDelayAreOfItsParameters)
{
  WhatIf bench("delay", "latency=2us,bandwidth=1GB/s", 10, 0.1);
  const Observed& put = bench.put(1000);
  bench.run();
  EXPECT_EQ(put.header, 20 * microsecond);
  EXPECT_EQ(put.done, 30 * microsecond);
}

TEST(Factors, OfLogGPAreOfLatencyAndLongMessagesNotOfTheNic)
{
  WhatIf bench("loggp", "L=1us,o=100ns,g=100ns,G=1GB/s", 10, 0.1);
  const Observed& put = bench.put(1000);
  bench.run();
  EXPECT_EQ(put.header, 10 * microsecond);
  EXPECT_EQ(put.done, 20 * microsecond);
  EXPECT_EQ(bench.model->take_cost(WriteKind::full_event), 100 * nanosecond);
}

TEST(Factors, OfPiecewiseAreOfTheRoute)
{
  WhatIf bench("piecewise", "", 10, 0.1); // crossbar: two links of 100 ns, 12.5 GB/s
  const Observed& put = bench.put(1250);
  bench.run();
  EXPECT_EQ(put.header, 2 * microsecond);
  EXPECT_EQ(put.done, 3 * microsecond);
}

TEST(Factors, OfBxiAreOfTheLinksNotOfNicAndPci)
{
  Bench plain("bxi");
  const sim::SimTime empty = plain.put_time(0);
  plain.platform.reset();
  WhatIf slow("bxi", "", 10, 1);
  EXPECT_EQ(slow.put_time(0) - empty, 9 * 200 * nanosecond);
  slow.platform.reset();
  // A long message is as slow as its slowest part: here the wire, with its headers and line coding.
  WhatIf narrow("bxi", "", 1, 0.1);
  const std::uint64_t size = 16 << 20;
  const auto packets = size / 1024;
  const double wire = static_cast<double>(size + packets * 64) / (1.25e9 * 0.934);
  EXPECT_NEAR(sim::to_seconds(narrow.put_time(size)), wire, 0.01 * wire);
}

TEST(Factors, OfSomeLinksNeedAModelThatLooksAtLinks)
{
  const std::string option = "--latency-factor leaf*=2";
  EXPECT_THAT(refusal("delay", "", 1, 1, option), AllOf(HasSubstr(option), HasSubstr("model delay does not look at")));
  EXPECT_THAT(refusal("loggp", "", 1, 1, option), AllOf(HasSubstr(option), HasSubstr("--nic route=on")));
  EXPECT_THAT(refusal("zero", "", 1, 1, option), HasSubstr(option));
  for (const char* model : {"bxi", "piecewise", "flow"})
    EXPECT_EQ(refusal(model, "", 1, 1, option), "no error") << model;
  EXPECT_EQ(refusal("loggp", "route=on", 1, 1, option), "no error");
}

TEST(Factors, ThatCanChangeNothingAreRefused)
{
  EXPECT_THAT(refusal("zero", "", 2, 1), HasSubstr("got model zero"));
  EXPECT_THAT(refusal("zero", "", 1, 0.5), HasSubstr("got model zero"));
}

TEST(Factors, BeyondSimulatedTimeAreRefused)
{
  EXPECT_THAT(refusal("delay", "latency=1s", 1e9, 1),
              AllOf(HasSubstr("--latency-factor 1000000000"), HasSubstr("`latency` of model delay")));
  EXPECT_THAT(refusal("loggp", "G=1MB/s", 1, 1e-9), HasSubstr("`G` of model loggp"));
}

} // namespace
} // namespace umwelt::net
