// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/recurrence.h"

#include <gtest/gtest.h>

namespace umwelt::job
{
namespace
{

// Tells of `count` states; how often it was on new ground.
template <class State> unsigned on_new_ground(Recurrence& recurrence, unsigned count, State state)
{
  unsigned times = 0;
  for (unsigned i = 0; i < count; ++i) {
    recurrence.add(state(i));
    times += recurrence.new_ground() ? 1 : 0;
  }
  return times;
}

TEST(RecurrenceTest, WhoStandsStillIsFoundOutAtOnce)
{
  Recurrence recurrence;
  EXPECT_LE(on_new_ground(recurrence, 100, [](unsigned) { return 42; }), 1U);
}

TEST(RecurrenceTest, WhoCountsIsAlwaysOnNewGround)
{
  Recurrence recurrence;
  EXPECT_EQ(on_new_ground(recurrence, 10'000, [](unsigned i) { return i + 1; }), 10'000U);
}

TEST(RecurrenceTest, WhoComesBackIsFoundOutAfterAFewTimesRound)
{
  for (const unsigned period : {2U, 3U, 7U, 100U, 1000U}) {
    Recurrence recurrence;
    on_new_ground(recurrence, 5 * period, [period](unsigned i) { return i % period + 1; });
    EXPECT_EQ(on_new_ground(recurrence, 1000, [period](unsigned i) { return i % period + 1; }), 0U) << period;
  }
}

TEST(RecurrenceTest, WhoStopsCountingIsFoundOut)
{
  Recurrence recurrence;
  on_new_ground(recurrence, 10'000, [](unsigned i) { return i + 1; });
  EXPECT_TRUE(recurrence.new_ground());
  on_new_ground(recurrence, 3000, [](unsigned) { return 5; });
  EXPECT_FALSE(recurrence.new_ground());
}

} // namespace
} // namespace umwelt::job
