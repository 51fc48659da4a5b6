// SPDX-License-Identifier: LGPL-2.1-or-later
// When a collective whose time is a model's is over for which of its members: nobody before those whose data it needs,
// and those who only send at once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "preload/abi/mpi_collectives.h"
#include "runtime/base/time.h"

namespace umwelt::mpi
{

using sim::SimTime;

enum class CollectiveShape : std::uint8_t {
  all,       // everybody needs everybody: after the last has come
  from_root, // the root at once, the others after it
  to_root,   // the others at once, the root after the last
  prefix     // after those with lower numbers
};

CollectiveShape shape_of(std::uint32_t function); // an umw_collective_function

class CollectiveTimes
{
public:
  struct Due {
    std::uint32_t member;
    SimTime time;
  };

  // For another collective.
  void begin(CollectiveShape shape, std::uint32_t members, std::uint32_t root);
  // A member comes, not before those that have come already. Those for whom it is known with that when it will be over,
  // ascending; `duration` is asked at most once for each call, and only if it matters.
  const std::vector<Due>& arrive(std::uint32_t member, SimTime time, const std::function<SimTime()>& duration);

  [[nodiscard]] std::uint32_t arrived() const { return arrived_; }
  [[nodiscard]] bool complete() const { return arrived_ == members_; }
  [[nodiscard]] bool has_come(std::uint32_t member) const { return at_[member] != sim::never; }
  [[nodiscard]] SimTime came_at(std::uint32_t member) const { return at_[member]; }

private:
  CollectiveShape shape_ = CollectiveShape::all;
  std::uint32_t members_ = 0;
  std::uint32_t root_ = 0;
  std::uint32_t arrived_ = 0;
  std::uint32_t known_ = 0; // prefix: for those before it is known
  SimTime from_root_ = 0;   // when what the root sends has come
  std::vector<SimTime> at_; // never: it has not come
  std::vector<Due> due_;
};

} // namespace umwelt::mpi
