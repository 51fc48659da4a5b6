// SPDX-License-Identifier: LGPL-2.1-or-later
// Loops of real code, which the trap flag takes a thread through as it does one of a rank.
#include "runtime/rank_host/spin_detector.h"

#include <csignal>
#include <cstring>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Called with %rdi: four words of memory, all 0 but for the second, and %rax, %rcx, %rdx, %xmm0 and %xmm1 all 0. Code
// that ends goes on with spin_counts, which does not come back.
asm(R"(
    .text
    .macro spin_code name
    .balign 16
    .globl \name
    .hidden \name
\name:
    .endm

    spin_code spin_counts
    lea 1(%rdx), %rdx
    jmp spin_counts

    spin_code spin_pauses
    pause
    mov (%rdi), %eax
    test %eax, %eax
    je spin_pauses
    ret

    spin_code spin_pauses_and_counts
    mov (%rdi), %eax
    add $3, %rcx
    pause
    lea -8(%rdx), %rdx
    lea 1(%r8), %r8
    test %eax, %eax
    je spin_pauses_and_counts
    ret

    spin_code spin_pauses_unevenly
    lea 1(%rdx), %rdx
    lea 1(%rcx,%rcx), %rcx
    pause
    jmp spin_pauses_unevenly

    # As GCC 14 unrolls a loop that pauses and counts.
    spin_code spin_pauses_in_turn
    pause
    lea 2(%rdx), %rdx
    pause
    cmpl $0, (%rdi)
    je spin_pauses_in_turn
    ret

    # Once less than it takes, at a place that it does not come back to.
    spin_code spin_pauses_elsewhere_first
    pause
    lea 1(%rcx), %ecx
    cmp $8, %ecx
    jne spin_pauses_elsewhere_first
1:  pause
    mov (%rdi), %eax
    test %eax, %eax
    je 1b
    ret

    spin_code spin_pauses_on_the_way
    .rept 12
    pause
    .endr
    jmp spin_counts

    spin_code spin_pauses_in_long_loop
    pause
    .rept 18
    nop
    .endr
    jmp spin_pauses_in_long_loop

    spin_code spin_looks
    mov (%rdi), %eax
    test %eax, %eax
    je spin_looks
    ret

    spin_code spin_at_one
    jmp spin_at_one

    spin_code spin_looks_after_a_while
    .rept 50
    lea 1(%rdx), %rdx
    .endr
    jmp spin_looks

    spin_code spin_called
    mov (%rdi), %eax
    ret
    spin_code spin_calls
    call spin_called
    test %eax, %eax
    je spin_calls
    ret

    # At two variables in turn, by the same instructions.
    spin_code spin_looks_at_two
1:  cmpl $0, 8(%rdi,%rcx,4)
    jne 2f
    lea 1(%rcx), %ecx
    cmp $2, %ecx
    jne 1b
    mov $0, %ecx
    jmp 1b
2:  ret

    spin_code spin_adds_vectors
    paddq %xmm1, %xmm0
    mov (%rdi), %eax
    test %eax, %eax
    je spin_adds_vectors
    ret
    spin_code spin_changes_vector
    mov $1, %eax
    movq %rax, %xmm1
    jmp spin_adds_vectors

    # In its upper half, which is not in what the kernel saves of every processor.
    spin_code spin_changes_long_vector
    mov $1, %eax
    vmovq %rax, %xmm1
    vperm2i128 $1, %ymm1, %ymm1, %ymm1
1:  vpaddq %ymm1, %ymm0, %ymm0
    mov (%rdi), %eax
    test %eax, %eax
    je 1b
    ret

    spin_code spin_straight
    .rept 400
    nop
    .endr
    jmp spin_counts

    # Of so many instructions; each time round looks like the one before, but for 4(%rdi), where it is counted down:
    # then it ends.
    .macro spin_round name, instructions
    spin_code \name
    mov 4(%rdi), %ecx
    lea -1(%rcx), %ecx
    mov %ecx, 4(%rdi)
    jrcxz 1f
    mov $0, %ecx
    .rept \instructions - 6
    nop
    .endr
    jmp \name
1:  jmp spin_counts
    .endm
    spin_round spin_round_10, 10
    spin_round spin_round_20, 20
    spin_round spin_round_100, 100

    spin_code spin_largest
    .rept 127
    nop
    .endr
    jmp spin_largest
    spin_code spin_too_large
    .rept 128
    nop
    .endr
    jmp spin_too_large

    # Calls %rdi with %rsi for its %rdi and the trap flag set; the handler comes to spin_leave with the stack as it is.
    spin_code spin_enter
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, spin_stack(%rip)
    mov %rdi, %rbx
    mov %rsi, %rdi
    xor %eax, %eax
    xor %ecx, %ecx
    xor %edx, %edx
    xor %r8d, %r8d
    pxor %xmm0, %xmm0
    pxor %xmm1, %xmm1
    pushfq
    orq $0x100, (%rsp)
    popfq
    call *%rbx
    spin_code spin_leave
    mov spin_stack(%rip), %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret
    .local spin_stack
    .comm spin_stack, 8, 8
)");

extern "C" {
using Code = const unsigned char[];
extern Code spin_counts, spin_pauses, spin_pauses_and_counts, spin_pauses_unevenly, spin_pauses_in_turn,
    spin_pauses_elsewhere_first, spin_pauses_on_the_way, spin_pauses_in_long_loop, spin_looks, spin_at_one,
    spin_looks_after_a_while, spin_called, spin_calls, spin_looks_at_two, spin_adds_vectors, spin_changes_vector,
    spin_changes_long_vector, spin_straight, spin_round_10, spin_round_20, spin_round_100, spin_largest, spin_too_large,
    spin_leave;
void spin_enter(const unsigned char* code, void* data);
}

namespace umwelt::rank_host
{
namespace
{

using testing::Each;
using testing::ElementsAre;
using testing::UnorderedElementsAreArray;
using Finding = SpinDetector::Finding;

constexpr std::int32_t for_ever = 1 << 30;

std::uintptr_t address(const unsigned char* code)
{
  return reinterpret_cast<std::uintptr_t>(code);
}

struct Walk {
  Finding finding = Finding::nothing_yet;
  unsigned steps = 0;
  gregset_t registers{};           // where the finding was
  std::set<std::uintptr_t> passed; // instructions from the first step on
};

class SpinDetectorTest : public testing::Test
{
protected:
  SpinDetectorTest()
  {
    test = this;
    struct sigaction action {
    };
    action.sa_sigaction = [](int, siginfo_t*, void* context) { test->on_trap(*static_cast<ucontext_t*>(context)); };
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &before);
  }
  ~SpinDetectorTest() override { sigaction(SIGTRAP, &before, nullptr); }

  // The thread is found at the instruction that comes after `way` others.
  const Walk& walk(const unsigned char* code, unsigned way = 0)
  {
    walked = {};
    way_left = way;
    begun = false;
    data[0] = 0;
    data[1] = rounds;
    spin_enter(code, data);
    return walked;
  }
  // As Slices::park asks.
  std::set<std::uintptr_t> complete_loop()
  {
    const auto& loop = detector.complete_loop();
    return {loop.begin(), loop.end()};
  }

  SpinDetector detector;
  bool pause_only = false;
  std::int32_t rounds = for_ever;
  Walk walked;

private:
  void on_trap(ucontext_t& context)
  {
    const greg_t* registers = context.uc_mcontext.gregs;
    if (!begun) {
      if (way_left-- > 0)
        return;
      begun = true;
      set_trap_flag(context, false); // as it is when a tick comes
      detector.begin(context);
      if (pause_only)
        detector.look_for_pause_only();
      set_trap_flag(context, true);
      walked.passed.insert(pc_of(context));
      return;
    }
    ++walked.steps;
    walked.passed.insert(pc_of(context));
    walked.finding = detector.step(context);
    if (walked.finding == Finding::nothing_yet && walked.steps < 2000)
      return;
    std::memcpy(walked.registers, registers, sizeof walked.registers);
    set_trap_flag(context, false);
    context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address(spin_leave));
  }

  static SpinDetectorTest* test;
  struct sigaction before {
  };
  unsigned way_left = 0;
  bool begun = false;
  std::int32_t data[4]{};
};

SpinDetectorTest* SpinDetectorTest::test = nullptr;

TEST_F(SpinDetectorTest, WhoPausesAtTheSamePlaceWaits)
{
  for (unsigned start = 0; start < 8; ++start) {
    const Walk& way = walk(spin_pauses, start);
    EXPECT_EQ(way.finding, Finding::pause);
    EXPECT_EQ(way.registers[REG_RIP], static_cast<greg_t>(address(spin_pauses)));
    EXPECT_LE(way.steps, 8 * 4U);
    EXPECT_GT(way.steps, 7 * 4U);
    EXPECT_EQ(complete_loop(), way.passed);
    EXPECT_EQ(way.passed.size(), 4U);
    EXPECT_EQ(detector.anchor(), 0U);
    EXPECT_THAT(detector.round(), Each(0));
    EXPECT_TRUE(detector.was_in_loop());
  }
}

TEST_F(SpinDetectorTest, WhoPausesMayCountItsRounds)
{
  for (unsigned start = 0; start < 7; ++start) {
    const Walk& way = walk(spin_pauses_and_counts, start);
    ASSERT_EQ(way.finding, Finding::pause);
    EXPECT_EQ(way.registers[REG_RIP], static_cast<greg_t>(address(spin_pauses_and_counts)) + 6);
    std::array<std::int64_t, 15> round{};
    round[REG_RCX] = 3;
    round[REG_RDX] = -8;
    round[REG_R8] = 1;
    EXPECT_EQ(detector.round(), round);
  }
}

TEST_F(SpinDetectorTest, WhatChangesUnevenlyIsNoCount)
{
  EXPECT_EQ(walk(spin_pauses_unevenly).finding, Finding::pause);
  EXPECT_THAT(detector.round(), Each(0));
}

TEST_F(SpinDetectorTest, OfSeveralPausesInALoopTheLowestCounts)
{
  std::array<std::int64_t, 15> round{};
  round[REG_RDX] = 2;
  for (unsigned start = 0; start < 10; ++start) {
    const Walk& way = walk(spin_pauses_in_turn, start);
    ASSERT_EQ(way.finding, Finding::pause);
    EXPECT_EQ(way.registers[REG_RIP], static_cast<greg_t>(address(spin_pauses_in_turn))) << "begun at " << start;
    EXPECT_EQ(detector.round(), round);
  }
}

TEST_F(SpinDetectorTest, PausesThatItDoesNotComeBackToAreNoWait)
{
  EXPECT_EQ(walk(spin_pauses_on_the_way).finding, Finding::no_loop);
  EXPECT_EQ(walk(spin_pauses_elsewhere_first).finding, Finding::pause); // the first one is not stepped to
  EXPECT_GT(walked.registers[REG_RIP], static_cast<greg_t>(address(spin_pauses_elsewhere_first)));
}

// By the time of the last pause it has come back often enough, too.
TEST_F(SpinDetectorTest, APauseComesFirst)
{
  ASSERT_EQ(walk(spin_pauses_in_long_loop).finding, Finding::pause);
  EXPECT_EQ(detector.anchor(), 0U);
  EXPECT_EQ(complete_loop(), walked.passed);
}

TEST_F(SpinDetectorTest, WhoComesBackIsAtTheFirstInstructionOfTheLoop)
{
  for (unsigned start = 0; start < 6; ++start) {
    const Walk& way = walk(spin_looks, start);
    ASSERT_EQ(way.finding, Finding::comes_back);
    EXPECT_EQ(detector.anchor(), address(spin_looks));
    EXPECT_EQ(way.registers[REG_RIP], static_cast<greg_t>(detector.anchor()));
    EXPECT_EQ(complete_loop(), way.passed);
    EXPECT_EQ(detector.loop().size(), 3U);
    EXPECT_TRUE(detector.was_in_loop());
  }
}

TEST_F(SpinDetectorTest, ALoopMayBeOneInstruction)
{
  EXPECT_EQ(walk(spin_at_one).finding, Finding::comes_back);
  EXPECT_EQ(detector.anchor(), address(spin_at_one));
  EXPECT_THAT(detector.complete_loop(), ElementsAre(address(spin_at_one)));
}

TEST_F(SpinDetectorTest, TheWayIntoTheLoopDoesNotMatter)
{
  const Walk& way = walk(spin_looks_after_a_while);
  ASSERT_EQ(way.finding, Finding::comes_back);
  EXPECT_EQ(detector.anchor(), address(spin_looks));
  EXPECT_THAT(complete_loop(),
              UnorderedElementsAreArray({address(spin_looks), address(spin_looks) + 2, address(spin_looks) + 4}));
  EXPECT_FALSE(detector.was_in_loop());
}

TEST_F(SpinDetectorTest, ALoopMayCallFunctions)
{
  greg_t stack = 0;
  for (unsigned start = 0; start < 10; ++start) {
    const Walk& way = walk(spin_calls, start);
    ASSERT_EQ(way.finding, Finding::comes_back);
    EXPECT_EQ(detector.anchor(), address(spin_called));
    EXPECT_EQ(way.registers[REG_RIP], static_cast<greg_t>(address(spin_called)));
    if (start == 0)
      stack = way.registers[REG_RSP];
    EXPECT_EQ(way.registers[REG_RSP], stack);
    EXPECT_EQ(complete_loop(), way.passed);
    EXPECT_EQ(detector.loop().size(), 5U);
  }
}

// It comes to its first instruction twice each time round: where a tick finds it must not show.
TEST_F(SpinDetectorTest, TheLowestRegistersCount)
{
  for (unsigned start = 0; start < 22; ++start) {
    const Walk& way = walk(spin_looks_at_two, start);
    ASSERT_EQ(way.finding, Finding::comes_back);
    EXPECT_EQ(way.registers[REG_RIP], static_cast<greg_t>(address(spin_looks_at_two)));
    EXPECT_EQ(way.registers[REG_RCX], 0) << "begun " << start << " instructions on";
    EXPECT_EQ(complete_loop(), way.passed);
  }
}

TEST_F(SpinDetectorTest, WhoCountsInRegistersDoesNotComeBack)
{
  const Walk& way = walk(spin_counts);
  EXPECT_EQ(way.finding, Finding::no_loop);
  EXPECT_GE(way.steps, 256U); // else a large loop would not be found
  EXPECT_LE(way.steps, 400U); // each lasts a microsecond
}

TEST_F(SpinDetectorTest, StraightCodeIsNoLoop)
{
  const Walk& way = walk(spin_straight);
  EXPECT_EQ(way.finding, Finding::no_loop);
  EXPECT_LE(way.steps, 400U);
}

TEST_F(SpinDetectorTest, VectorsCountAsRegisters)
{
  EXPECT_EQ(walk(spin_adds_vectors).finding, Finding::comes_back); // zero
  EXPECT_EQ(walk(spin_changes_vector).finding, Finding::no_loop);
}

TEST_F(SpinDetectorTest, SoDoesAllOfALongVector)
{
  if (__builtin_cpu_supports("avx2") == 0)
    GTEST_SKIP() << "the processor has no AVX2";
  EXPECT_EQ(walk(spin_changes_long_vector).finding, Finding::no_loop);
}

TEST_F(SpinDetectorTest, ALargeLoopIsFoundUpToAPoint)
{
  for (unsigned start : {0, 1, 64, 127}) {
    const Walk& way = walk(spin_largest, start);
    EXPECT_EQ(way.finding, Finding::comes_back);
    EXPECT_EQ(detector.anchor(), address(spin_largest));
    EXPECT_EQ(complete_loop().size(), 128U);
    EXPECT_LE(way.steps, 900U);
  }
  EXPECT_EQ(walk(spin_too_large).finding, Finding::no_loop);
}

// A loop that ends by itself, and has changed nothing but memory until then, is left to it as far as can be told.
TEST_F(SpinDetectorTest, ItIsMadeSureThatNothingChanges)
{
  const struct {
    const unsigned char* code;
    unsigned ends_in_round, does_not_end_in_round;
  } loops[] = {{spin_round_10, 11, 12}, {spin_round_20, 9, 10}, {spin_round_100, 5, 6}};
  for (const auto& loop : loops) {
    rounds = static_cast<std::int32_t>(loop.ends_in_round);
    EXPECT_EQ(walk(loop.code).finding, Finding::no_loop) << rounds << " rounds";
    rounds = static_cast<std::int32_t>(loop.does_not_end_in_round);
    EXPECT_EQ(walk(loop.code).finding, Finding::comes_back) << rounds << " rounds";
  }
}

// What has come back once gets more time to do so again, not all the time of the world.
TEST_F(SpinDetectorTest, WhatHasComeBackAndGoesElsewhereIsNoLoop)
{
  rounds = 4;
  const Walk& way = walk(spin_round_100);
  EXPECT_EQ(way.finding, Finding::no_loop);
  EXPECT_GT(way.steps, 400U);
  EXPECT_LE(way.steps, 1000U);
}

TEST_F(SpinDetectorTest, OnlyPauseIsLookedFor)
{
  pause_only = true;
  const Walk& way = walk(spin_looks);
  EXPECT_EQ(way.finding, Finding::no_loop);
  EXPECT_LE(way.steps, 400U);
  for (unsigned start = 0; start < 8; ++start) {
    EXPECT_EQ(walk(spin_pauses, start).finding, Finding::pause);
    EXPECT_EQ(complete_loop(), walked.passed);
    EXPECT_TRUE(detector.was_in_loop());
  }
}

TEST_F(SpinDetectorTest, EachBeginIsTheFirst)
{
  const auto steps_of = [this](const unsigned char* code) { return walk(code).steps; };
  const unsigned pauses = steps_of(spin_pauses);
  const unsigned looks = steps_of(spin_looks);
  const unsigned counts = steps_of(spin_counts);
  EXPECT_EQ(steps_of(spin_counts), counts);
  EXPECT_EQ(steps_of(spin_looks), looks);
  EXPECT_EQ(steps_of(spin_looks), looks);
  EXPECT_EQ(steps_of(spin_pauses), pauses);
  EXPECT_EQ(steps_of(spin_pauses), pauses);
  EXPECT_EQ(detector.anchor(), 0U);
  pause_only = true;
  walk(spin_pauses);
  pause_only = false;
  EXPECT_EQ(steps_of(spin_looks), looks);
  EXPECT_EQ(complete_loop().size(), 3U);
}

} // namespace
} // namespace umwelt::rank_host
