// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/page_map.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace umwelt
{

namespace
{

// Of <linux/fs.h> of Linux 6.7, which the headers of older distributions do not have.
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

constexpr unsigned long pagemap_scan = _IOWR('f', 16, ScanArguments);

constexpr std::uint64_t page_is_present = 1 << 3;
constexpr std::uint64_t page_is_swapped = 1 << 4;
constexpr std::uint64_t page_is_zero_page = 1 << 5;

} // namespace

PageMap::PageMap() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC))
{
}

PageMap::~PageMap()
{
  if (file_ >= 0)
    close(file_);
}

int PageMap::scan_some(std::uintptr_t& at, std::uintptr_t end, Pages pages,
                       std::array<Range, ranges_at_once>& found) const
{
  std::array<PageRegion, ranges_at_once> regions;
  ScanArguments arguments{};
  arguments.size = sizeof arguments;
  arguments.start = at;
  arguments.end = end;
  arguments.regions = reinterpret_cast<std::uintptr_t>(regions.data());
  arguments.region_count = regions.size();
  if (pages == Pages::written) {
    arguments.category_inverted = page_is_zero_page; // pages that are not
    arguments.category_mask = page_is_zero_page;
  }
  arguments.category_anyof_mask = page_is_present | page_is_swapped;
  arguments.return_mask = page_is_present | page_is_swapped;
  const int count = ioctl(file_, pagemap_scan, &arguments);
  if (count < 0 || arguments.walk_end <= at)
    return -1;
  for (int i = 0; i < count; ++i)
    found[i] = {regions[i].start, regions[i].end};
  at = arguments.walk_end;
  return count;
}

} // namespace umwelt
