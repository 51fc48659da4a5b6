// SPDX-License-Identifier: LGPL-2.1-or-later
// futex(2) between threads that share memory: here the main threads of ranks of one process.
#include "runtime/job/futexes.h"

#include <cerrno>
#include <ctime>

#include <gmock/gmock.h>
#include <linux/futex.h>

#include "tests/runtime/job/programs.h"

namespace umwelt::job::test
{
namespace
{

using testing::ElementsAre;

constexpr SimTime us = sim::microsecond;

class FutexesTest : public JobTest
{
protected:
  static std::int64_t futex(Rank& rank, std::uint32_t& at, int operation, std::uint32_t value = 0,
                            std::uint64_t fourth = 0, std::uint32_t* second = nullptr, std::uint32_t sixth = 0)
  {
    return request(rank, UMW_OP_umw_futex, umw_args_umw_futex{0, &at, operation, value, fourth, second, sixth});
  }
  static std::int64_t wait(Rank& rank, std::uint32_t& at, const timespec* timeout = nullptr)
  {
    return futex(rank, at, FUTEX_WAIT_PRIVATE, 0, reinterpret_cast<std::uint64_t>(timeout));
  }
  // Ranks begin to wait one microsecond after the other; then `then` is done by one more.
  Outcome run_waiters(unsigned waiters, const Program& then)
  {
    std::vector<Program> programs(waiters, [this](Rank& rank) {
      sleep(rank, rank.index * us);
      results.push_back(wait(rank, word));
      order.push_back(rank.index);
    });
    programs.emplace_back([&](Rank& rank) {
      sleep(rank, 100 * us);
      then(rank);
    });
    return run(programs);
  }

  std::uint32_t word = 0, other = 0;
  std::vector<int> order;
  std::vector<std::int64_t> results;
};

TEST_F(FutexesTest, AWaitEndsWithAWake)
{
  SimTime woken_at = 0;
  const Outcome outcome = run({[&](Rank& rank) {
                                 EXPECT_EQ(wait(rank, word), 0);
                                 woken_at = now(rank);
                               },
                               [&](Rank& rank) {
                                 sleep(rank, 5 * us);
                                 EXPECT_EQ(futex(rank, word, FUTEX_WAKE, 1), 1);
                                 EXPECT_EQ(futex(rank, word, FUTEX_WAKE, 1), 0);
                               }});
  EXPECT_EQ(outcome.exit_code, 0) << said;
  EXPECT_EQ(woken_at, 5 * us);
}

TEST_F(FutexesTest, AWordThatHasChangedIsNotWaitedFor)
{
  word = 1;
  run([&](Rank& rank) { EXPECT_EQ(wait(rank, word), -EAGAIN); }, 1);
}

TEST_F(FutexesTest, ATimeOutIsInSimulatedTime)
{
  run(
      [&](Rank& rank) {
        const timespec timeout{3, 500};
        EXPECT_EQ(wait(rank, word, &timeout), -ETIMEDOUT);
        EXPECT_EQ(now(rank), 3 * sim::second + 500 * sim::nanosecond);
        const timespec invalid{0, 1'000'000'000};
        EXPECT_EQ(wait(rank, word, &invalid), -EINVAL);
      },
      1);
}

TEST_F(FutexesTest, AnAbsoluteTimeOutIsOnTheClockThatItNames)
{
  run(
      [&](Rank& rank) {
        const std::int64_t origin = rank.gate.clock.realtime_origin_ns + 2'000'000'000;
        const timespec then{origin / 1'000'000'000, origin % 1'000'000'000};
        EXPECT_EQ(futex(rank, word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, reinterpret_cast<std::uint64_t>(&then),
                        nullptr, FUTEX_BITSET_MATCH_ANY),
                  -ETIMEDOUT);
        EXPECT_EQ(now(rank), 2 * sim::second);
        EXPECT_EQ(futex(rank, word, FUTEX_WAIT_BITSET, 0, reinterpret_cast<std::uint64_t>(&then), nullptr, 0), -EINVAL);
      },
      1);
}

TEST_F(FutexesTest, WhoHasWaitedLongestIsWokenFirst)
{
  run_waiters(4, [&](Rank& rank) {
    EXPECT_EQ(futex(rank, word, FUTEX_WAKE, 2), 2);
    sleep(rank, us);
    EXPECT_THAT(order, ElementsAre(0, 1));
    EXPECT_EQ(futex(rank, word, FUTEX_WAKE, 10), 2);
  });
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(results, ElementsAre(0, 0, 0, 0));
}

TEST_F(FutexesTest, BitsChooseWhoIsWoken)
{
  run({[&](Rank& rank) {
         futex(rank, word, FUTEX_WAIT_BITSET, 0, 0, nullptr, 1);
         order.push_back(0);
       },
       [&](Rank& rank) {
         futex(rank, word, FUTEX_WAIT_BITSET, 0, 0, nullptr, 2);
         order.push_back(1);
       },
       [&](Rank& rank) {
         sleep(rank, us);
         EXPECT_EQ(futex(rank, word, FUTEX_WAKE_BITSET, 10, 0, nullptr, 4), 0);
         EXPECT_EQ(futex(rank, word, FUTEX_WAKE_BITSET, 10, 0, nullptr, 2), 1);
         sleep(rank, us);
         EXPECT_THAT(order, ElementsAre(1));
         EXPECT_EQ(futex(rank, word, FUTEX_WAKE_BITSET, 10, 0, nullptr, 3), 1);
       }});
  EXPECT_THAT(order, ElementsAre(1, 0));
}

TEST_F(FutexesTest, WhoIsRequeuedWaitsElsewhere)
{
  run_waiters(3, [&](Rank& rank) {
    EXPECT_EQ(futex(rank, word, FUTEX_CMP_REQUEUE, 1, 1, &other, 7), -EAGAIN);
    EXPECT_EQ(futex(rank, word, FUTEX_CMP_REQUEUE, 1, 1, &other, 0), 2); // one woken, one moved
    sleep(rank, us);
    EXPECT_THAT(order, ElementsAre(0));
    EXPECT_EQ(futex(rank, other, FUTEX_WAKE, 10), 1);
    sleep(rank, us);
    EXPECT_THAT(order, ElementsAre(0, 1));
    EXPECT_EQ(futex(rank, word, FUTEX_WAKE, 10), 1);
  });
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

// FUTEX_OP() of linux/futex.h
constexpr std::uint32_t changes(unsigned operation, unsigned operand, unsigned comparison, unsigned compared)
{
  return (operation & 0xf) << 28 | (comparison & 0xf) << 24 | (operand & 0xfff) << 12 | (compared & 0xfff);
}

TEST_F(FutexesTest, AWordIsChangedAndComparedBeforeBothAreWoken)
{
  other = 5;
  run_waiters(1, [&](Rank& rank) {
    EXPECT_EQ(futex(rank, word, FUTEX_WAKE_OP, 1, 1, &other, changes(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 5)), 1);
    EXPECT_EQ(other, 8U);
    EXPECT_EQ(futex(rank, word, FUTEX_WAKE_OP, 1, 1, &other, changes(FUTEX_OP_ANDN, 8, FUTEX_OP_CMP_LT, 0)), 0);
    EXPECT_EQ(other, 0U);
    futex(rank, word, FUTEX_WAKE_OP, 1, 1, &other, changes(FUTEX_OP_SET | FUTEX_OP_OPARG_SHIFT, 4, 0, 0));
    EXPECT_EQ(other, 16U);
    EXPECT_EQ(futex(rank, word, FUTEX_WAKE_OP, 1, 1, &other, changes(7, 0, 0, 0)), -ENOSYS);
  });
}

TEST_F(FutexesTest, ALockWithPriorityInheritanceIsHandedToTheFirstThatWaits)
{
  const auto lock = [this](Rank& rank) {
    rank.main().here->kernel_id = 100 + rank.index;
    sleep(rank, (1 + rank.index) * us);
    EXPECT_EQ(futex(rank, word, FUTEX_LOCK_PI), 0);
    order.push_back(rank.index);
    EXPECT_EQ(word & FUTEX_TID_MASK, 100U + static_cast<unsigned>(rank.index));
    EXPECT_EQ(futex(rank, word, FUTEX_LOCK_PI), -EDEADLK);
    sleep(rank, 10 * us);
    EXPECT_EQ(futex(rank, word, FUTEX_UNLOCK_PI), 0);
  };
  run({lock, lock, lock, [this](Rank& rank) {
         rank.main().here->kernel_id = 100 + rank.index;
         sleep(rank, 5 * us);
         EXPECT_EQ(futex(rank, word, FUTEX_TRYLOCK_PI), -EAGAIN);
         EXPECT_EQ(futex(rank, word, FUTEX_UNLOCK_PI), -EPERM);
       }});
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
  EXPECT_EQ(word, 0U);
}

TEST_F(FutexesTest, WhatIsNoFutexIsRefused)
{
  run(
      [&](Rank& rank) {
        auto* odd = reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(&word) + 1);
        EXPECT_EQ(request(rank, UMW_OP_umw_futex, umw_args_umw_futex{0, odd, FUTEX_WAIT, 0, 0, nullptr, 0}), -EINVAL);
        EXPECT_EQ(futex(rank, word, 100), -ENOSYS);
      },
      1);
}

} // namespace
} // namespace umwelt::job::test
