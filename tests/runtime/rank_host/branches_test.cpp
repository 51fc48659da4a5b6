// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/branches.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace umwelt::rank_host
{
namespace
{

using Code = std::vector<unsigned char>;
using End = StraightCode::End;

TEST(StraightCode, EndsAtABranch)
{
  const StraightCode code = straight_code(Code{0x48, 0x89, 0xf8, 0x90, 0x75, 0xf4, 0x90}); // mov, nop, jne
  EXPECT_EQ(code.instructions, 2U);
  EXPECT_EQ(code.bytes, 4U);
  EXPECT_EQ(code.end, End::branch);
}

TEST(StraightCode, EndsWhereAnotherTakesPart)
{
  EXPECT_EQ(straight_code(Code{0x90, 0x0f, 0x05}).end, End::system_call);
  EXPECT_EQ(straight_code(Code{0x90, 0xcc}).end, End::system_call) << "somebody's breakpoint";
  EXPECT_EQ(straight_code(Code{0x90, 0xf3, 0xa4}).end, End::string);
  EXPECT_EQ(straight_code(Code{0xa4, 0xc3}).end, End::branch) << "not repeated";
  EXPECT_EQ(straight_code(Code{0x90, 0x06}).end, End::unreadable) << "no such instruction in 64 bits";
}

TEST(StraightCode, MayGoOnBeyondWhatIsThere)
{
  const StraightCode code = straight_code(Code{0x90, 0x48, 0x89});
  EXPECT_EQ(code.end, End::none);
  EXPECT_EQ(code.bytes, 1U);
  EXPECT_EQ(straight_code({}).bytes, 0U);
}

class Branches : public testing::Test
{
protected:
  static constexpr greg_t here = 0x100000;

  bool take(const Code& code)
  {
    set(REG_RIP, here);
    set(REG_RSP, address(&stack_[2]));
    return take_branch(context_, code, memory_);
  }
  void set(int number, greg_t value) { context_.uc_mcontext.gregs[number] = value; }
  [[nodiscard]] greg_t get(int number) const { return context_.uc_mcontext.gregs[number]; }
  [[nodiscard]] greg_t gone() const { return get(REG_RIP) - here; }
  static greg_t address(const void* pointer) { return static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(pointer)); }

  std::array<greg_t, 4> stack_{11, 22, 33, 44};

private:
  ucontext_t context_{};
  CodeMemory memory_;
};

TEST_F(Branches, ConditionsAreThoseOfTheFlags)
{
  struct Row {
    unsigned condition; // of both that differ in the last bit
    greg_t holds, fails;
  };
  constexpr greg_t carry = 1, parity = 4, zero = 0x40, sign = 0x80, overflow = 0x800;
  for (const Row& row :
       {Row{0x0, overflow, carry}, Row{0x2, carry, zero}, Row{0x4, zero, sign}, Row{0x6, carry, sign},
        Row{0x6, zero, sign}, Row{0x8, sign, overflow}, Row{0xa, parity, carry}, Row{0xc, sign, sign | overflow},
        Row{0xc, overflow, 0}, Row{0xe, zero, carry}, Row{0xe, sign, sign | overflow}}) {
    const auto code = static_cast<unsigned char>(0x70 + row.condition);
    const auto opposite = static_cast<unsigned char>(code + 1);
    set(REG_EFL, row.holds);
    ASSERT_TRUE(take({code, 0xf0}));
    EXPECT_EQ(gone(), 2 - 16) << row.condition;
    ASSERT_TRUE(take({opposite, 0xf0}));
    EXPECT_EQ(gone(), 2) << row.condition;
    ASSERT_TRUE(take({0x0f, static_cast<unsigned char>(code + 0x10), 0, 1, 0, 0}));
    EXPECT_EQ(gone(), 6 + 256) << row.condition;
    set(REG_EFL, row.fails);
    ASSERT_TRUE(take({code, 0xf0}));
    EXPECT_EQ(gone(), 2) << row.condition;
  }
}

TEST_F(Branches, Jumps)
{
  ASSERT_TRUE(take({0xeb, 0x10}));
  EXPECT_EQ(gone(), 2 + 16);
  ASSERT_TRUE(take({0xe9, 0, 0, 0, 0xff}));
  EXPECT_EQ(gone(), 5 - 0x1000000);
  set(REG_R11, 77);
  ASSERT_TRUE(take({0x41, 0xff, 0xe3})); // jmp *%r11
  EXPECT_EQ(get(REG_RIP), 77);
  set(REG_RAX, address(&stack_[0]));
  set(REG_RCX, 1);
  ASSERT_TRUE(take({0xff, 0x64, 0xc8, 0x08})); // jmp *8(%rax,%rcx,8)
  EXPECT_EQ(get(REG_RIP), 33);
  ASSERT_TRUE(take({0x3e, 0xff, 0xe0})) << "notrack jmp *%rax";
  EXPECT_EQ(get(REG_RIP), address(&stack_[0]));
}

TEST_F(Branches, CallsLeaveWhereTheyReturnTo)
{
  ASSERT_TRUE(take({0xe8, 0x10, 0, 0, 0}));
  EXPECT_EQ(gone(), 5 + 16);
  EXPECT_EQ(get(REG_RSP), address(&stack_[1]));
  EXPECT_EQ(stack_[1], here + 5);
  set(REG_RBX, 99);
  ASSERT_TRUE(take({0xff, 0xd3})); // call *%rbx
  EXPECT_EQ(get(REG_RIP), 99);
  EXPECT_EQ(stack_[1], here + 2);
}

TEST_F(Branches, ReturnsTakeItFromTheStack)
{
  ASSERT_TRUE(take({0xc3}));
  EXPECT_EQ(get(REG_RIP), 33);
  EXPECT_EQ(get(REG_RSP), address(&stack_[3]));
  ASSERT_TRUE(take({0xc2, 0x10, 0x00}));
  EXPECT_EQ(get(REG_RSP), address(&stack_[3]) + 16);
  ASSERT_TRUE(take({0xf3, 0xc3})) << "repz ret, of old compilers";
  EXPECT_EQ(get(REG_RIP), 33);
}

TEST_F(Branches, OthersAreLeftToTheThread)
{
  EXPECT_FALSE(take({0xe3, 0x10})) << "jrcxz";
  EXPECT_FALSE(take({0xe2, 0x10})) << "loop";
  EXPECT_FALSE(take({0x64, 0xff, 0x10})) << "call *%fs:(%rax): where that is, only the thread knows";
  EXPECT_FALSE(take({0xff, 0x18})) << "call far";
  EXPECT_FALSE(take({0xcb})) << "return far";
  EXPECT_FALSE(take({0xc7, 0xf8, 0, 0, 0, 0})) << "begin of a transaction";
  EXPECT_FALSE(take({0xe8})) << "cut off";
  set(REG_RAX, 8);
  EXPECT_FALSE(take({0xff, 0x20})) << "jmp *(%rax), where nothing is";
  EXPECT_EQ(gone(), 0);
  EXPECT_EQ(get(REG_RSP), address(&stack_[2]));
}

} // namespace
} // namespace umwelt::rank_host
