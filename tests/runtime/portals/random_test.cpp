// SPDX-License-Identifier: LGPL-2.1-or-later
// Random sequences of calls (random_traffic.h). fuzz_portals runs as many of them as there is time for.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/runtime/portals/counted_api.h"
#include "tests/runtime/portals/random_traffic.h"

namespace umwelt::portals::test
{
namespace
{

class RandomSequence : public ::testing::TestWithParam<unsigned>
{
};

TEST_P(RandomSequence, breaks_no_rule)
{
  RandomTraffic traffic{Entropy(GetParam())};
  for (int part = 0; part < 3; ++part)
    ASSERT_NO_THROW(traffic.run(1000));
  EXPECT_GT(traffic.operations(), 100U);
  EXPECT_GT(traffic.letters_checked(), 10U);
}

// The whole interface takes part: every function succeeds now and then.
TEST(RandomSequences, reach_every_function)
{
  for (CallCount& count : counted::counts)
    count.calls = count.successes = 0;
  std::uint32_t seed = 1;
  const auto reached = [] {
    return std::all_of(counted::counts.begin(), counted::counts.end(),
                       [](const CallCount& c) { return c.successes > 0; });
  };
  for (; seed <= 40 && !reached(); ++seed) {
    RandomTraffic traffic{Entropy(seed)};
    ASSERT_NO_THROW(traffic.run(2000));
  }
  for (const CallCount& count : counted::counts)
    EXPECT_GT(count.successes, 0U) << count.function;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSequence, ::testing::Range(1U, 41U));

} // namespace
} // namespace umwelt::portals::test
