// SPDX-License-Identifier: LGPL-2.1-or-later
// Against a model that has the mode of every byte and every owner.
#include "runtime/job/lock_ranges.h"

#include <array>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace umwelt::job
{
namespace
{

constexpr std::int64_t bytes = 24;
constexpr std::uint32_t owners = 4;
constexpr std::int64_t end_of_all = std::numeric_limits<std::int64_t>::max();

class Model
{
public:
  [[nodiscard]] bool conflict(const HeldLock& wanted) const
  {
    for (std::uint32_t owner = 0; owner < owners; ++owner)
      for (std::int64_t byte = wanted.first; byte < bytes && byte <= wanted.last; ++byte) {
        const LockMode mode = modes_[owner][static_cast<std::size_t>(byte)];
        if (owner != wanted.owner.rank && mode != LockMode::none &&
            (mode == LockMode::exclusive || wanted.mode == LockMode::exclusive))
          return true;
      }
    return false;
  }
  void change(const HeldLock& to)
  {
    for (std::int64_t byte = to.first; byte < bytes && byte <= to.last; ++byte)
      modes_[to.owner.rank][static_cast<std::size_t>(byte)] = to.mode;
  }
  [[nodiscard]] LockMode mode(std::uint32_t owner, std::int64_t byte) const
  {
    return modes_[owner][static_cast<std::size_t>(byte)];
  }

private:
  std::array<std::array<LockMode, bytes>, owners> modes_{};
};

// No two of one owner overlap, nor could be one; they are in order, and the last byte stands for all behind it.
void expect_equal(const LockRanges& ranges, const Model& model)
{
  Model found;
  const HeldLock* before = nullptr;
  for (const HeldLock& held : ranges.held()) {
    ASSERT_LE(held.first, held.last);
    ASSERT_NE(held.mode, LockMode::none);
    if (before != nullptr && before->owner == held.owner) {
      ASSERT_LT(before->last, held.first);
      ASSERT_FALSE(before->mode == held.mode && before->last + 1 == held.first);
    }
    before = &held;
    found.change(held);
  }
  for (std::uint32_t owner = 0; owner < owners; ++owner)
    for (std::int64_t byte = 0; byte < bytes; ++byte)
      ASSERT_EQ(found.mode(owner, byte), model.mode(owner, byte)) << "owner " << owner << ", byte " << byte;
}

TEST(LockRanges, AreWhatAByteByByteModelSays)
{
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](std::int64_t limit) { return static_cast<std::int64_t>(random() % limit); };
    LockRanges ranges;
    Model model;
    for (int step = 0; step < 200; ++step) {
      const std::int64_t first = below(bytes);
      const std::int64_t last = first == bytes - 1 || below(4) == 0 ? end_of_all : first + below(bytes - 1 - first);
      const HeldLock wanted{
          {static_cast<std::uint32_t>(below(owners)), 0}, first, last, static_cast<LockMode>(below(3))};
      if (below(20) == 0) {
        ranges.drop(wanted.owner);
        model.change({wanted.owner, 0, end_of_all, LockMode::none});
      } else if (wanted.mode == LockMode::none) {
        ranges.change(wanted);
        model.change(wanted);
      } else {
        const HeldLock* in_the_way = ranges.conflict(wanted);
        ASSERT_EQ(in_the_way != nullptr, model.conflict(wanted));
        ASSERT_EQ(in_the_way != nullptr, !ranges.conflicts(wanted).empty());
        if (in_the_way == nullptr) {
          ranges.change(wanted);
          model.change(wanted);
        }
      }
      expect_equal(ranges, model);
      if (::testing::Test::HasFatalFailure())
        FAIL() << "seed " << seed << ", step " << step;
    }
  }
}

TEST(LockRanges, OfAProcessAndOfItsOpenFilesExclude)
{
  LockRanges ranges;
  ranges.change({{0, 0}, 0, 9, LockMode::exclusive});
  EXPECT_NE(ranges.conflict({{0, 1}, 9, 9, LockMode::shared}), nullptr);
  EXPECT_EQ(ranges.conflict({{0, 1}, 10, end_of_all, LockMode::exclusive}), nullptr);
  EXPECT_EQ(ranges.conflict({{0, 0}, 0, end_of_all, LockMode::exclusive}), nullptr);
  EXPECT_TRUE(ranges.drop({0, 0}));
  EXPECT_FALSE(ranges.drop({0, 0}));
  EXPECT_TRUE(ranges.empty());
}

} // namespace
} // namespace umwelt::job
