// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies from and to memory that may be forgotten (--fold), against one flag for each byte: what matters on both sides
// arrives, nothing else changes.
#include "runtime/portals/data/folded_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/portals/data/memory.h"

namespace umwelt::portals
{

namespace
{

using Bytes = std::vector<unsigned char>;

class Dice
{
public:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_); }
  bool one_in(std::size_t count) { return below(count) == 0; }

private:
  std::mt19937_64 engine_{20261125};
};

// Memory of a process, a part of which is folded.
class Side
{
public:
  explicit Side(std::size_t size) : bytes_(size), matters_(size, true) { memory_.set_folded(&folded_); }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  [[nodiscard]] unsigned char* data() { return bytes_.data(); }
  [[nodiscard]] Bytes& bytes() { return bytes_; }
  [[nodiscard]] bool matters(std::size_t at) const { return matters_[at]; }
  [[nodiscard]] const Memory& memory() const { return memory_; }
  [[nodiscard]] const FoldedParts& folded() const { return folded_; }

  void fill(Dice& dice)
  {
    for (unsigned char& byte : bytes_)
      byte = static_cast<unsigned char>(dice.below(256));
  }
  void fold_anew(Dice& dice)
  {
    for (const std::uintptr_t begin : begins_)
      folded_.remove(begin);
    begins_.clear();
    matters_.assign(bytes_.size(), true);
    for (std::size_t at = dice.below(bytes_.size()); at < bytes_.size();) {
      const std::size_t end = std::min(at + 1 + dice.below(bytes_.size() / 3), bytes_.size());
      std::fill(matters_.begin() + static_cast<std::ptrdiff_t>(at), matters_.begin() + static_cast<std::ptrdiff_t>(end),
                false);
      std::vector<Span> kept;
      for (std::size_t i = dice.below(5); i > 0; --i) {
        const std::size_t first = dice.below(end - at);
        const std::size_t last = std::min(first + dice.below(1 + bytes_.size() / 20), end - at);
        kept.push_back({first, last});
        std::fill(matters_.begin() + static_cast<std::ptrdiff_t>(at + first),
                  matters_.begin() + static_cast<std::ptrdiff_t>(at + last), true);
      }
      begins_.push_back(reinterpret_cast<std::uintptr_t>(data() + at));
      folded_.add(begins_.back(), begins_.back() + (end - at), KeptRanges(std::move(kept)));
      at = end + (dice.one_in(3) ? 0 : dice.below(bytes_.size() / 4)); // some touch
    }
  }

private:
  Bytes bytes_;
  std::vector<bool> matters_;
  FoldedParts folded_;
  std::vector<std::uintptr_t> begins_;
  Memory memory_;
};

// A region, and where in the side each of its bytes is.
struct Place {
  Region region;
  std::vector<ptl_iovec_t> list;
  std::vector<std::size_t> at;

  Place(Side& side, Dice& dice)
  {
    const std::size_t size = side.bytes().size();
    if (dice.one_in(2)) {
      const std::size_t begin = dice.below(size);
      const std::size_t end = begin + 1 + dice.below(size - begin);
      for (std::size_t i = begin; i < end; ++i)
        at.push_back(i);
      EXPECT_TRUE(region.bind(side.memory(), side.data() + at.front(), at.size(), 0));
      return;
    }
    for (std::size_t begin = 0; begin < size;) { // apart from each other, in any order
      const std::size_t length = std::min(dice.below(size / 4), size - begin);
      list.push_back({side.data() + begin, length});
      begin += length + dice.below(size / 8);
    }
    for (std::size_t i = list.size() - 1; i > 0; --i)
      std::swap(list[i], list[dice.below(i + 1)]);
    for (const ptl_iovec_t& piece : list)
      for (std::size_t i = 0; i < piece.iov_len; ++i)
        at.push_back(static_cast<std::size_t>(static_cast<unsigned char*>(piece.iov_base) - side.data()) + i);
    EXPECT_TRUE(region.bind(side.memory(), list.data(), list.size(), PTL_IOVEC));
  }
};

class FoldedCopy : public testing::TestWithParam<std::size_t>
{
protected:
  // What of either place is copied.
  struct Part {
    std::size_t source, target, size;
  };
  Part part_of(const Place& source, const Place& target)
  {
    const std::size_t size = dice.below(std::min(source.at.size(), target.at.size()) + 1);
    return {dice.below(source.at.size() - size + 1), dice.below(target.at.size() - size + 1), size};
  }
  void begin_round(int round)
  {
    from.fill(dice);
    to.fill(dice);
    if (round % 3 != 1)
      from.fold_anew(dice);
    if (round % 3 != 2)
      to.fold_anew(dice);
  }

  Dice dice;
  Side from{GetParam()};
  Side to{GetParam()};
};

TEST_P(FoldedCopy, BetweenPlaces)
{
  for (int round = 0; round < 300; ++round) {
    begin_round(round);
    Place source(from, dice);
    Place target(to, dice);
    if (dice.one_in(2))
      source.region.set_checked();
    if (dice.one_in(2))
      target.region.set_checked(); // both: through a buffer
    const Part part = part_of(source, target);
    Bytes expected = to.bytes();
    for (std::size_t i = 0; i < part.size; ++i)
      if (from.matters(source.at[part.source + i]) && to.matters(target.at[part.target + i]))
        expected[target.at[part.target + i]] = from.bytes()[source.at[part.source + i]];
    const Bytes unchanged = from.bytes();
    ASSERT_TRUE(
        copy({&from.memory(), &source.region, part.source}, {&to.memory(), &target.region, part.target}, part.size));
    ASSERT_EQ(to.bytes(), expected) << "round " << round;
    ASSERT_EQ(from.bytes(), unchanged);
  }
}

TEST_P(FoldedCopy, OutAndIn)
{
  for (int round = 0; round < 300; ++round) {
    begin_round(round);
    Place source(from, dice);
    Place target(to, dice);
    const Part part = part_of(source, target);
    Bytes buffer(part.size + 1, 0xa5);
    ASSERT_TRUE(copy_out({&from.memory(), &source.region, part.source}, buffer.data(), part.size));
    for (std::size_t i = 0; i < part.size; ++i) {
      const std::size_t at = source.at[part.source + i];
      ASSERT_EQ(buffer[i], from.matters(at) ? from.bytes()[at] : 0) << "round " << round;
    }
    ASSERT_EQ(buffer.back(), 0xa5);
    Bytes expected = to.bytes();
    for (std::size_t i = 0; i < part.size; ++i)
      if (to.matters(target.at[part.target + i]))
        expected[target.at[part.target + i]] = buffer[i];
    ASSERT_TRUE(copy_in({&to.memory(), &target.region, part.target}, buffer.data(), part.size));
    ASSERT_EQ(to.bytes(), expected) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(OfSize, FoldedCopy, testing::Values(64, 1000, 200'000),
                         [](const auto& size) { return std::to_string(size.param); });

TEST(FoldedParts, MatterWithinAnyPart)
{
  Dice dice;
  Side side(300);
  for (int round = 0; round < 2000; ++round) {
    side.fold_anew(dice);
    const std::size_t begin = dice.below(300);
    const std::size_t end = begin + dice.below(300 - begin + 1);
    const auto start = reinterpret_cast<std::uintptr_t>(side.data());
    std::vector<bool> got(300, false);
    std::uintptr_t last = start + begin;
    side.folded().matter(start + begin, start + end, [&](const Span& span) {
      ASSERT_LT(span.begin, span.end);
      ASSERT_GE(span.begin, last);
      last = span.end;
      ASSERT_LE(last, start + end);
      for (std::uintptr_t at = span.begin; at < span.end; ++at)
        got[at - start] = true;
    });
    for (std::size_t i = 0; i < 300; ++i)
      ASSERT_EQ(got[i], i >= begin && i < end && side.matters(i)) << "byte " << i << " of round " << round;
  }
}

TEST(FoldedParts, ThatAreRemovedMatterAgain)
{
  FoldedParts parts;
  EXPECT_TRUE(parts.empty());
  parts.add(1000, 2000, {});
  parts.add(1000, 3000, {}); // takes its place
  parts.matter(1000, 3000, [](const Span&) { FAIL(); });
  parts.remove(2000); // none begins there
  EXPECT_FALSE(parts.empty());
  parts.remove(1000);
  EXPECT_TRUE(parts.empty());
}

TEST(FoldedCopyFailure, OfMemoryThatIsNotThere)
{
  Side side(1000);
  Region nowhere;
  ASSERT_TRUE(nowhere.bind(side.memory(), reinterpret_cast<void*>(16), 100, 0));
  nowhere.set_checked();
  Region here;
  ASSERT_TRUE(here.bind(side.memory(), side.data(), 100, 0));
  EXPECT_FALSE(copy({&side.memory(), &here, 0}, {&side.memory(), &nowhere, 0}, 100));
  EXPECT_FALSE(copy({&side.memory(), &nowhere, 0}, {&side.memory(), &here, 0}, 100));
}

} // namespace

} // namespace umwelt::portals
