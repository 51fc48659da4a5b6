// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/loading.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::plan
{
namespace
{

using testing::HasSubstr;

class LoadingTest : public testing::Test
{
protected:
  LoadingTest()
  {
    usual_.path = "/bin/true";
    usual_.interpreter = "/lib64/ld-linux-x86-64.so.2";
    other_.path = "/bin/other";
    other_.interpreter = std::filesystem::temp_directory_path() / "umwelt-test-other-linker";
    std::ofstream(other_.interpreter) << "GNU C Library stable release version 2.17.\n";
  }
  ~LoadingTest() override { std::filesystem::remove(other_.interpreter); }

  LoaderChoice choose(Loader wish, std::vector<const loader::Program*> programs) const
  {
    return choose_loader(wish, programs);
  }

  loader::Program usual_;
  loader::Program other_;
};

TEST_F(LoadingTest, AKnownLinkerIsForEachRank)
{
  const LoaderChoice choice = choose(Loader::automatic, {&usual_});
  EXPECT_EQ(choice.loader, Loader::linker);
  EXPECT_EQ(choice.note, "");
}

TEST_F(LoadingTest, WishesAreFollowed)
{
  EXPECT_EQ(choose(Loader::linker, {&usual_, &other_}).loader, Loader::linker);
  EXPECT_EQ(choose(Loader::dlmopen, {&usual_}).loader, Loader::dlmopen);
}

TEST_F(LoadingTest, DlmopenIsForProgramsWithTheLinkerOfUmwelt)
{
  try {
    choose(Loader::dlmopen, {&usual_, &other_});
    FAIL() << "expected a refusal";
  } catch (const loader::Refusal& refusal) {
    EXPECT_THAT(refusal.what(), HasSubstr("/bin/other: --loader dlmopen: expected the dynamic linker that umwelt"));
    EXPECT_THAT(refusal.what(), HasSubstr(other_.interpreter));
  }
}

TEST_F(LoadingTest, AnUnknownLinkerThatDlmopenDoesNotTakeIsTriedAndNamed)
{
  const LoaderChoice choice = choose(Loader::automatic, {&other_});
  EXPECT_EQ(choice.loader, Loader::linker);
  EXPECT_THAT(choice.note, HasSubstr("glibc 2.17"));
}

TEST_F(LoadingTest, AProcessHasRoomForFifteenNamespaces)
{
  EXPECT_EQ(room_with(Loader::dlmopen, 400), 15U);
  EXPECT_EQ(room_with(Loader::dlmopen, 3), 3U);
  EXPECT_EQ(room_with(Loader::linker, 400), 400U);
}

} // namespace
} // namespace umwelt::plan
