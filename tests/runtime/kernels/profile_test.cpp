// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/profile.h"

#include <gmock/gmock.h>

namespace umwelt::kernels
{
namespace
{

using testing::ElementsAre;
using testing::Pair;

TEST(Profile, TravelsAsText)
{
  Profile profile;
  profile.ticks[{"app", "main"}] = 3;
  profile.ticks[{"app", ""}] = 2;
  profile.ticks[{"lib with blanks.so", "solve"}] = 5;
  Profile other;
  for (const std::string& text : profile_texts(profile))
    EXPECT_TRUE(add_profile(other, text));
  EXPECT_EQ(other.ticks, profile.ticks);
  for (const std::string& text : profile_texts(profile))
    add_profile(other, text);
  EXPECT_EQ(other.all(), 20U);
}

TEST(Profile, LongOnesTravelInParts)
{
  Profile profile;
  for (int i = 0; i < 20'000; ++i)
    profile.ticks[{"app", "function" + std::to_string(i)}] = 1;
  Profile other;
  const auto texts = profile_texts(profile);
  EXPECT_GT(texts.size(), 3U);
  for (const std::string& text : texts) {
    EXPECT_LT(text.size(), 65U << 10);
    EXPECT_TRUE(add_profile(other, text));
  }
  EXPECT_EQ(other.ticks, profile.ticks);
  EXPECT_TRUE(profile_texts({}).empty());
}

TEST(Profile, OtherTextsSayNothing)
{
  Profile profile;
  EXPECT_FALSE(add_profile(profile, "3 main app\n"));
  EXPECT_TRUE(add_profile(profile, "profile\nx main app\n4\n4 main\n\n-1 main app\n7 main app"));
  EXPECT_THAT(profile.ticks, ElementsAre(Pair(Pair("app", "main"), 7)));
}

TEST(Profile, ThoseWithMostFirst)
{
  Profile profile;
  profile.ticks[{"app", "little"}] = 1;
  profile.ticks[{"app", "most"}] = 69;
  profile.ticks[{"libm.so.6", "some"}] = 30;
  EXPECT_THAT(profile.most(0.02), ElementsAre(Pair(Pair("app", "most"), 69), Pair(Pair("libm.so.6", "some"), 30)));
  EXPECT_EQ(profile.most(0).size(), 3U);
  EXPECT_TRUE(Profile().most(0.5).empty());
}

} // namespace
} // namespace umwelt::kernels
