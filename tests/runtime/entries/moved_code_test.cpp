// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/entries/moved_code.h"

#include <cstring>

#include <gmock/gmock.h>

namespace umwelt::entries
{
namespace
{

using Bytes = std::vector<unsigned char>;
using testing::HasSubstr;

std::optional<MovedCode> move(const Bytes& code, std::string& why)
{
  return MovedCode::of(code, 0x1000, why);
}

std::string refusal(const Bytes& code)
{
  std::string why;
  EXPECT_FALSE(move(code, why));
  return why;
}

TEST(MovedCodeTest, WholeInstructionsAreCopiedAndAJumpLeadsBack)
{
  // push %rbp; mov %rsp, %rbp; sub $0x20, %rsp; mov %edi, -4(%rbp)
  const Bytes code{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0x89, 0x7d, 0xfc};
  std::string why;
  const auto moved = move(code, why);
  ASSERT_TRUE(moved) << why;
  EXPECT_EQ(moved->bytes(), 13U);
  // To 0x1008 from behind 0x2000 + 13.
  EXPECT_EQ(moved->at(0x2000), (Bytes{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xe9, 0xfb, 0xef, 0xff, 0xff}));
}

TEST(MovedCodeTest, ALongInstructionIsCopiedToItsEnd)
{
  // sub $8, %rsp; movabs $0x1122334455667788, %rax
  const Bytes code{0x48, 0x83, 0xec, 8, 0x48, 0xb8, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xc3};
  std::string why;
  const auto moved = move(code, why);
  ASSERT_TRUE(moved) << why;
  EXPECT_EQ(moved->bytes(), 14U + 5);
}

TEST(MovedCodeTest, DistancesToDataFollow)
{
  // mov 0x10(%rip), %rax: reads 0x1017; nop
  const Bytes code{0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0x90, 0xc3};
  std::string why;
  const auto moved = move(code, why);
  ASSERT_TRUE(moved) << why;
  const auto copy = moved->at(0x5000);
  ASSERT_TRUE(copy);
  std::int32_t distance = 0;
  std::memcpy(&distance, copy->data() + 3, sizeof distance);
  EXPECT_EQ(0x5000 + 7 + distance, 0x1017);
}

TEST(MovedCodeTest, WhatIsTooFarAwayIsNotReached)
{
  const Bytes code{0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0x90, 0xc3};
  std::string why;
  const auto moved = move(code, why);
  ASSERT_TRUE(moved) << why;
  EXPECT_TRUE(moved->at(0x7fff0000));
  EXPECT_FALSE(moved->at(0x100000000));
}

TEST(MovedCodeTest, AFunctionThatReturnsEarlyNeedsPadding)
{
  std::string why;
  const auto moved = move({0x31, 0xc0, 0xc3, 0x0f, 0x1f, 0x44, 0, 0}, why); // xor %eax, %eax; ret; nopl
  ASSERT_TRUE(moved) << why;
  EXPECT_EQ(moved->at(0x9000), (Bytes{0x31, 0xc0, 0xc3})); // no jump back
  EXPECT_THAT(refusal({0x31, 0xc0, 0xc3, 0x55, 0x48, 0x89, 0xe5, 0x90}), HasSubstr("ends after 3 bytes, 8 are"));
  EXPECT_THAT(refusal({0x31, 0xc0, 0xc3}), HasSubstr("ends after 3 bytes, 8 are needed"));
}

TEST(MovedCodeTest, WhatCannotBeMovedIsSaid)
{
  EXPECT_THAT(refusal({0x90, 0x90}), HasSubstr("has 2 bytes, 8 are needed"));
  EXPECT_THAT(refusal({}), HasSubstr("has 0 bytes"));
  EXPECT_THAT(refusal({0x90, 0x06, 0, 0, 0, 0, 0, 0}), HasSubstr("bytes at +1 that are no instruction"));
  EXPECT_THAT(refusal({0xe3, 0x10, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3}),
              HasSubstr("has a branch at +0 that")); // jrcxz
}

std::int32_t distance(const std::vector<unsigned char>& code, std::size_t offset)
{
  std::int32_t value = 0;
  std::memcpy(&value, code.data() + offset, sizeof value);
  return value;
}

TEST(MovedCodeTest, BranchesGetTheirLongForm)
{
  // test %edi, %edi; je +0x10 (to 0x1014); mov $5, %eax
  std::string why;
  auto moved = move({0x85, 0xff, 0x74, 0x10, 0xb8, 5, 0, 0, 0, 0xc3}, why);
  ASSERT_TRUE(moved) << why;
  auto copy = *moved->at(0x3000);
  ASSERT_EQ(copy.size(), 2U + 6 + 5 + 5);
  EXPECT_EQ(copy[2], 0x0f);
  EXPECT_EQ(copy[3], 0x84);
  EXPECT_EQ(0x3000 + 8 + distance(copy, 4), 0x1014);
  EXPECT_EQ(0x3000 + 18 + distance(copy, 14), 0x1009);
  // call 0x1105; nopl
  moved = move({0xe8, 0, 1, 0, 0, 0x0f, 0x1f, 0, 0xc3}, why);
  ASSERT_TRUE(moved) << why;
  copy = *moved->at(0x3000);
  EXPECT_EQ(copy[0], 0xe8);
  EXPECT_EQ(0x3000 + 5 + distance(copy, 1), 0x1105);
  // jmp 0x1105; padding: no jump back
  moved = move({0xe9, 0, 1, 0, 0, 0x90, 0x90, 0x90}, why);
  ASSERT_TRUE(moved) << why;
  EXPECT_EQ(moved->bytes(), 5U);
  EXPECT_EQ(0x3000 + 5 + distance(*moved->at(0x3000), 1), 0x1105);
}

TEST(MovedCodeTest, ALoopBackIntoTheEntryIsFound)
{
  // xor %eax, %eax; 1: add $2, %eax; sub $1, %edi; jne 1b; ret
  EXPECT_THAT(refusal({0x31, 0xc0, 0x83, 0xc0, 0x02, 0x83, 0xef, 0x01, 0x75, 0xf8, 0xc3}),
              HasSubstr("is gone back to"));
  // 0: add $2, %eax; sub $1, %edi; nopw; jne 0b: to the entry itself, which is entered again
  std::string why;
  EXPECT_TRUE(move({0x83, 0xc0, 0x02, 0x83, 0xef, 0x01, 0x66, 0x90, 0x75, 0xf6, 0xc3}, why)) << why;
}

} // namespace
} // namespace umwelt::entries
