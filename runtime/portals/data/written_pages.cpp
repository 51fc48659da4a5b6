// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/data/written_pages.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace umwelt::portals
{

namespace
{

// Of <linux/fs.h> of Linux 6.11, which the headers of older distributions do not have.
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

constexpr unsigned long procmap_query = _IOWR('f', 17, MappingQuery);

constexpr std::uint64_t mapping_is_writable = 0x02;
constexpr std::uint64_t mapping_is_shared = 0x08;

} // namespace

WrittenPages::WrittenPages() : maps_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC))
{
  std::vector<Piece> pieces;
  const auto here = reinterpret_cast<std::uintptr_t>(this) / page * page;
  usable_ = maps_ >= 0 && sysconf(_SC_PAGESIZE) == page && find(here, here + page, pieces) && pieces.size() == 1;
}

WrittenPages::~WrittenPages()
{
  if (maps_ >= 0)
    close(maps_);
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
    else if (!pages_.scan(begin, part_end, PageMap::Pages::written, [&pieces](const PageMap::Range& range) {
               if (!pieces.empty() && pieces.back().anonymous && pieces.back().end == range.begin)
                 pieces.back().end = range.end;
               else
                 pieces.push_back({range.begin, range.end, true});
             }))
      return false;
    begin = part_end;
  }
  return true;
}

} // namespace umwelt::portals
