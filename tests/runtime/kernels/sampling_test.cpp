// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernels/noise.h"
#include "runtime/kernels/sampling.h"

namespace umwelt::kernels
{
namespace
{

using Values = std::vector<double>;

TEST(Statistics, MeanAndDeviation)
{
  Statistics statistics;
  EXPECT_EQ(statistics.deviation(), 0);
  EXPECT_TRUE(std::isinf(statistics.half_width()));
  for (const double value : {2., 4., 4., 4., 5., 5., 7., 9.})
    statistics.add(value);
  EXPECT_EQ(statistics.count(), 8U);
  EXPECT_DOUBLE_EQ(statistics.mean(), 5);
  EXPECT_DOUBLE_EQ(statistics.deviation(), std::sqrt(32. / 7));
  EXPECT_NEAR(statistics.half_width(), 2.364624 * std::sqrt(32. / 7) / std::sqrt(8), 1e-6); // t(0.975, 7)
}

TEST(Statistics, SmallSpreadOfLargeValues)
{
  Statistics statistics;
  for (int i = 0; i < 1000; ++i)
    statistics.add(1e9 + (i % 2 == 0 ? 1 : -1));
  EXPECT_NEAR(statistics.deviation(), 1.0005, 1e-4);
}

TEST(Sampler, MeasuresAtLeastSoManyCalls)
{
  Sampler sampler("k", {0.05, 10}, 1);
  const Values sizes{100, 200};
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(sampler.measure(sizes)) << i;
    sampler.add(sizes, 5 * sim::microsecond);
  }
  EXPECT_FALSE(sampler.measure(sizes));
  EXPECT_EQ(sampler.duration({}, sizes, 0), 5 * sim::microsecond);
}

TEST(Sampler, ClassesAreApart)
{
  Sampler sampler("k", {0.05, 2}, 1);
  sampler.add(Values{1}, 10);
  sampler.add(Values{1}, 10);
  EXPECT_FALSE(sampler.measure(Values{1}));
  EXPECT_TRUE(sampler.measure(Values{2}));
  EXPECT_TRUE(sampler.measure(Values{}));
  EXPECT_EQ(sampler.classes(), 1U);
  EXPECT_EQ(sampler.statistics(Values{2}), nullptr);
}

TEST(Sampler, NotANumberIsAClass)
{
  Sampler sampler("k", {0.05, 2}, 1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  sampler.add(Values{nan}, 10);
  sampler.add(Values{nan}, 10);
  EXPECT_FALSE(sampler.measure(Values{nan}));
  sampler.add(Values{0}, 10);
  sampler.add(Values{-0.0}, 10);
  EXPECT_FALSE(sampler.measure(Values{0}));
}

// How many calls it takes until the mean is known to 5 %: about (1.96 * 0.5 / 0.05)^2 = 384 at a deviation of half the
// mean.
TEST(Sampler, EndsWhenTheMeanIsKnown)
{
  Sampler sampler("k", {0.05, 10}, 1);
  const RandomKey key(5, "measured", Purpose::noise);
  int calls = 0;
  while (sampler.measure(Values{}) && calls < 10'000) {
    Draws draws(key, 0, 0, calls++);
    sampler.add(Values{}, sim::from_seconds(quantile(Distribution::gamma, 1e-3, 5e-4, draws.uniform())));
  }
  EXPECT_GT(calls, 200);
  EXPECT_LT(calls, 600);
  EXPECT_NEAR(sampler.statistics(Values{})->mean(), 1e-3, 1e-4);
}

TEST(Sampler, TheIntervalCoversTheMean)
{
  constexpr int runs = 500;
  int covered = 0;
  for (int run = 0; run < runs; ++run) {
    Statistics statistics;
    for (int i = 0; i < 20; ++i)
      statistics.add(
          quantile(Distribution::normal, 10, 1, Draws(RandomKey(run, "k", Purpose::noise), 0, 0, i).uniform()));
    covered += std::abs(statistics.mean() - 10) <= statistics.half_width() ? 1 : 0;
  }
  EXPECT_NEAR(covered / double{runs}, 0.95, 0.03);
}

TEST(Sampler, LaterCallsKeepTheSpread)
{
  Sampler sampler("k", {0.05, 10}, 1);
  for (int i = 0; i < 100; ++i)
    sampler.add(Values{}, (80 + i % 5 * 10) * sim::microsecond); // 80 to 120
  ASSERT_FALSE(sampler.measure(Values{}));
  constexpr int count = 100'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < count; ++i) {
    const double value = sim::to_microseconds(sampler.duration({}, Values{}, i));
    sum += value;
    squares += value * value;
  }
  const Statistics& measured = *sampler.statistics(Values{});
  EXPECT_NEAR(measured.mean(), 100e-6, 2e-6);
  const double deviation = measured.deviation() * 1e6;
  EXPECT_NEAR(sum / count, measured.mean() * 1e6, 4 * deviation / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count - sum / count * sum / count), deviation, 0.02 * deviation);
}

// The first calls are slow: what is measured again counts alone, once it is as much as was asked for.
TEST(Sampler, LaterCallsAreMeasuredAgain)
{
  Sampler sampler("k", {0.05, 5, 100}, 1);
  for (int i = 0; i < 5; ++i)
    sampler.add(Values{}, 8 * sim::microsecond);
  int again = 0;
  for (int call = 1; call <= 1000; ++call) {
    if (!sampler.measure(Values{}))
      continue;
    EXPECT_EQ(call % 100, 0) << call;
    EXPECT_EQ(sampler.duration({}, Values{}, 0), (again < 5 ? 8 : 5) * sim::microsecond) << call;
    sampler.add(Values{}, 5 * sim::microsecond);
    ++again;
  }
  EXPECT_EQ(again, 10);
}

TEST(Sampler, NoneIsMeasuredAgain)
{
  Sampler sampler("k", {0.05, 5, 0}, 1);
  for (int i = 0; i < 5; ++i)
    sampler.add(Values{}, 8 * sim::microsecond);
  for (int call = 0; call < 1000; ++call)
    EXPECT_FALSE(sampler.measure(Values{}));
}

TEST(Sampler, TheSameCallTakesTheSameTime)
{
  const auto durations = [](std::uint64_t seed) {
    Sampler sampler("k", {0.5, 2}, seed);
    sampler.add(Values{}, 90);
    sampler.add(Values{}, 110);
    std::array<sim::SimTime, 3> result{};
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = sampler.duration({1, 0, 0, 2}, Values{}, i);
    return result;
  };
  EXPECT_EQ(durations(1), durations(1));
  EXPECT_NE(durations(1), durations(2));
}

} // namespace
} // namespace umwelt::kernels
