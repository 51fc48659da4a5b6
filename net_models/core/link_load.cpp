// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/core/link_load.h"

#include <algorithm>

namespace umwelt::net
{

void LinkLoad::carried(platform::LinkIndex link, std::uint64_t bytes, sim::SimTime start)
{
  if (link >= bytes_.size()) {
    bytes_.resize(link + 1);
    free_.resize(link + 1);
  }
  bytes_[link] += bytes;
  const sim::SimTime begin = std::max(start, free_[link]);
  free_[link] = begin + sim::transfer_time(bytes, platform_.link(link).bandwidth);
  bins_.add(link, begin, free_[link], static_cast<double>(bytes));
}

void LinkLoad::carried(const platform::Route& route, std::uint64_t bytes, sim::SimTime start)
{
  for (const platform::LinkIndex link : route.links)
    carried(link, bytes, start);
}

} // namespace umwelt::net
