// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/worker/board.h"

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "child.h"

namespace umwelt::worker
{
namespace
{

constexpr std::int64_t hour = 3'600'000'000'000; // ns
constexpr std::int64_t millisecond = 1'000'000;  // ns

std::uintptr_t address(const void* pointer)
{
  return reinterpret_cast<std::uintptr_t>(pointer);
}

TEST(Board, WhatAWorkerWritesIsSeenAtTheSameAddress)
{
  Board board(2, 3);
  test::Child child([&board] {
    board.gate(2).rank = 42;
    Slot& slot = board.slot(1, slots_per_worker - 1);
    slot.arguments = slot.arena.data();
    slot.arena.back() = std::byte{7};
    board.mailbox(1).to_runtime.push(5);
  });
  ASSERT_EQ(child.join(), 0);
  EXPECT_EQ(board.gate(2).rank, 42);
  EXPECT_EQ(board.slot(1, slots_per_worker - 1).arguments, board.slot(1, slots_per_worker - 1).arena.data());
  EXPECT_EQ(board.slot(1, slots_per_worker - 1).arena.back(), std::byte{7});
  std::uint32_t slot = 0;
  EXPECT_TRUE(board.mailbox(1).to_runtime.pop(slot));
  EXPECT_EQ(slot, 5U);
}

TEST(Board, ItsPartsLieApartAndInCacheLinesOfTheirOwn)
{
  constexpr unsigned workers = 3;
  constexpr unsigned ranks = 40;
  Board board(workers, ranks);
  struct Part {
    std::uintptr_t begin;
    std::size_t bytes;
  };
  std::vector<Part> parts{{address(&board.doorbell()), sizeof(Doorbell)}};
  for (unsigned worker = 0; worker < workers; ++worker)
    parts.push_back({address(&board.mailbox(worker)), sizeof(Mailbox)});
  for (unsigned rank = 0; rank < ranks; ++rank)
    parts.push_back({address(&board.gate(rank)), sizeof(umw_gate)});
  for (unsigned worker = 0; worker < workers; ++worker)
    for (unsigned slot = 0; slot < slots_per_worker; ++slot)
      parts.push_back({address(&board.slot(worker, slot)), sizeof(Slot)});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].begin % 64, 0U);
    if (i > 0) {
      EXPECT_GE(parts[i].begin, parts[i - 1].begin + parts[i - 1].bytes);
    }
  }
}

TEST(Board, StartsWithEmptySlotsAndRings)
{
  Board board(1, 1);
  std::uint32_t slot = 0;
  EXPECT_FALSE(board.mailbox(0).to_worker.pop(slot));
  EXPECT_FALSE(board.mailbox(0).to_runtime.pop(slot));
  EXPECT_EQ(board.slot(0, slots_per_worker - 1).used, 0U);
  EXPECT_EQ(board.mailbox(0).computing.load(), 0U);
}

// --- the doorbell ----------------------------------------------------------------------------------------------------

TEST(DoorbellTest, ARingThatCameBeforeTheWaitEndsItAtOnce)
{
  Board board(1, 1);
  Doorbell& bell = board.doorbell();
  const std::uint32_t seen = bell.rings();
  bell.ring();
  EXPECT_FALSE(bell.wait(seen, hour));
  EXPECT_EQ(bell.rings(), seen + 1);
}

TEST(DoorbellTest, AWaitEndsWithItsTime)
{
  Board board(1, 1);
  Doorbell& bell = board.doorbell();
  EXPECT_TRUE(bell.wait(bell.rings(), millisecond));
}

TEST(DoorbellTest, OldRingsDoNotEndAWait)
{
  Board board(1, 1);
  Doorbell& bell = board.doorbell();
  bell.ring();
  bell.ring();
  EXPECT_TRUE(bell.wait(bell.rings(), millisecond));
}

TEST(DoorbellTest, NoWakeUpIsLostBetweenProcesses)
{
  constexpr std::uint32_t rounds = 10'000;
  Board board(1, 1);
  Doorbell& here = board.doorbell();
  Doorbell& there = board.mailbox(0).doorbell;
  const auto await = [](Doorbell& bell, std::uint32_t rings) {
    while (bell.rings() < rings)
      bell.wait(rings - 1, hour);
  };
  test::Child child([&] {
    for (std::uint32_t i = 1; i <= rounds; ++i) {
      await(there, i);
      here.ring();
    }
  });
  for (std::uint32_t i = 1; i <= rounds; ++i) {
    there.ring();
    await(here, i);
  }
  EXPECT_EQ(here.rings(), rounds);
  EXPECT_EQ(child.join(), 0);
}

// --- rings -----------------------------------------------------------------------------------------------------------

class RingTest : public testing::Test
{
protected:
  // The next one; ~0: the ring is empty.
  std::uint32_t pop()
  {
    std::uint32_t slot = 0;
    return ring->pop(slot) ? slot : ~0U;
  }
  std::unique_ptr<Ring> ring = std::make_unique<Ring>();
};

TEST_F(RingTest, HandsOutWhatWasPutInInOrder)
{
  EXPECT_EQ(pop(), ~0U);
  for (const std::uint32_t slot : {3U, 0U, 1023U})
    ring->push(slot);
  EXPECT_EQ(pop(), 3U);
  EXPECT_EQ(pop(), 0U);
  ring->push(7);
  EXPECT_EQ(pop(), 1023U);
  EXPECT_EQ(pop(), 7U);
  EXPECT_EQ(pop(), ~0U);
}

TEST_F(RingTest, HasRoomForEverySlotWhereverItBegins)
{
  for (unsigned offset = 0; offset < 3; ++offset) {
    for (unsigned slot = 0; slot < slots_per_worker; ++slot)
      ring->push(slot);
    for (unsigned slot = 0; slot < slots_per_worker; ++slot)
      ASSERT_EQ(pop(), slot);
    EXPECT_EQ(pop(), ~0U);
    ring->push(0); // the next round begins one further
    pop();
  }
}

// Slots go there and back, and what stands in them is seen by whoever takes them out.
TEST_F(RingTest, OneProcessFillsItWhileAnotherEmptiesIt)
{
  constexpr std::uint32_t rounds = 10'000;
  constexpr std::uint32_t slots = 16; // under way at the same time
  Board board(1, 1);
  Mailbox& box = board.mailbox(0);
  test::Child child([&board, &box] {
    for (std::uint32_t got = 0; got < rounds;) {
      const std::uint32_t seen = box.doorbell.rings();
      std::uint32_t slot = 0;
      if (!box.to_worker.pop(slot)) {
        box.doorbell.wait(seen, hour);
        continue;
      }
      ++got;
      board.slot(0, slot).result = static_cast<std::int32_t>(board.slot(0, slot).operation) + 1;
      box.to_runtime.push(slot);
    }
  });
  std::uint32_t sent = 0;
  for (std::uint32_t got = 0; got < rounds;) {
    if (sent < rounds && sent - got < slots) {
      board.slot(0, sent % slots).operation = sent;
      box.to_worker.push(sent++ % slots);
      box.doorbell.ring();
    }
    for (std::uint32_t slot = 0; box.to_runtime.pop(slot); ++got) {
      ASSERT_EQ(slot, got % slots);
      ASSERT_EQ(board.slot(0, slot).result, static_cast<std::int32_t>(got) + 1);
    }
  }
  EXPECT_EQ(child.join(), 0);
}

} // namespace
} // namespace umwelt::worker
