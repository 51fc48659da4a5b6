// SPDX-License-Identifier: LGPL-2.1-or-later
// Random sequences of calls (random_traffic.h). fuzz_portals runs as many of them as there is time for.
#include <gtest/gtest.h>

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
  RandomTraffic traffic(GetParam());
  for (int part = 0; part < 3; ++part)
    ASSERT_NO_THROW(traffic.run(1000));
  EXPECT_GT(traffic.operations(), 100U);
  EXPECT_GT(traffic.letters_checked(), 10U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSequence, ::testing::Range(1U, 41U));

} // namespace
} // namespace umwelt::portals::test
