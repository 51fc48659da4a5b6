// SPDX-License-Identifier: LGPL-2.1-or-later
// Bytes of a piece of memory that are to be kept, where the rest may be forgotten: sorted, apart from each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace umwelt
{

struct Span {
  std::uint64_t begin, end;
};

class KeptRanges
{
public:
  KeptRanges() = default;
  // In any order; may overlap or be empty.
  explicit KeptRanges(std::vector<Span> ranges) : ranges_(std::move(ranges))
  {
    std::erase_if(ranges_, [](const Span& range) { return range.begin >= range.end; });
    std::sort(ranges_.begin(), ranges_.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < ranges_.size(); ++i) {
      if (ranges_[i].begin <= ranges_[last].end)
        ranges_[last].end = std::max(ranges_[last].end, ranges_[i].end);
      else
        ranges_[++last] = ranges_[i];
    }
    if (!ranges_.empty())
      ranges_.resize(last + 1);
  }

  [[nodiscard]] const std::vector<Span>& ranges() const { return ranges_; }

  // Visits what of [begin, end) is to be kept, ascending.
  template <class Visit> void within(std::uint64_t begin, std::uint64_t end, Visit&& visit) const
  {
    for (const Span& range : ranges_) {
      const Span part{std::max(range.begin, begin), std::min(range.end, end)};
      if (part.begin < part.end)
        visit(part);
    }
  }

  // Visits what of [0, end) may be forgotten in units of `unit` bytes of which nothing is to be kept, ascending; the
  // last unit may be shorter.
  template <class Visit> void forgettable(std::uint64_t end, std::uint64_t unit, Visit&& visit) const
  {
    std::uint64_t at = 0;
    for (const Span& range : ranges_) {
      const std::uint64_t until = std::min(range.begin / unit * unit, end);
      if (until > at)
        visit(Span{at, until});
      at = std::max(at, (range.end + unit - 1) / unit * unit);
    }
    if (end > at)
      visit(Span{at, end});
  }

private:
  std::vector<Span> ranges_;
};

} // namespace umwelt
