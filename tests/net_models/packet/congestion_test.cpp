// SPDX-License-Identifier: LGPL-2.1-or-later
// Congestion trees and their victims; net_models/packet/VALIDATION.md shows the same as a figure.
#include "tests/net_models/packet/congestion.h"

namespace umwelt::net
{
namespace
{

constexpr std::uint64_t buffer = 16'000;
using C = Congestion;

TEST(PacketCongestion, TheTreeTakesItsVictimsWithOneVirtualChannel)
{
  const C::Found found = C::run(1, buffer);
  EXPECT_NEAR(found.victims(5, C::flood_from), C::victims_load, 0.01);
  EXPECT_LT(found.victims(C::settled, C::flood_to), 0.9 * C::victims_load);
  EXPECT_GE(found.harmed, 8U);
  EXPECT_GT(found.fullest(), 24U); // more than the cables of those who flood
  for (std::size_t i = C::flood_from + 2; i < C::flood_to - 2; ++i)
    EXPECT_GT(found.bins[i].hot, 0.9) << i; // its own packets are in each other's way a little
}

TEST(PacketCongestion, WithMoreOnlyThoseSufferThatShareTheFloods)
{
  const C::Found one = C::run(1, buffer);
  const C::Found two = C::run(2, buffer);
  const C::Found eight = C::run(8, buffer);
  EXPECT_LT(two.harmed, one.harmed);
  EXPECT_LT(eight.harmed, two.harmed);
  EXPECT_GT(eight.victims(C::settled, C::flood_to), 0.97 * C::victims_load);
  EXPECT_LT(eight.fullest(), one.fullest());
}

TEST(PacketCongestion, TheTreeGoesAwayAndWhatWaitedArrives)
{
  for (const std::uint64_t vcs : {1, 8}) {
    const C::Found found = C::run(vcs, buffer);
    EXPECT_NEAR(found.victims(5, C::bins), C::victims_load, 0.01) << vcs;
    EXPECT_LE(found.bins.back().full, 2U) << vcs; // the victims' own bursts
  }
}

} // namespace
} // namespace umwelt::net
