// SPDX-License-Identifier: LGPL-2.1-or-later
// Which pages of this process's memory are there, as /proc/self/pagemap tells (PAGEMAP_SCAN: Linux 6.7). Takes as long
// as there are pages and tables of pages, not as the addresses reach.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace umwelt
{

class PageMap
{
public:
  static constexpr std::size_t page = 4096;

  struct Range {
    std::uintptr_t begin, end;
  };
  enum class Pages : std::uint8_t {
    present, // in memory or swapped out
    written  // likewise, but for the zero page, which reading leaves behind
  };

  PageMap();
  ~PageMap();
  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;

  // Of the process it was made in, not of its children. Negative: there is none.
  [[nodiscard]] int descriptor() const { return file_; }

  // Visits what there is of [begin, end), ascending; whole pages but for the ends of what was asked about. False: the
  // kernel cannot tell. Async-signal-safe.
  template <class Visit>
  [[nodiscard]] bool scan(std::uintptr_t begin, std::uintptr_t end, Pages pages, Visit&& visit) const
  {
    std::array<Range, ranges_at_once> found;
    std::uintptr_t at = begin / page * page;
    while (at < end) {
      const int count = scan_some(at, (end + page - 1) / page * page, pages, found);
      if (count < 0)
        return false;
      for (const Range& range : std::span(found).first(static_cast<std::size_t>(count)))
        visit(Range{std::max(range.begin, begin), std::min(range.end, end)});
    }
    return true;
  }

private:
  static constexpr std::size_t ranges_at_once = 64;

  // Moves `at` to where it stopped.
  int scan_some(std::uintptr_t& at, std::uintptr_t end, Pages pages, std::array<Range, ranges_at_once>& found) const;

  int file_ = -1;
};

} // namespace umwelt
