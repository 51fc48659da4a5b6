// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/page_map.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "tests/runtime/base/zero_page.h"

namespace umwelt
{
namespace
{

constexpr std::size_t page = PageMap::page;
using Pages = std::vector<std::pair<std::size_t, std::size_t>>; // begin, end; bytes from the mapping's beginning

class PageMapTest : public testing::Test
{
protected:
  static constexpr std::size_t size = 4096 * page;

  PageMapTest()
      : start_(static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
  {
    madvise(start_, size, MADV_NOHUGEPAGE);
  }
  ~PageMapTest() override { munmap(start_, size); }
  void SetUp() override
  {
    if (!map_.scan(address(0), address(page), PageMap::Pages::present, [](const PageMap::Range&) {}))
      GTEST_SKIP() << "needs PAGEMAP_SCAN (Linux 6.7)";
  }

  [[nodiscard]] std::uintptr_t address(std::size_t at) const { return reinterpret_cast<std::uintptr_t>(start_) + at; }
  void write(std::size_t at) { start_[at] = 1; }
  void read(std::size_t at) const { (void)*static_cast<const volatile char*>(start_ + at); }
  [[nodiscard]] Pages scan(PageMap::Pages kind, std::size_t begin = 0, std::size_t end = size) const
  {
    Pages pages;
    EXPECT_TRUE(map_.scan(address(begin), address(end), kind, [&](const PageMap::Range& range) {
      pages.emplace_back(range.begin - address(0), range.end - address(0));
    }));
    return pages;
  }

  char* start_;
  PageMap map_;
};

TEST_F(PageMapTest, NothingIsThereBeforeItIsTouched)
{
  EXPECT_EQ(scan(PageMap::Pages::present), Pages{});
  EXPECT_EQ(scan(PageMap::Pages::written), Pages{});
}

TEST_F(PageMapTest, PagesThatWereWritten)
{
  write(5 * page);
  write(6 * page + 7);
  write(size - 1);
  const Pages expected{{5 * page, 7 * page}, {size - page, size}};
  EXPECT_EQ(scan(PageMap::Pages::present), expected);
  EXPECT_EQ(scan(PageMap::Pages::written), expected);
}

TEST_F(PageMapTest, PagesThatWereOnlyReadArePresent)
{
  if (!kernel_shares_a_zero_page())
    GTEST_SKIP() << "this kernel has no zero page";
  read(100 * page);
  write(200 * page);
  EXPECT_EQ(scan(PageMap::Pages::present), (Pages{{100 * page, 101 * page}, {200 * page, 201 * page}}));
  EXPECT_EQ(scan(PageMap::Pages::written), (Pages{{200 * page, 201 * page}}));
}

TEST_F(PageMapTest, EndsOfWhatIsAskedAbout)
{
  write(5 * page);
  write(6 * page);
  EXPECT_EQ(scan(PageMap::Pages::present, 5 * page + 10, 6 * page + 20), (Pages{{5 * page + 10, 6 * page + 20}}));
  EXPECT_EQ(scan(PageMap::Pages::present, 5 * page, 5 * page), Pages{});
}

TEST_F(PageMapTest, MoreRangesThanFitAtOnce)
{
  Pages expected;
  for (std::size_t at = 0; at < size; at += 8 * page) {
    write(at);
    expected.emplace_back(at, at + page);
  }
  EXPECT_EQ(scan(PageMap::Pages::written), expected);
}

TEST_F(PageMapTest, WhatIsGivenBackIsGone)
{
  write(5 * page);
  madvise(start_, size, MADV_DONTNEED);
  EXPECT_EQ(scan(PageMap::Pages::present), Pages{});
}

TEST_F(PageMapTest, AcrossWhatIsNotMapped)
{
  write(page);
  write(size - page);
  munmap(start_ + 16 * page, 16 * page);
  EXPECT_EQ(scan(PageMap::Pages::written), (Pages{{page, 2 * page}, {size - page, size}}));
}

} // namespace
} // namespace umwelt
