// SPDX-License-Identifier: LGPL-2.1-or-later
// Against one flag for each byte.
#include "runtime/base/kept_ranges.h"

#include <random>

#include <gtest/gtest.h>

namespace umwelt
{
namespace
{

constexpr std::size_t bytes = 500;
using Flags = std::vector<bool>;

class KeptRangesTest : public testing::Test
{
protected:
  std::uint64_t below(std::uint64_t limit)
  {
    return std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(random_);
  }

  // Ranges, and the flags of what lies in them.
  std::pair<KeptRanges, Flags> some()
  {
    std::vector<Span> ranges;
    Flags flags(bytes, false);
    for (std::uint64_t i = below(8); i > 0; --i) {
      const Span range{below(bytes), below(3) == 0 ? below(bytes) : 0};
      ranges.push_back({range.begin, range.end != 0 ? range.end : std::min(range.begin + below(30), bytes)});
      for (std::uint64_t at = ranges.back().begin; at < ranges.back().end; ++at)
        flags[at] = true;
    }
    return {KeptRanges(std::move(ranges)), flags};
  }

private:
  std::mt19937_64 random_{20261125};
};

TEST_F(KeptRangesTest, AreSortedAndApart)
{
  for (int round = 0; round < 2000; ++round) {
    const auto [kept, flags] = some();
    Flags got(bytes, false);
    std::uint64_t last = 0;
    for (const Span& range : kept.ranges()) {
      ASSERT_LT(range.begin, range.end);
      ASSERT_TRUE(range.begin > last || &range == kept.ranges().data());
      last = range.end;
      std::fill(got.begin() + static_cast<std::ptrdiff_t>(range.begin),
                got.begin() + static_cast<std::ptrdiff_t>(range.end), true);
    }
    ASSERT_EQ(got, flags);
  }
}

TEST_F(KeptRangesTest, WithinAPart)
{
  for (int round = 0; round < 2000; ++round) {
    const auto [kept, flags] = some();
    const std::uint64_t begin = below(bytes);
    const std::uint64_t end = begin + below(bytes - begin + 1);
    Flags got(bytes, false);
    std::uint64_t last = begin;
    kept.within(begin, end, [&](const Span& span) {
      ASSERT_LT(span.begin, span.end);
      ASSERT_GE(span.begin, last);
      last = span.end;
      ASSERT_LE(last, end);
      std::fill(got.begin() + static_cast<std::ptrdiff_t>(span.begin),
                got.begin() + static_cast<std::ptrdiff_t>(span.end), true);
    });
    for (std::uint64_t at = 0; at < bytes; ++at)
      ASSERT_EQ(got[at], flags[at] && at >= begin && at < end);
  }
}

TEST_F(KeptRangesTest, UnitsThatMayBeForgotten)
{
  for (int round = 0; round < 2000; ++round) {
    const auto [kept, flags] = some();
    const std::uint64_t unit = 1 + below(40);
    const std::uint64_t end = below(bytes + 1);
    Flags got(bytes, false);
    std::uint64_t last = 0;
    kept.forgettable(end, unit, [&](const Span& span) {
      ASSERT_LT(span.begin, span.end);
      ASSERT_GE(span.begin, last);
      ASSERT_EQ(span.begin % unit, 0U);
      ASSERT_TRUE(span.end % unit == 0 || span.end == end);
      last = span.end;
      std::fill(got.begin() + static_cast<std::ptrdiff_t>(span.begin),
                got.begin() + static_cast<std::ptrdiff_t>(span.end), true);
    });
    for (std::uint64_t at = 0; at < bytes; ++at) {
      bool some_kept = false;
      for (std::uint64_t i = at / unit * unit; i < std::min<std::uint64_t>((at / unit + 1) * unit, bytes); ++i)
        some_kept = some_kept || flags[i];
      ASSERT_EQ(got[at], at < end && !some_kept) << "byte " << at << " of units of " << unit;
    }
  }
}

} // namespace
} // namespace umwelt
