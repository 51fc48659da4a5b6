// SPDX-License-Identifier: LGPL-2.1-or-later
// Which pages of this process hold something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/page_map.h"

namespace umwelt::portals
{

class WrittenPages
{
public:
  static constexpr std::size_t page = PageMap::page;

  // Addresses; of whole pages, except at the ends of what was asked about.
  struct Piece {
    std::uintptr_t begin;
    std::uintptr_t end;
    bool anonymous; // private memory without a file: reads as zeros when it is given back (MADV_DONTNEED)
  };

  WrittenPages();
  ~WrittenPages();
  WrittenPages(const WrittenPages&) = delete;
  WrittenPages& operator=(const WrittenPages&) = delete;

  // Of the process it was made in, not of its children.
  [[nodiscard]] bool usable() const { return usable_; }

  // The pieces of [begin, end) that may hold something else than zeros, in order. What lies between them reads as
  // zeros, is private and writable. False: that cannot be told.
  [[nodiscard]] bool find(std::uintptr_t begin, std::uintptr_t end, std::vector<Piece>& pieces) const;

private:
  PageMap pages_;
  int maps_ = -1; // /proc/self/maps
  bool usable_ = false;
};

} // namespace umwelt::portals
