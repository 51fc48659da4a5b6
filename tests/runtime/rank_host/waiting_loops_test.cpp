// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads come to breakpoints with registers that are made by hand; what they ask the simulation for is written down.
#include "runtime/rank_host/waiting_loops.h"

#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "runtime/rank_host/machine_context.h"
#include "runtime/rank_host/rank_host.h"
#include "runtime/rank_host/trap_cost.h"

namespace umwelt::rank_host
{
namespace
{

constexpr std::size_t page = 4096;
constexpr unsigned char int3 = 0xcc;
// 0: pause; 2: mov (%rdi), %eax; 4: test %eax, %eax; 6: je 0; 8: mov %eax, (%rdi); 10: ret
constexpr std::array<unsigned char, 11> bytes = {0xf3, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf8, 0x89, 0x07, 0xc3};
constexpr std::size_t pause = 0;
constexpr std::size_t load = 2;
constexpr std::size_t test = 4;
constexpr std::size_t jump = 6;
constexpr std::size_t store = 8;

struct Asked {
  std::uint64_t seen;
  int idle;
};

class FakeRankHost final : public RankHost
{
public:
  using RankHost::RankHost;

  [[nodiscard]] Thread* running() const override { return nullptr; }
  void request(Thread& thread, std::uint32_t operation, void* arguments) override
  {
    EXPECT_EQ(operation, UMW_OP_umw_slice_pause);
    auto* a = static_cast<umw_args_umw_slice_pause*>(arguments);
    asked.push_back({a->seen, a->idle});
    a->result = forced ? 1 : 0;
    thread.rank.gate.changes += changes_meanwhile;
  }
  void on_request(int, const ucontext_t*) override {}
  void on_own_fault(int, const siginfo_t&, const ucontext_t&) override { std::abort(); }

  std::vector<Asked> asked;
  bool forced = false; // threads go on although nothing has changed
  std::uint64_t changes_meanwhile = 0;
};

class WaitingLoopsTest : public testing::Test
{
protected:
  explicit WaitingLoopsTest(engine::CpuPolicy::Kind kind = engine::CpuPolicy::Kind::none)
      : cpu(engine::CpuPolicy{kind}.measures(), 0, 0, 25 * sim::nanosecond),
        code(static_cast<unsigned char*>(
            mmap(nullptr, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
  {
    std::memcpy(code, bytes.data(), bytes.size());
    cpu.use(gate.clock, engine::CpuPolicy{kind}, 1);
    gate.running = gate.alone = 1;
    context.uc_mcontext.fpregs = &floating;
  }
  ~WaitingLoopsTest() override { munmap(code, page); }

  [[nodiscard]] std::uintptr_t at(std::size_t offset) const { return reinterpret_cast<std::uintptr_t>(code) + offset; }
  greg_t& reg(int number) { return context.uc_mcontext.gregs[number]; }
  // The thread comes there once more; how often it asks.
  std::size_t visit(std::size_t offset)
  {
    rank_host.asked.clear();
    reg(REG_RIP) = static_cast<greg_t>(at(offset)) + 1; // behind the int3
    loops.on_breakpoint(thread, context, at(offset));
    if (loops.breakpoints().stepped_over()) {
      EXPECT_EQ(reg(REG_EFL) & trap_flag, trap_flag);
      EXPECT_EQ(reg(REG_RIP), static_cast<greg_t>(at(offset)));
      set_trap_flag(context, false);
    }
    return rank_host.asked.size();
  }
  [[nodiscard]] bool stands(std::size_t offset) const { return code[offset] == int3; }

  sim::Timeline timeline;
  engine::Scheduler scheduler{timeline};
  Cpu cpu;
  FakeRankHost rank_host{scheduler, cpu};
  umw_gate gate{};
  Rank rank{gate};
  Thread thread{rank};
  TrapCost trap_cost;
  WaitingLoops loops{rank_host, trap_cost};
  ucontext_t context{};
  _libc_fpstate floating{};
  unsigned char* const code;
};

TEST_F(WaitingLoopsTest, InstructionsOfAllLoopsAreKnown)
{
  EXPECT_FALSE(loops.is_known(at(load)));
  loops.add({at(load), at(test)});
  loops.add({at(jump)});
  for (const std::size_t offset : {load, test, jump})
    EXPECT_TRUE(loops.is_known(at(offset)));
  EXPECT_FALSE(loops.is_known(at(pause)));
}

TEST_F(WaitingLoopsTest, AFewInstructionsThatCannotWriteOnlyLook)
{
  EXPECT_TRUE(loops.only_looks({at(load), at(test), at(jump)}));
  EXPECT_FALSE(loops.only_looks({at(load), at(store), at(jump)}));
  EXPECT_TRUE(loops.only_looks(std::vector(8, at(load))));
  EXPECT_FALSE(loops.only_looks(std::vector(9, at(load))));
  ASSERT_TRUE(loops.set_breakpoint(rank, at(load)));
  EXPECT_TRUE(loops.only_looks({at(load), at(test)})); // its own code is what counts
}

TEST_F(WaitingLoopsTest, CodeThatHasGoneGetsNoBreakpoint)
{
  ASSERT_TRUE(loops.set_breakpoint(rank, at(load)));
  ASSERT_TRUE(loops.set_breakpoint(rank, at(load)));
  EXPECT_TRUE(stands(load));
  munmap(code, page);
  EXPECT_FALSE(loops.set_breakpoint(rank, at(load)));
}

// --- same_visit ------------------------------------------------------------------------------------------------------

class SameVisitTest : public WaitingLoopsTest
{
protected:
  SameVisitTest()
  {
    EXPECT_TRUE(loops.set_breakpoint(rank, at(pause)));
    EXPECT_TRUE(loops.set_breakpoint(rank, at(load)));
    reg(REG_RSP) = 0x7000;
    same(pause);
  }
  bool same(std::size_t offset) { return loops.same_visit(thread, context, *loops.breakpoints().find(at(offset))); }
  std::int64_t& round(int number) { return loops.breakpoints().find(at(pause))->round[static_cast<unsigned>(number)]; }
};

TEST_F(SameVisitTest, AnyRegisterMakesTheDifference)
{
  for (const int number : {REG_R8, REG_RDI, REG_RCX, REG_RSP, REG_RIP}) {
    EXPECT_TRUE(same(pause));
    EXPECT_EQ(thread.same_visits, 1U);
    EXPECT_TRUE(same(pause));
    EXPECT_EQ(thread.same_visits, 2U);
    reg(number) += 8;
    EXPECT_FALSE(same(pause)) << number;
    EXPECT_EQ(thread.same_visits, 0U);
  }
}

TEST_F(SameVisitTest, VectorsDoIfThereIsNoPause)
{
  EXPECT_FALSE(same(load)); // not known yet
  EXPECT_TRUE(same(load));
  floating._xmm[3].element[1] = 1;
  EXPECT_TRUE(same(pause));
  EXPECT_FALSE(same(load));
  EXPECT_TRUE(same(load));
}

TEST_F(SameVisitTest, RoundsMayBeCounted)
{
  round(REG_RCX) = -1;
  round(REG_RDX) = 8;
  for (const int times : {1, 3, 100}) {
    reg(REG_RCX) -= times;
    reg(REG_RDX) += 8 * times;
    EXPECT_TRUE(same(pause));
  }
  EXPECT_FALSE(same(pause)); // not once round
  reg(REG_RCX) += 1;
  reg(REG_RDX) -= 8;
  EXPECT_FALSE(same(pause)); // backwards
  reg(REG_RCX) -= 2;
  reg(REG_RDX) += 8;
  EXPECT_FALSE(same(pause)); // not as often
  reg(REG_RCX) -= 1;
  reg(REG_RDX) += 12;
  EXPECT_FALSE(same(pause)); // by part of a round
  reg(REG_RCX) -= 1;
  reg(REG_RDX) += 8;
  reg(REG_RAX) += 1;
  EXPECT_FALSE(same(pause)); // and something else
  reg(REG_RCX) -= 1;
  reg(REG_RDX) += 8;
  EXPECT_TRUE(same(pause));
}

// Hash values, halves of numbers, a pointer where a counter was: differences wrap as the processor's do.
TEST_F(SameVisitTest, ARegisterMayHoldAnything)
{
  constexpr greg_t least = std::numeric_limits<greg_t>::min();
  constexpr greg_t most = std::numeric_limits<greg_t>::max();
  for (const std::int64_t each : {std::int64_t{-1}, std::int64_t{1}, std::int64_t{3}, std::int64_t{least}}) {
    round(REG_RCX) = each;
    reg(REG_RCX) = most;
    same(pause);
    reg(REG_RCX) = most - 1;
    EXPECT_EQ(same(pause), each == -1) << each;
    reg(REG_RCX) = least;
    same(pause);
    reg(REG_RCX) = 0;
    EXPECT_EQ(same(pause), each == -1 || each == least) << each;
    reg(REG_RCX) = least;
    EXPECT_EQ(same(pause), each == -1 || each == least) << each;
    reg(REG_RCX) = most;
    EXPECT_EQ(same(pause), each == -1) << each; // one less than the least
  }
}

// --- at a pause ------------------------------------------------------------------------------------------------------

class AtPauseTest : public WaitingLoopsTest
{
protected:
  explicit AtPauseTest(engine::CpuPolicy::Kind kind = engine::CpuPolicy::Kind::none) : WaitingLoopsTest(kind)
  {
    EXPECT_TRUE(loops.set_breakpoint(rank, at(pause)));
  }
};

TEST_F(AtPauseTest, AThreadAsksToBeBlocked)
{
  gate.changes = 7;
  ASSERT_EQ(visit(pause), 1U);
  EXPECT_EQ(rank_host.asked[0].seen, 0U); // what it knew of when it began to look
  EXPECT_EQ(rank_host.asked[0].idle, 0);  // others may wait for what it has done before
  ASSERT_EQ(visit(pause), 1U);
  EXPECT_EQ(rank_host.asked[0].seen, 7U);
  EXPECT_EQ(rank_host.asked[0].idle, 1);
  reg(REG_RDI) = 64; // another variable
  ASSERT_EQ(visit(pause), 1U);
  EXPECT_EQ(rank_host.asked[0].idle, 0);
  EXPECT_EQ(reg(REG_RIP), static_cast<greg_t>(at(pause)) + 1); // a pause need not be made up for
  EXPECT_TRUE(stands(pause));
}

TEST_F(AtPauseTest, WhatMayHaveChangedIsLookedAtFirst)
{
  visit(pause);
  visit(pause);
  ++gate.changes;
  EXPECT_EQ(visit(pause), 0U);
  ASSERT_EQ(visit(pause), 1U);
  EXPECT_EQ(rank_host.asked[0].seen, 1U);
  rank_host.changes_meanwhile = 1; // while it was blocked, it has been woken for that
  EXPECT_EQ(visit(pause), 1U);
  EXPECT_EQ(visit(pause), 1U);
}

TEST_F(AtPauseTest, WithOthersOfTheRankAroundItAsksAtOnce)
{
  gate.alone = 0;
  visit(pause);
  gate.changes = 3;
  ASSERT_EQ(visit(pause), 1U);
  EXPECT_EQ(rank_host.asked[0].seen, 3U);
  EXPECT_EQ(rank_host.asked[0].idle, 1);
}

TEST_F(AtPauseTest, TimeSpentLookingIsNotCharged)
{
  gate.clock.debt_ps = 5;
  visit(pause); // how it came here
  EXPECT_EQ(gate.clock.debt_ps, 5);
  gate.clock.debt_ps = 50;
  visit(pause);
  EXPECT_EQ(gate.clock.debt_ps, 5);
  gate.clock.debt_ps = 70;
  reg(REG_RDI) = 64;
  visit(pause);
  EXPECT_EQ(gate.clock.debt_ps, 70);
  gate.alone = 0; // others may see what it does meanwhile
  gate.clock.debt_ps = 80;
  visit(pause);
  EXPECT_EQ(gate.clock.debt_ps, 80);
}

TEST_F(AtPauseTest, WhoIsNotToBeInterruptedGoesOn)
{
  gate.no_preempt = 1;
  EXPECT_EQ(visit(pause), 0U);
  gate.no_preempt = 0;
  gate.running = 0;
  EXPECT_EQ(visit(pause), 0U);
}

// Without ticks to go by: so that runs are the same.
TEST_F(AtPauseTest, WhoIsLetGoOnPassesForAWhile)
{
  rank_host.forced = true;
  for (const unsigned passes : {16, 32, 64, 128, 256, 512, 1024, 1024}) {
    EXPECT_EQ(visit(pause), 1U);
    for (unsigned i = 0; i < passes; ++i)
      ASSERT_EQ(visit(pause), 0U);
  }
  EXPECT_EQ(visit(pause), 1U);
  ++gate.crossings; // it has got somewhere
  EXPECT_EQ(visit(pause), 1U);
  EXPECT_TRUE(stands(pause));
}

TEST_F(AtPauseTest, WhatHasChangedBeginsTheCountAnew)
{
  rank_host.forced = true;
  visit(pause);
  while (visit(pause) == 0)
    continue;
  rank_host.forced = false;
  thread.passes = 0;
  visit(pause);
  rank_host.forced = true;
  visit(pause);
  EXPECT_EQ(thread.passes, 16U);
}

TEST_F(AtPauseTest, WhoHasPassedTooOftenIsLeftToTheTicks)
{
  rank_host.forced = true;
  for (unsigned i = 0; i < 64; ++i) {
    thread.passes = 0;
    EXPECT_EQ(visit(pause), 1U);
    EXPECT_TRUE(stands(pause));
  }
  thread.passes = 0;
  visit(pause);
  EXPECT_FALSE(stands(pause));
  loops.breakpoints().put_back();
  EXPECT_TRUE(stands(pause));
}

class MeasuredAtPauseTest : public AtPauseTest
{
protected:
  MeasuredAtPauseTest() : AtPauseTest(engine::CpuPolicy::Kind::measured) {}
};

TEST_F(MeasuredAtPauseTest, WhoIsLetGoOnIsLeftToTheTicks)
{
  rank_host.forced = true;
  visit(pause);
  EXPECT_FALSE(stands(pause));
  loops.breakpoints().put_back();
  EXPECT_TRUE(stands(pause));
}

// --- at the first instruction of another loop ------------------------------------------------------------------------

class AtAnchorTest : public WaitingLoopsTest
{
protected:
  explicit AtAnchorTest(engine::CpuPolicy::Kind kind = engine::CpuPolicy::Kind::none) : WaitingLoopsTest(kind)
  {
    EXPECT_TRUE(loops.set_breakpoint(rank, at(load)));
  }
  Breakpoints::Point& point() { return *loops.breakpoints().find(at(load)); }
};

TEST_F(AtAnchorTest, AThreadAsksWhenItHasComeBackTwice)
{
  EXPECT_EQ(visit(load), 0U);
  EXPECT_EQ(visit(load), 0U);
  ASSERT_EQ(visit(load), 1U);
  EXPECT_EQ(rank_host.asked[0].idle, 0);
  ASSERT_EQ(visit(load), 1U);
  EXPECT_EQ(rank_host.asked[0].idle, 1);
  reg(REG_RDI) = 64;
  EXPECT_EQ(visit(load), 0U);
  EXPECT_EQ(visit(load), 0U);
  ASSERT_EQ(visit(load), 1U);
  EXPECT_EQ(rank_host.asked[0].idle, 0);
}

TEST_F(AtAnchorTest, ABreakpointThatIsMetInVainIsTakenAwayLaterEachTime)
{
  for (const unsigned misses : {64, 128, 256}) {
    ASSERT_TRUE(loops.set_breakpoint(rank, at(load)));
    for (unsigned i = 0; i < misses; ++i) {
      ++reg(REG_RDI);
      EXPECT_EQ(visit(load), 0U);
      ASSERT_TRUE(stands(load)) << i << " of " << misses;
    }
    ++reg(REG_RDI);
    visit(load);
    EXPECT_FALSE(stands(load));
    EXPECT_EQ(std::memcmp(code, bytes.data(), bytes.size()), 0);
  }
}

TEST_F(AtAnchorTest, OneThatIsMetByWaitingThreadsStays)
{
  for (unsigned i = 0; i < 200; ++i) {
    ++reg(REG_RDI);
    for (unsigned visits = 0; visits < 3; ++visits)
      visit(load);
    ASSERT_EQ(rank_host.asked.size(), 1U);
  }
  EXPECT_TRUE(stands(load));
}

// They may wait for what the thread writes between two visits.
TEST_F(AtAnchorTest, WithOthersOfTheRankAroundOnlyWhoCannotWriteWaits)
{
  point().looks = true;
  gate.alone = 0;
  visit(load);
  visit(load);
  ASSERT_EQ(visit(load), 1U);
  point().looks = false;
  EXPECT_EQ(visit(load), 0U);
  EXPECT_FALSE(stands(load));
}

TEST_F(AtAnchorTest, TimeSpentLookingIsNotChargedWhereNothingIsWritten)
{
  for (const bool looks : {false, true}) {
    gate.alone = looks ? 0 : 1;
    point().looks = looks;
    reg(REG_RDI) += 8;
    gate.clock.debt_ps = 5;
    visit(load);
    gate.clock.debt_ps = 50;
    visit(load);
    EXPECT_EQ(visit(load), 1U);
    EXPECT_EQ(gate.clock.debt_ps, 5);
  }
}

// It may count in memory: it is watched from the beginning.
TEST_F(AtAnchorTest, WhoIsLetGoOnHasNoBreakpoint)
{
  visit(load);
  visit(load);
  rank_host.forced = true;
  EXPECT_EQ(visit(load), 1U);
  EXPECT_FALSE(stands(load));
  loops.breakpoints().put_back();
  EXPECT_FALSE(stands(load));
}

class MeasuredAtAnchorTest : public AtAnchorTest
{
protected:
  MeasuredAtAnchorTest() : AtAnchorTest(engine::CpuPolicy::Kind::measured) {}
};

TEST_F(MeasuredAtAnchorTest, WhoIsLetGoOnIsLeftToTheTicks)
{
  visit(load);
  visit(load);
  rank_host.forced = true;
  EXPECT_EQ(visit(load), 1U);
  EXPECT_FALSE(stands(load));
  loops.breakpoints().put_back();
  EXPECT_TRUE(stands(load));
}

} // namespace
} // namespace umwelt::rank_host
