// SPDX-License-Identifier: LGPL-2.1-or-later
#include <functional>
#include <map>
#include <memory>
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

// Against a multimap: schedules, cancels and fires at random. `pick` draws times from now on, and how often of four an
// event is fired depends on the round, so that the queue fills and empties.
void like_a_multimap(int events, int rounds, const std::function<SimTime(std::mt19937&)>& pick)
{
  std::mt19937 random(42);
  Timeline timeline;
  std::vector<int> log;
  std::vector<std::unique_ptr<Note>> notes;
  for (int i = 0; i < events; ++i)
    notes.push_back(std::make_unique<Note>(log, i));

  using Reference = std::multimap<SimTime, int>; // equal keys keep their order of insertion
  Reference reference;
  std::vector<Reference::iterator> where(static_cast<std::size_t>(events), reference.end());
  std::vector<int> expected;
  for (int round = 0; round < rounds; ++round) {
    const auto i = static_cast<std::size_t>(random()) % static_cast<std::size_t>(events);
    const auto forget = [&] {
      if (where[i] != reference.end())
        reference.erase(where[i]);
      where[i] = reference.end();
    };
    const bool fills = round / (4 * events) % 2 == 0;
    switch (random() % 8) {
    case 0:
      timeline.cancel(*notes[i]);
      forget();
      break;
    case 1:
    case 2:
    case 3:
    case 4:
      if (fills) {
        const SimTime ahead = pick(random);
        const SimTime when = ahead == never ? never : timeline.now() + ahead;
        timeline.schedule(*notes[i], when);
        forget();
        where[i] = reference.emplace(when, static_cast<int>(i));
        break;
      }
      [[fallthrough]];
    default:
      if (reference.empty()) {
        EXPECT_FALSE(timeline.step());
        break;
      }
      if (reference.begin()->first == never) // the end of time
        break;
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

TEST(Timeline, BehavesLikeAMultimap)
{
  like_a_multimap(200, 20'000, [](std::mt19937& random) { return static_cast<SimTime>(random() % 50); });
}

// More than one heap holds: evenly, in bursts of equal times, and with some that are very far.
TEST(Timeline, OfManyEventsOnlyTheNextAreSorted)
{
  like_a_multimap(6000, 200'000, [](std::mt19937& random) { return static_cast<SimTime>(random() % 1'000'000); });
  like_a_multimap(6000, 200'000,
                  [](std::mt19937& random) { return static_cast<SimTime>(random() % 4) * 100 * nanosecond; });
  like_a_multimap(6000, 200'000, [](std::mt19937& random) {
    switch (random() % 16) {
    case 0:
      return never;
    case 1:
      return static_cast<SimTime>(random() % 1000) * second;
    case 2:
      return SimTime{0};
    default:
      return static_cast<SimTime>(random() % 100'000);
    }
  });
}

TEST(Timeline, AnEventOfManyMovesBetweenNowAndLater)
{
  Timeline timeline;
  std::vector<int> log;
  std::vector<std::unique_ptr<Note>> notes;
  constexpr int count = 2000;
  for (int i = 0; i < count; ++i) {
    notes.push_back(std::make_unique<Note>(log, i));
    timeline.schedule(*notes.back(), 1000 * (i + 1));
  }
  timeline.schedule(*notes[count - 1], 1); // from the last to the first
  timeline.schedule(*notes[0], second);    // and back
  timeline.cancel(*notes[count / 2]);
  while (timeline.step()) {
  }
  ASSERT_EQ(log.size(), static_cast<std::size_t>(count - 1));
  EXPECT_EQ(log.front(), count - 1);
  EXPECT_EQ(log.back(), 0);
  EXPECT_EQ(timeline.now(), second);
}

TEST(Time, ConversionsRound)
{
  EXPECT_EQ(from_seconds(1e-6), microsecond);
  EXPECT_EQ(from_seconds(1e9), never);
  EXPECT_EQ(transfer_time(12'500, 12.5e9), microsecond);
}

} // namespace
} // namespace umwelt::sim
