// SPDX-License-Identifier: LGPL-2.1-or-later
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/timeline.h"

namespace umwelt::sim
{
namespace
{

struct Note final : Event {
  explicit Note(std::vector<int>& l, int n = 0) : log(l), name(n) {}
  void fire() override { log.push_back(name); }
  std::vector<int>& log;
  int name;
};

TEST(Timeline, FiresInOrderOfTimes)
{
  Timeline timeline;
  std::vector<int> log;
  Note a(log, 1);
  Note b(log, 2);
  Note c(log, 3);
  timeline.schedule(b, 20);
  timeline.schedule(c, 30);
  timeline.schedule(a, 10);
  while (timeline.step()) {
  }
  EXPECT_EQ(log, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(timeline.now(), 30);
}

TEST(Timeline, EqualTimesFireInOrderOfScheduling)
{
  Timeline timeline;
  std::vector<int> log;
  std::vector<std::unique_ptr<Note>> notes;
  for (int i = 0; i < 100; ++i) {
    notes.push_back(std::make_unique<Note>(log, i));
    timeline.schedule(*notes.back(), 5);
  }
  while (timeline.step()) {
  }
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(log[static_cast<std::size_t>(i)], i);
}

TEST(Timeline, ReschedulingMovesAnEventBehindItsEquals)
{
  Timeline timeline;
  std::vector<int> log;
  Note a(log, 1);
  Note b(log, 2);
  timeline.schedule(a, 5);
  timeline.schedule(b, 5);
  timeline.schedule(a, 5);
  while (timeline.step()) {
  }
  EXPECT_EQ(log, (std::vector<int>{2, 1}));
}

TEST(Timeline, CancelledEventsDoNotFire)
{
  Timeline timeline;
  std::vector<int> log;
  Note a(log, 1);
  timeline.schedule(a, 5);
  timeline.cancel(a);
  EXPECT_FALSE(a.pending());
  EXPECT_FALSE(timeline.step());
  timeline.cancel(a); // no effect
  EXPECT_TRUE(log.empty());
}

TEST(Timeline, PastTimesAreNow)
{
  Timeline timeline;
  timeline.advance_to(100);
  std::vector<int> log;
  Note a(log, 1);
  timeline.schedule(a, 50);
  EXPECT_EQ(timeline.next(), 100);
}

TEST(Timeline, AnEventMayScheduleItselfAgain)
{
  struct Ticker final : Event {
    explicit Ticker(Timeline& t) : timeline(t) {}
    void fire() override
    {
      if (++count < 3)
        timeline.schedule_in(*this, 10);
    }
    Timeline& timeline;
    int count = 0;
  };
  Timeline timeline;
  Ticker ticker(timeline);
  timeline.schedule(ticker, 10);
  while (timeline.step()) {
  }
  EXPECT_EQ(ticker.count, 3);
  EXPECT_EQ(timeline.now(), 30);
  EXPECT_EQ(timeline.fired(), 3U);
}

TEST(Timeline, BehavesLikeAMultimap)
{
  constexpr int events = 200;
  std::mt19937 random(42);
  Timeline timeline;
  std::vector<int> log;
  std::vector<std::unique_ptr<Note>> notes;
  for (int i = 0; i < events; ++i)
    notes.push_back(std::make_unique<Note>(log, i));

  using Reference = std::multimap<SimTime, int>; // equal keys keep their order of insertion
  Reference reference;
  std::vector<Reference::iterator> where(events, reference.end());
  std::vector<int> expected;
  for (int round = 0; round < 20'000; ++round) {
    const auto i = static_cast<std::size_t>(random() % events);
    const auto forget = [&] {
      if (where[i] != reference.end())
        reference.erase(where[i]);
      where[i] = reference.end();
    };
    switch (random() % 4) {
    case 0:
    case 1: {
      const SimTime when = timeline.now() + static_cast<SimTime>(random() % 50);
      timeline.schedule(*notes[i], when);
      forget();
      where[i] = reference.emplace(when, static_cast<int>(i));
      break;
    }
    case 2:
      timeline.cancel(*notes[i]);
      forget();
      break;
    default:
      if (reference.empty()) {
        EXPECT_FALSE(timeline.step());
        break;
      }
      expected.push_back(reference.begin()->second);
      where[static_cast<std::size_t>(expected.back())] = reference.end();
      reference.erase(reference.begin());
      ASSERT_TRUE(timeline.step());
    }
    ASSERT_EQ(timeline.size(), reference.size());
    ASSERT_EQ(timeline.next(), reference.empty() ? never : reference.begin()->first);
  }
  EXPECT_EQ(log, expected);
}

TEST(Time, ConversionsRound)
{
  EXPECT_EQ(from_seconds(1e-6), microsecond);
  EXPECT_EQ(from_seconds(1e9), never);
  EXPECT_EQ(transfer_time(12'500, 12.5e9), microsecond);
}

} // namespace
} // namespace umwelt::sim
