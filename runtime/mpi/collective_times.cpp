// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/mpi/collective_times.h"

#include <algorithm>

namespace umwelt::mpi
{

CollectiveShape shape_of(std::uint32_t function)
{
  switch (function) {
  case UMW_COLLECTIVE_Bcast:
  case UMW_COLLECTIVE_Scatter:
  case UMW_COLLECTIVE_Scatterv:
    return CollectiveShape::from_root;
  case UMW_COLLECTIVE_Gather:
  case UMW_COLLECTIVE_Gatherv:
  case UMW_COLLECTIVE_Reduce:
    return CollectiveShape::to_root;
  case UMW_COLLECTIVE_Scan:
  case UMW_COLLECTIVE_Exscan:
    return CollectiveShape::prefix;
  default:
    return CollectiveShape::all;
  }
}

void CollectiveTimes::begin(CollectiveShape shape, std::uint32_t members, std::uint32_t root)
{
  shape_ = shape;
  members_ = members;
  root_ = root;
  arrived_ = known_ = 0;
  from_root_ = sim::never;
  at_.assign(members, sim::never);
}

const std::vector<CollectiveTimes::Due>& CollectiveTimes::arrive(std::uint32_t member, SimTime time,
                                                                 const std::function<SimTime()>& duration)
{
  due_.clear();
  at_[member] = time;
  ++arrived_;
  switch (shape_) {
  case CollectiveShape::all:
    if (complete()) {
      const SimTime end = time + duration();
      for (std::uint32_t i = 0; i < members_; ++i)
        due_.push_back({i, end});
    }
    break;
  case CollectiveShape::from_root:
    if (member == root_) {
      from_root_ = members_ > 1 ? time + duration() : time;
      for (std::uint32_t i = 0; i < members_; ++i)
        if (has_come(i))
          due_.push_back({i, i == root_ ? time : from_root_});
    } else if (has_come(root_)) {
      due_.push_back({member, std::max(time, from_root_)});
    }
    break;
  case CollectiveShape::to_root:
    if (complete()) {
      const SimTime end = time + duration();
      for (const std::uint32_t i : {std::min(member, root_), std::max(member, root_)})
        if (due_.empty() || due_.back().member != i)
          due_.push_back({i, i == root_ ? end : time});
    } else if (member != root_) {
      due_.push_back({member, time});
    }
    break;
  case CollectiveShape::prefix:
    if (member != known_)
      break;
    for (SimTime end = sim::never; known_ < members_ && has_come(known_); ++known_) {
      if (known_ > 0 && end == sim::never)
        end = time + duration();
      due_.push_back({known_, known_ == 0 ? time : end});
    }
    break;
  }
  return due_;
}

} // namespace umwelt::mpi
