// SPDX-License-Identifier: LGPL-2.1-or-later
// What each link has carried, and when, for the report: models and fabrics tell of each message that goes over a link.
// Where nobody looks that is a test of a pointer per message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platforms/platform.h"
#include "runtime/base/time_bins.h"

namespace umwelt::net
{

class LinkLoad
{
public:
  explicit LinkLoad(const platform::Platform& platform) : platform_(platform), bins_(bins_of_link(platform)) {}

  // So many bytes, headers included, come to the link at `start`. They pass at its own rate, behind what came before:
  // where messages share a link that is not when each passes, but how much passes when.
  void carried(platform::LinkIndex link, std::uint64_t bytes, sim::SimTime start);
  // The same for all links of a route.
  void carried(const platform::Route& route, std::uint64_t bytes, sim::SimTime start);

  // Links have numbers from 0 on; behind the last that has carried something there may be none.
  [[nodiscard]] std::size_t links() const { return links_.size(); }
  [[nodiscard]] std::uint64_t bytes(platform::LinkIndex link) const
  {
    return link < links_.size() ? links_[link].bytes : 0;
  }
  [[nodiscard]] const sim::TimeBins& bins() const { return bins_; }

private:
  // Half a KiB, or half of that where there are many.
  static std::size_t bins_of_link(const platform::Platform& platform)
  {
    return platform.node_count() <= 512 ? 128 : 64;
  }

  const platform::Platform& platform_;
  struct Link {
    std::uint64_t bytes = 0;
    sim::SimTime free = 0;   // what it carried has passed
    double ps_per_byte = -1; // not asked for yet
  };
  std::vector<Link> links_; // by LinkIndex
  sim::TimeBins bins_;
};

} // namespace umwelt::net
