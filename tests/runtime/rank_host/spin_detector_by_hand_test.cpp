// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads made by hand, for what no code does on purpose; and code that is only looked at.
#include "runtime/rank_host/spin_detector.h"

#include <cstring>
#include <functional>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace umwelt::rank_host
{
namespace
{

using Finding = SpinDetector::Finding;

std::uintptr_t address(const unsigned char* code)
{
  return reinterpret_cast<std::uintptr_t>(code);
}

// A thread that goes round a loop of so many instructions of one byte each.
class HandMade
{
public:
  explicit HandMade(unsigned instructions) : loop(instructions)
  {
    context.uc_mcontext.fpregs = &floating;
    std::memset(code, 0x90, sizeof code);
    context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address(code));
  }
  // To a finding; `round` is called when it begins one.
  Finding run(const std::function<void()>& round)
  {
    SpinDetector detector;
    detector.begin(context);
    for (unsigned step = 1; step < 2000; ++step) {
      context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address(code)) + static_cast<greg_t>(step % loop);
      if (step % loop == 0) {
        ++rounds;
        round();
      }
      if (const Finding finding = detector.step(context); finding != Finding::nothing_yet)
        return finding;
    }
    return Finding::nothing_yet;
  }
  greg_t& operator[](int number) { return context.uc_mcontext.gregs[number]; }

  unsigned rounds = 0;
  _libc_fpstate floating{};

private:
  ucontext_t context{};
  unsigned char code[64];
  const unsigned loop;
};

TEST(SpinDetectorByHandTest, EveryRegisterCounts)
{
  EXPECT_EQ(HandMade(3).run([] {}), Finding::comes_back);
  for (int number = REG_R8; number <= REG_EFL; ++number) {
    if (number == REG_RIP)
      continue;
    HandMade thread(3);
    EXPECT_EQ(thread.run([&] { thread[number] = thread.rounds << 20; }), Finding::no_loop) << "register " << number;
  }
}

TEST(SpinDetectorByHandTest, FlagsOfTheStepsThemselvesDoNotCount)
{
  for (const greg_t flag : {trap_flag, greg_t{0x10000}}) { // RF, which the processor sets as it likes
    HandMade thread(3);
    const auto round = [&] { thread[REG_EFL] = (1U << thread.rounds % 32 & 0x53a1c6f9U) != 0 ? flag : 0; };
    EXPECT_EQ(thread.run(round), Finding::comes_back);
    EXPECT_LE(thread.rounds, 15U);
  }
}

TEST(SpinDetectorByHandTest, FloatingPointCounts)
{
  HandMade thread(3);
  const auto round = [&] { thread.floating._st[7].significand[0] = thread.rounds & 0xffff; };
  EXPECT_EQ(thread.run(round), Finding::no_loop);
}

// --- is_near_pause ---------------------------------------------------------------------------------------------------

class NearPauseTest : public testing::Test
{
protected:
  NearPauseTest()
      : memory(static_cast<unsigned char*>(
            mmap(nullptr, 5 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        before(memory + page), code(before + page), after(code + page)
  {
    std::memset(before, 0x90, 3 * page); // nop
    mprotect(memory, page, PROT_NONE);
    mprotect(after + page, page, PROT_NONE);
  }
  ~NearPauseTest() override { munmap(memory, 5 * page); }
  static void put_pause(unsigned char* where)
  {
    where[0] = 0xf3;
    where[1] = 0x90;
  }
  static bool is_near(const unsigned char* pc) { return SpinDetector::is_near_pause(address(pc)); }

  static constexpr std::size_t page = 4096;
  static constexpr std::size_t middle = page / 2;
  unsigned char* const memory;
  unsigned char* const before; // three pages between two that cannot be read
  unsigned char* const code;
  unsigned char* const after;
};

TEST_F(NearPauseTest, IsOnEitherSideNotFarAway)
{
  EXPECT_FALSE(is_near(code + middle));
  put_pause(code + middle);
  for (const unsigned char* pc : {code + middle, code + middle + 1, code + middle + 2, code + middle - 2})
    EXPECT_TRUE(is_near(pc));
  EXPECT_TRUE(is_near(code + middle - 100));
  EXPECT_TRUE(is_near(code + middle + 100));
  EXPECT_FALSE(is_near(code + middle - 200));
  EXPECT_FALSE(is_near(code + middle + 200));
}

TEST_F(NearPauseTest, OtherPagesAreNotLookedAt)
{
  put_pause(code - 2); // could be read, but that is not known
  put_pause(after);
  EXPECT_FALSE(is_near(code));
  EXPECT_FALSE(is_near(after - 1));
  EXPECT_FALSE(is_near(before)); // and these cannot
  EXPECT_FALSE(is_near(after + page - 1));
  EXPECT_FALSE(is_near(code + 50));
  EXPECT_FALSE(is_near(after - 50));
}

TEST_F(NearPauseTest, ThePageIsLookedAtToItsEdges)
{
  put_pause(code);
  put_pause(after - 2);
  EXPECT_TRUE(is_near(code));
  EXPECT_TRUE(is_near(code + 10));
  EXPECT_TRUE(is_near(after - 1));
  EXPECT_TRUE(is_near(after - 10));
}

TEST_F(NearPauseTest, OneAcrossTwoPagesIsNotSeen)
{
  put_pause(after - 1);
  EXPECT_FALSE(is_near(after - 20));
  EXPECT_FALSE(is_near(after));
  put_pause(after + page - 2);
  after[page - 1] = 0xf3;
  EXPECT_FALSE(is_near(after + page - 20));
}

TEST_F(NearPauseTest, WhatLooksLikeOneMayBeOne)
{
  const unsigned char number[] = {0xb8, 0xf3, 0x90, 0x00, 0x00}; // mov $0x90f3, %eax
  std::memcpy(code + middle, number, sizeof number);
  EXPECT_TRUE(is_near(code + middle));
  const unsigned char others[] = {0x90, 0xf3, 0xa4, 0xf2, 0x90, 0xf3, 0x0f, 0x90}; // rep movs, bnd nop, and so on
  std::memcpy(code + middle, others, sizeof others);
  EXPECT_FALSE(is_near(code + middle));
}

} // namespace
} // namespace umwelt::rank_host
