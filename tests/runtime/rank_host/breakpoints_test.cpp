// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/breakpoints.h"

#include <cstring>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "runtime/rank_host/rank_host.h"

namespace umwelt::rank_host
{
namespace
{

constexpr std::size_t page = 4096;
constexpr unsigned misses = 64;
constexpr unsigned char int3 = 0xcc;
// pause; mov (%rdi), %eax; test %eax, %eax; je .-6; ret
constexpr std::array<unsigned char, 9> loop = {0xf3, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf8, 0xc3};

class BreakpointsTest : public testing::Test
{
protected:
  BreakpointsTest() { map(nullptr, loop.data(), loop.size()); }
  ~BreakpointsTest() override { munmap(code, page); }

  // Code at the place of the last, if there was one.
  void map(void* where, const void* bytes, std::size_t size)
  {
    const int fixed = where != nullptr ? MAP_FIXED : 0;
    code = static_cast<unsigned char*>(
        mmap(where, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0));
    std::memcpy(code, bytes, size);
    mprotect(code, page, PROT_READ | PROT_EXEC);
  }
  [[nodiscard]] std::uintptr_t at(std::size_t offset) const { return reinterpret_cast<std::uintptr_t>(code) + offset; }

  umw_gate gate{};
  umw_gate other_gate{};
  Rank rank{gate};
  Rank other{other_gate};
  Breakpoints points;
  unsigned char* code = nullptr;
};

TEST_F(BreakpointsTest, TakesThePlaceOfTheInstructionUntilItIsCleared)
{
  ASSERT_TRUE(points.set(at(0), rank, misses));
  EXPECT_EQ(code[0], int3);
  EXPECT_TRUE(points.stands(at(0)));
  EXPECT_TRUE(points.find(at(0))->pause);
  ASSERT_TRUE(points.set(at(2), rank, misses));
  EXPECT_FALSE(points.find(at(2))->pause);
  points.clear(at(0));
  points.clear(at(2));
  EXPECT_EQ(std::memcmp(code, loop.data(), loop.size()), 0);
}

TEST_F(BreakpointsTest, CannotBeWhereThereIsNoMemory)
{
  munmap(code, page);
  EXPECT_FALSE(points.set(at(0), rank, misses));
}

TEST_F(BreakpointsTest, IsAwayWhileItsInstructionIsExecuted)
{
  ASSERT_TRUE(points.set(at(2), rank, misses));
  ASSERT_TRUE(points.set(at(4), rank, misses));
  points.step_over(at(2));
  EXPECT_EQ(code[2], loop[2]);
  EXPECT_TRUE(points.stands(at(2)));
  points.step_over(at(4)); // another thread, while the first has not come back
  EXPECT_EQ(code[2], int3);
  EXPECT_EQ(code[4], loop[4]);
  EXPECT_TRUE(points.stepped_over());
  EXPECT_EQ(code[4], int3);
  EXPECT_FALSE(points.stepped_over());
}

TEST_F(BreakpointsTest, ComesBackIfItsCodeIsStillThere)
{
  ASSERT_TRUE(points.set(at(0), rank, misses));
  ASSERT_TRUE(points.set(at(2), rank, misses));
  points.lift(at(0));
  EXPECT_EQ(code[0], loop[0]);
  points.put_back();
  EXPECT_EQ(code[0], int3);
  EXPECT_TRUE(points.find(at(0))->pause);
}

TEST_F(BreakpointsTest, AllOfARankAreAwayForItsChild)
{
  ASSERT_TRUE(points.set(at(0), rank, misses));
  ASSERT_TRUE(points.set(at(2), other, misses));
  ASSERT_TRUE(points.set(at(4), rank, misses));
  points.lift_all(rank);
  EXPECT_EQ(code[0], loop[0]);
  EXPECT_EQ(code[2], int3);
  EXPECT_EQ(code[4], loop[4]);
  points.put_back();
  EXPECT_EQ(code[0], int3);
  EXPECT_EQ(code[4], int3);
}

// Whatever is asked for after the code has gone, what has come in its place stays as it is.
TEST_F(BreakpointsTest, IsForgottenWithItsCode)
{
  std::array<unsigned char, page> data{};
  for (const unsigned char fill : {0x5a, 0x00, 0xf3}) {
    data.fill(fill);
    map(code, loop.data(), loop.size());
    ASSERT_TRUE(points.set(at(0), rank, misses));
    ASSERT_TRUE(points.set(at(2), rank, misses));
    ASSERT_TRUE(points.set(at(4), rank, misses));
    points.lift(at(0));
    points.step_over(at(2));
    map(code, data.data(), data.size());
    points.stepped_over();
    points.put_back();
    points.clear(at(4));
    EXPECT_EQ(std::memcmp(code, data.data(), page), 0);
    for (const std::size_t offset : {0, 2, 4})
      EXPECT_FALSE(points.stands(at(offset)));
  }
}

TEST_F(BreakpointsTest, WithNoMemoryInItsPlaceNothingHappens)
{
  ASSERT_TRUE(points.set(at(0), rank, misses));
  ASSERT_TRUE(points.set(at(2), rank, misses));
  points.lift(at(0));
  points.step_over(at(2));
  munmap(code, page);
  points.stepped_over();
  points.put_back();
  EXPECT_FALSE(points.stands(at(0)));
  EXPECT_FALSE(points.stands(at(2)));
}

TEST_F(BreakpointsTest, IsSetAnewWhenTheCodeIsLoadedAgain)
{
  ASSERT_TRUE(points.set(at(2), rank, misses));
  map(code, loop.data(), loop.size());
  EXPECT_FALSE(points.stands(at(2)));
  ASSERT_TRUE(points.set(at(2), rank, misses));
  EXPECT_EQ(code[2], int3);
  points.clear(at(2));
  EXPECT_EQ(std::memcmp(code, loop.data(), loop.size()), 0);
}

} // namespace
} // namespace umwelt::rank_host
