// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernels/noise.h"

namespace umwelt::kernels
{
namespace
{

constexpr int count = 100'000;

struct Moments {
  double mean = 0;
  double deviation = 0;
  double skewness = 0;
  double least = 1e300;
};

Moments moments(const Noise& noise, double mean, std::uint64_t seed = 1)
{
  const RandomKey key(seed, "k", Purpose::noise);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    Draws draws(key, 0, 0, i);
    values.push_back(noise.draw(mean, {}, draws));
  }
  Moments result;
  for (const double value : values) {
    result.mean += value / count;
    result.least = std::min(result.least, value);
  }
  double third = 0;
  for (const double value : values) {
    const double difference = value - result.mean;
    result.deviation += difference * difference / (count - 1);
    third += difference * difference * difference / count;
  }
  result.deviation = std::sqrt(result.deviation);
  result.skewness = third / std::pow(result.deviation, 3);
  return result;
}

NoiseComponent component(Distribution distribution, const std::string& deviation, double weight = 1, double factor = 1)
{
  return {weight, factor, distribution, Expression(deviation, {}, "sd")};
}

Noise noise(Distribution distribution, const std::string& deviation)
{
  std::vector<NoiseComponent> components;
  components.push_back(component(distribution, deviation));
  return Noise(std::move(components));
}

// Four standard errors of the mean, and of the deviation of a distribution with moderate tails.
void expect_moments(const Moments& got, double mean, double deviation, double skewness)
{
  EXPECT_NEAR(got.mean, mean, 4 * deviation / std::sqrt(count));
  EXPECT_NEAR(got.deviation / deviation, 1, 0.015);
  EXPECT_NEAR(got.skewness, skewness, 0.05 + 0.05 * skewness);
}

TEST(Noise, None)
{
  Draws draws(RandomKey(1, "k", Purpose::noise), 0, 0, 0);
  EXPECT_EQ(Noise().draw(3e-6, {}, draws), 3e-6);
}

TEST(Noise, Normal)
{
  expect_moments(moments(noise(Distribution::normal, "1us"), 10e-6), 10e-6, 1e-6, 0);
}

TEST(Noise, HalfNormal)
{
  const Moments got = moments(noise(Distribution::half_normal, "1us"), 10e-6);
  expect_moments(got, 10e-6, 1e-6, 0.9953); // sqrt(2) (4 - pi) / (pi - 2)^1.5
  // Nothing is below the mode.
  EXPECT_GE(got.least, 10e-6 - 1e-6 * std::sqrt(2 / (std::acos(-1.) - 2)) - 1e-15);
}

TEST(Noise, LogNormal)
{
  const double relative = 0.5;
  expect_moments(moments(noise(Distribution::log_normal, "5us"), 10e-6), 10e-6, 5e-6,
                 (relative * relative + 3) * relative);
}

TEST(Noise, Gamma)
{
  expect_moments(moments(noise(Distribution::gamma, "5us"), 10e-6), 10e-6, 5e-6, 1);
}

TEST(Noise, GammaWithASmallDeviationIsNormal)
{
  expect_moments(moments(noise(Distribution::gamma, "0.1ns"), 10e-6), 10e-6, 1e-10, 0);
  expect_moments(moments(noise(Distribution::gamma, "10ns"), 10e-6), 10e-6, 1e-8, 0.002);
}

TEST(Noise, GammaWithALargeDeviation)
{
  const Moments got = moments(noise(Distribution::gamma, "30us"), 10e-6);
  EXPECT_NEAR(got.mean, 10e-6, 4 * 30e-6 / std::sqrt(count));
  EXPECT_NEAR(got.deviation, 30e-6, 1.5e-6);
}

TEST(Noise, NegativeDrawsAreZero)
{
  const Moments got = moments(noise(Distribution::normal, "10us"), 10e-6);
  EXPECT_EQ(got.least, 0);
  EXPECT_NEAR(got.mean, 10.83e-6, 0.1e-6); // E max(1 + Z, 0) = 1.0833
}

TEST(Noise, NoDeviation)
{
  for (const Distribution each :
       {Distribution::normal, Distribution::half_normal, Distribution::log_normal, Distribution::gamma}) {
    EXPECT_EQ(quantile(each, 2e-6, 0, 0.3), 2e-6);
    EXPECT_EQ(quantile(each, 0, 0, 0.3), 0);
  }
}

TEST(Noise, QuantilesGrow)
{
  for (const Distribution each :
       {Distribution::normal, Distribution::half_normal, Distribution::log_normal, Distribution::gamma}) {
    double last = 0;
    for (const double probability : {0x1p-54, 1e-9, 0.01, 0.1, 0.5, 0.9, 0.999, 1 - 1e-12, 1 - 0x1p-53}) {
      const double value = quantile(each, 1e-3, 3e-4, probability);
      EXPECT_TRUE(std::isfinite(value));
      EXPECT_GE(value, last);
      last = value;
    }
  }
}

TEST(Noise, MixtureKeepsTheExpectation)
{
  std::vector<NoiseComponent> components;
  components.push_back(component(Distribution::normal, "0.1us", 0.9, 1));
  components.push_back(component(Distribution::gamma, "1us", 0.1, 5));
  const Moments got = moments(Noise(std::move(components)), 14e-6);
  // Components of 10 and 50 us.
  EXPECT_NEAR(got.mean, 14e-6, 4 * 12e-6 / std::sqrt(count));
  EXPECT_NEAR(got.deviation, std::sqrt(0.9 * (0.01 + 16) + 0.1 * (1 + 36 * 36)) * 1e-6, 0.1e-6);
}

TEST(Noise, BadDeviation)
{
  Draws draws(RandomKey(1, "k", Purpose::noise), 0, 0, 0);
  const Noise bad = noise(Distribution::normal, "-1us");
  EXPECT_TRUE(std::isnan(bad.draw(1e-6, {}, draws)));
  ASSERT_NE(bad.failed({}), nullptr);
  EXPECT_EQ(bad.failed({})->text(), "-1us");
}

} // namespace
} // namespace umwelt::kernels
