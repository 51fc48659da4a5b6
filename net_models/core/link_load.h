// SPDX-License-Identifier: LGPL-2.1-or-later
// What each link has carried, and when, for the report: models and fabrics tell of each message that goes over a link.
// Where nobody looks that is a test of a pointer per message.
#pragma once

#include <cstdint>
#include <vector>

#include "platforms/platform.h"
#include "runtime/base/time_bins.h"

namespace umwelt::net
{

class LinkLoad
{
public:
  explicit LinkLoad(const platform::Platform& platform) : platform_(platform) {}

  // So many bytes, headers included, come to the link at `start`. They pass at its own rate, behind what came before:
  // where messages share a link that is not when each passes, but how much passes when.
  void carried(platform::LinkIndex link, std::uint64_t bytes, sim::SimTime start);
  // The same for all links of a route.
  void carried(const platform::Route& route, std::uint64_t bytes, sim::SimTime start);

  // By LinkIndex; links that have carried nothing may be missing at the end.
  [[nodiscard]] const std::vector<std::uint64_t>& bytes() const { return bytes_; }
  [[nodiscard]] const sim::TimeBins& bins() const { return bins_; }

private:
  static constexpr std::size_t bins_of_link = 128; // 1 KiB

  const platform::Platform& platform_;
  std::vector<std::uint64_t> bytes_;
  std::vector<sim::SimTime> free_; // by link: what it carried has passed
  sim::TimeBins bins_{bins_of_link};
};

} // namespace umwelt::net
