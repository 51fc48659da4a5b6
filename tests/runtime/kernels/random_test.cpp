// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "runtime/kernels/random.h"

namespace umwelt::kernels
{
namespace
{

using Words = std::array<std::uint32_t, 4>;

// Random123 1.14, tests/kat_vectors: philox4x32 10.
TEST(Random, PhiloxKnownAnswers)
{
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, SameSeedSameNumbers)
{
  const RandomKey key(1, "dgemm", Purpose::noise);
  Draws once(key, 3, 4, 5);
  Draws again(RandomKey(1, "dgemm", Purpose::noise), 3, 4, 5);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(once.uniform(), again.uniform());
}

TEST(Random, EverythingCounts)
{
  std::set<double> numbers;
  const auto add = [&](std::uint64_t seed, const char* kernel, Purpose purpose, std::uint32_t major,
                       std::uint32_t minor, std::uint64_t index) {
    Draws draws(RandomKey(seed, kernel, purpose), major, minor, index);
    for (int i = 0; i < 4; ++i)
      numbers.insert(draws.uniform());
  };
  add(1, "dgemm", Purpose::noise, 0, 0, 0);
  add(2, "dgemm", Purpose::noise, 0, 0, 0);
  add(1, "dtrsm", Purpose::noise, 0, 0, 0);
  add(1, "dgemm", Purpose::result, 0, 0, 0);
  add(1, "dgemm", Purpose::noise, 1, 0, 0);
  add(1, "dgemm", Purpose::noise, 0, 1, 0);
  add(1, "dgemm", Purpose::noise, 0, 0, 1);
  add(1, "dgemm", Purpose::noise, 0, 0, std::uint64_t{1} << 32);
  EXPECT_EQ(numbers.size(), 8U * 4);
}

TEST(Random, UniformBetweenZeroAndOne)
{
  constexpr int count = 100'000;
  const RandomKey key(42, "k", Purpose::noise);
  double sum = 0;
  double squares = 0;
  std::array<int, 10> tenths{};
  for (int i = 0; i < count; ++i) {
    const double number = Draws(key, 0, 0, i).uniform();
    ASSERT_GT(number, 0);
    ASSERT_LT(number, 1);
    sum += number;
    squares += number * number;
    ++tenths[static_cast<std::size_t>(number * 10)];
  }
  EXPECT_NEAR(sum / count, 0.5, 3 * std::sqrt(1 / 12. / count));
  EXPECT_NEAR(squares / count, 1 / 3., 0.003);
  double chi = 0;
  for (const int n : tenths)
    chi += (n - count / 10.) * (n - count / 10.) / (count / 10.);
  EXPECT_LT(chi, 27.9); // 99.9 % of 9 degrees of freedom
}

TEST(Random, NumbersOfOneCallAreIndependent)
{
  constexpr int count = 100'000;
  const RandomKey key(7, "k", Purpose::noise);
  double product = 0;
  for (int i = 0; i < count; ++i) {
    Draws draws(key, 1, 2, i);
    const double first = draws.uniform();
    product += (first - 0.5) * (draws.uniform() - 0.5);
  }
  EXPECT_NEAR(product / count, 0, 4 / 12. / std::sqrt(count));
}

} // namespace
} // namespace umwelt::kernels
