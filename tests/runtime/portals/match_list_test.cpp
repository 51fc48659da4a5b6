// SPDX-License-Identifier: LGPL-2.1-or-later
// The hashed lists against a walk.
#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <random>

#include "runtime/portals/matching/match_list.h"
#include "runtime/portals/matching/unexpected.h"

namespace umwelt::portals
{
namespace
{

constexpr ptl_match_bits_t everything = ~ptl_match_bits_t{0};

// Few bits and few masks, so that much matches; with many masks the tables are shared.
ptl_match_bits_t some_mask(std::mt19937& random, unsigned masks)
{
  const unsigned which = random() % masks;
  return which == 0 ? 0 : which == 1 ? everything : ptl_match_bits_t{which};
}

class MatchListTest : public ::testing::TestWithParam<unsigned> // how many masks
{
};

TEST_P(MatchListTest, finds_what_a_walk_finds)
{
  std::mt19937 random(GetParam());
  MatchList list(true);
  std::list<Entry> entries; // in order
  for (int step = 0; step < 20000; ++step) {
    if (random() % 3 == 0 || entries.empty()) {
      Entry& entry = entries.emplace_back();
      entry.match_bits = random() % 64;
      entry.ignore_bits = some_mask(random, GetParam());
      entry.match_id.rank = random() % 4 == 0 ? random() % 3 : PTL_RANK_ANY;
      list.append(entry);
    } else if (random() % 3 == 0 || entries.size() > 300) {
      const auto victim = std::next(entries.begin(), static_cast<std::ptrdiff_t>(random() % entries.size()));
      list.remove(*victim);
      entries.erase(victim);
    }
    Probe probe;
    probe.match_bits = random() % 64;
    probe.initiator.rank = random() % 3;
    std::uint32_t walked = 0;
    Entry* expected = nullptr;
    for (Entry& entry : entries) {
      if (entry.matches(probe)) {
        expected = &entry;
        break;
      }
      ++walked;
    }
    std::uint32_t searched = 0;
    ASSERT_EQ(list.find(probe, searched), expected) << "step " << step;
    ASSERT_EQ(searched, walked) << "step " << step;
    ASSERT_EQ(list.size(), entries.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, MatchListTest, ::testing::Values(1, 2, 5, 20));

class UnexpectedListTest : public ::testing::TestWithParam<unsigned>
{
};

TEST_P(UnexpectedListTest, finds_what_a_walk_finds)
{
  std::mt19937 random(GetParam());
  UnexpectedList list;
  std::list<UnexpectedHeader> headers;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0 || headers.empty()) {
      UnexpectedHeader& header = headers.emplace_back();
      header.probe.match_bits = random() % 64;
      header.probe.initiator.rank = random() % 3;
      list.append(header);
    } else if (random() % 2 == 0 || headers.size() > 300) {
      const auto victim = std::next(headers.begin(), static_cast<std::ptrdiff_t>(random() % headers.size()));
      list.remove(*victim);
      headers.erase(victim);
    }
    Entry entry;
    entry.match_bits = random() % 64;
    entry.ignore_bits = some_mask(random, GetParam());
    entry.match_id.rank = random() % 4 == 0 ? random() % 3 : PTL_RANK_ANY;
    UnexpectedHeader* found = nullptr;
    for (UnexpectedHeader& header : headers) {
      if (!entry.matches(header.probe))
        continue;
      found = list.find(entry, true, found);
      ASSERT_EQ(found, &header) << "step " << step;
    }
    ASSERT_EQ(list.find(entry, true, found), nullptr);
    ASSERT_EQ(list.size(), headers.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, UnexpectedListTest, ::testing::Values(1, 2, 4, 20));

TEST(UnexpectedList, without_matching_every_header_is_found)
{
  UnexpectedList list;
  std::list<UnexpectedHeader> headers(3);
  for (UnexpectedHeader& header : headers)
    list.append(header);
  const Entry entry;
  UnexpectedHeader* found = nullptr;
  for (UnexpectedHeader& header : headers) {
    found = list.find(entry, false, found);
    EXPECT_EQ(found, &header);
  }
  EXPECT_EQ(list.find(entry, false, found), nullptr);
}

TEST(MatchList, without_matching_the_head_is_found)
{
  MatchList list(false);
  std::uint32_t searched = 0;
  EXPECT_EQ(list.find(Probe(), searched), nullptr);
  Entry first;
  Entry second;
  first.match_bits = 1;
  first.ignore_bits = 0;
  list.append(first);
  list.append(second);
  EXPECT_EQ(list.find(Probe(), searched), &first);
  EXPECT_EQ(searched, 0U);
}

} // namespace
} // namespace umwelt::portals
