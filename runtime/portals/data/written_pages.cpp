// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/data/written_pages.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace umwelt::portals
{

namespace
{

// Of <linux/fs.h> of Linux 6.11, which the headers of older distributions do not have.
struct PageRegion {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};

struct ScanArguments {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t walk_end; // result: where it stopped
  std::uint64_t regions;
  std::uint64_t region_count;
  std::uint64_t max_pages;
  std::uint64_t category_inverted;
  std::uint64_t category_mask;
  std::uint64_t category_anyof_mask;
  std::uint64_t return_mask;
};

struct MappingQuery {
  std::uint64_t size;
  std::uint64_t query_flags;
  std::uint64_t query_address;
  std::uint64_t begin; // results
  std::uint64_t end;
  std::uint64_t flags;
  std::uint64_t page_size;
  std::uint64_t offset;
  std::uint64_t inode;
  std::uint32_t device_major;
  std::uint32_t device_minor;
  std::uint32_t name_size;
  std::uint32_t build_id_size;
  std::uint64_t name;
  std::uint64_t build_id;
};

constexpr unsigned long pagemap_scan = _IOWR('f', 16, ScanArguments);
constexpr unsigned long procmap_query = _IOWR('f', 17, MappingQuery);

constexpr std::uint64_t page_is_present = 1 << 3;
constexpr std::uint64_t page_is_swapped = 1 << 4;
constexpr std::uint64_t page_is_zero_page = 1 << 5;

constexpr std::uint64_t mapping_is_writable = 0x02;
constexpr std::uint64_t mapping_is_shared = 0x08;

constexpr std::size_t regions_at_once = 64;

} // namespace

WrittenPages::WrittenPages()
    : pages_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)), maps_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC))
{
  std::vector<Piece> pieces;
  const auto here = reinterpret_cast<std::uintptr_t>(this) / page * page;
  usable_ = pages_ >= 0 && maps_ >= 0 && sysconf(_SC_PAGESIZE) == page && find(here, here + page, pieces) &&
            pieces.size() == 1;
}

WrittenPages::~WrittenPages()
{
  if (pages_ >= 0)
    close(pages_);
  if (maps_ >= 0)
    close(maps_);
}

bool WrittenPages::scan(std::uintptr_t begin, std::uintptr_t end, std::vector<Piece>& pieces) const
{
  const std::uintptr_t last = (end + page - 1) / page * page;
  std::array<PageRegion, regions_at_once> found;
  for (std::uintptr_t at = begin / page * page; at < last;) {
    ScanArguments arguments{};
    arguments.size = sizeof arguments;
    arguments.start = at;
    arguments.end = last;
    arguments.regions = reinterpret_cast<std::uintptr_t>(found.data());
    arguments.region_count = found.size();
    arguments.category_inverted = page_is_zero_page; // pages that are not the zero page
    arguments.category_mask = page_is_zero_page;
    arguments.category_anyof_mask = page_is_present | page_is_swapped;
    arguments.return_mask = page_is_present | page_is_swapped;
    const int count = ioctl(pages_, pagemap_scan, &arguments);
    if (count < 0 || arguments.walk_end <= at)
      return false;
    for (int i = 0; i < count; ++i) {
      const std::uintptr_t from = std::max<std::uintptr_t>(found[i].start, begin);
      const std::uintptr_t to = std::min<std::uintptr_t>(found[i].end, end);
      if (!pieces.empty() && pieces.back().anonymous && pieces.back().end == from)
        pieces.back().end = to;
      else
        pieces.push_back({from, to, true});
    }
    at = arguments.walk_end;
  }
  return true;
}

bool WrittenPages::find(std::uintptr_t begin, std::uintptr_t end, std::vector<Piece>& pieces) const
{
  pieces.clear();
  while (begin < end) {
    MappingQuery query{};
    query.size = sizeof query;
    query.query_address = begin;
    if (ioctl(maps_, procmap_query, &query) != 0)
      return false; // nothing is mapped there
    const std::uintptr_t part_end = std::min<std::uintptr_t>(query.end, end);
    const bool anonymous = query.inode == 0 && query.device_major == 0 && query.device_minor == 0 &&
                           (query.flags & (mapping_is_writable | mapping_is_shared)) == mapping_is_writable;
    if (!anonymous)
      pieces.push_back({begin, part_end, false});
    else if (!scan(begin, part_end, pieces))
      return false;
    begin = part_end;
  }
  return true;
}

} // namespace umwelt::portals
