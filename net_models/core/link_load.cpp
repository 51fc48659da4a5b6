// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/core/link_load.h"

#include <algorithm>
#include <cmath>

namespace umwelt::net
{

void LinkLoad::carried(platform::LinkIndex link, std::uint64_t bytes, sim::SimTime start)
{
  if (link >= links_.size())
    links_.resize(link + 1);
  Link& of = links_[link];
  if (of.ps_per_byte < 0)
    of.ps_per_byte = static_cast<double>(sim::second) / platform_.link(link).bandwidth;
  of.bytes += bytes;
  const sim::SimTime begin = std::max(start, of.free);
  of.free = begin + std::llround(static_cast<double>(bytes) * of.ps_per_byte);
  bins_.add(link, begin, of.free, static_cast<double>(bytes));
}

void LinkLoad::carried(const platform::Route& route, std::uint64_t bytes, sim::SimTime start)
{
  for (const platform::LinkIndex link : route.links)
    carried(link, bytes, start);
}

} // namespace umwelt::net
