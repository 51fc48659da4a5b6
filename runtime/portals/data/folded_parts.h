// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory of a process whose contents need not be copied, since they may be lost at any time (--fold), and the bytes of
// it that are to be kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/kept_ranges.h"

namespace umwelt::portals
{

class FoldedParts
{
public:
  // `kept`: offsets from `begin`.
  void add(std::uintptr_t begin, std::uintptr_t end, KeptRanges kept)
  {
    remove(begin);
    parts_.insert(behind(begin), Part{begin, end, std::move(kept)});
  }
  void remove(std::uintptr_t begin)
  {
    std::erase_if(parts_, [begin](const Part& part) { return part.begin == begin; });
  }
  [[nodiscard]] bool empty() const { return parts_.empty(); }

  // Visits those pieces of [begin, end) whose bytes matter, ascending.
  template <class Visit> void matter(std::uintptr_t begin, std::uintptr_t end, Visit&& visit) const
  {
    auto part = behind(begin);
    if (part != parts_.begin() && std::prev(part)->end > begin)
      --part;
    for (; part != parts_.end() && part->begin < end; ++part) {
      if (part->begin > begin)
        visit(Span{begin, part->begin});
      const std::uintptr_t from = std::max(begin, part->begin);
      begin = std::min(end, part->end);
      part->kept.within(from - part->begin, begin - part->begin, [&](const Span& span) {
        visit(Span{part->begin + span.begin, part->begin + span.end});
      });
    }
    if (begin < end)
      visit(Span{begin, end});
  }

private:
  struct Part {
    std::uintptr_t begin, end;
    KeptRanges kept;
  };

  // The first part that begins behind the address.
  [[nodiscard]] std::vector<Part>::const_iterator behind(std::uintptr_t address) const
  {
    return std::upper_bound(parts_.begin(), parts_.end(), address,
                            [](std::uintptr_t a, const Part& part) { return a < part.begin; });
  }

  std::vector<Part> parts_; // ascending, apart from each other
};

} // namespace umwelt::portals
