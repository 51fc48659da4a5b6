// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/stack.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "runtime/engine/scheduler.h"

namespace umwelt::engine
{
namespace
{

constexpr std::size_t stack = 256 * 1024;

bool resident(const void* address)
{
  constexpr std::uintptr_t page = 4096;
  unsigned char state = 0;
  mincore(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) & ~(page - 1)), 1, &state);
  return (state & 1) != 0;
}

class StackOfActorsTest : public testing::Test
{
protected:
  sim::Timeline timeline;
  Scheduler scheduler{timeline};
  std::vector<std::string> log;
};

TEST_F(StackOfActorsTest, TheNextActorGivesBackTheStacksOfThoseThatHaveEnded)
{
  const Actor& ended = scheduler.spawn(
      "ended", [] {}, stack);
  const char* used = static_cast<const char*>(ended.stack().top()) - 1;
  scheduler.spawn(
      "creator",
      [this, used] {
        EXPECT_TRUE(resident(used));
        const char* own = static_cast<const char*>(scheduler.current()->stack().top()) - 1;
        scheduler.spawn(
            "next", [] {}, stack);
        EXPECT_FALSE(resident(used));
        EXPECT_TRUE(resident(own));
      },
      stack);
  scheduler.run();
}

// It looks for whoever is next on its own stack.
TEST_F(StackOfActorsTest, AReleasedActorLeavesItsStackToTheNextOfItsSize)
{
  std::vector<const void*> tops;
  scheduler.spawn(
      "maker",
      [&] {
        for (const std::size_t bytes : {stack, stack, 2 * stack, stack}) {
          Actor& actor = scheduler.spawn(
              "", [this] { log.emplace_back("ran"); }, bytes);
          tops.push_back(actor.stack().top());
          scheduler.yield();
          ASSERT_EQ(actor.state(), Actor::State::ended);
          scheduler.release(actor);
          EXPECT_EQ(scheduler.actors().size(), 1U);
        }
      },
      4 * stack);
  scheduler.run();
  EXPECT_EQ(log.size(), 4U);
  EXPECT_EQ(tops[1], tops[0]);
  EXPECT_NE(tops[2], tops[0]);
  EXPECT_EQ(tops[3], tops[0]);
}

TEST_F(StackOfActorsTest, AnActorThatEndsKeepsItsStackUntilAnotherRuns)
{
  scheduler.spawn(
      "waits", [this] { scheduler.block(); }, stack);
  scheduler.spawn(
      "ends", [] {}, stack);
  scheduler.on_stall = [this] {
    EXPECT_EQ(scheduler.current()->state(), Actor::State::ended);
    const char* own = static_cast<const char*>(scheduler.current()->stack().top()) - 1;
    scheduler.spawn(
        "made",
        [this, own] {
          EXPECT_TRUE(resident(own));
          scheduler.spawn(
              "next", [this] { scheduler.stop(); }, stack);
          EXPECT_FALSE(resident(own));
          log.emplace_back("made");
        },
        stack);
    return true;
  };
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"made"}));
}

TEST(StackTest, WhatWasDiscardedReadsAsZero)
{
  Stack one(1 << 20);
  char* last = static_cast<char*>(one.top()) - 1;
  char* first = static_cast<char*>(one.top()) - one.size();
  *first = *last = 1;
  one.discard();
  EXPECT_FALSE(resident(first));
  EXPECT_FALSE(resident(last));
  EXPECT_EQ(*first, 0);
  EXPECT_EQ(*last, 0);
}

TEST(StackTest, KnowsItsGuardPage)
{
  const Stack one(1 << 20);
  EXPECT_TRUE(one.guards(static_cast<char*>(one.top()) - one.size() - 1));
  EXPECT_FALSE(one.guards(static_cast<char*>(one.top()) - one.size()));
}

} // namespace
} // namespace umwelt::engine
