// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/lateness.h"

#include <algorithm>
#include <utility>

namespace umwelt::job
{

namespace
{

constexpr sim::SimTime longest_look = 10 * sim::microsecond; // of a loop that waits, in between
constexpr sim::SimTime least_gap = 5 * sim::microsecond;     // between pieces
constexpr std::size_t most_sources = 32;

} // namespace

Lateness::Source Lateness::replace(const Source& source)
{
  const auto found =
      std::find_if(sources_.begin(), sources_.end(), [&](const Source& one) { return one.rank == source.rank; });
  if (found != sources_.end())
    return std::exchange(*found, source);
  if (sources_.size() < most_sources) {
    sources_.push_back(source);
  } else {
    sources_[oldest_] = source;
    oldest_ = (oldest_ + 1) % most_sources;
  }
  return {source.rank, -sim::never, 0};
}

void Lateness::came(sim::SimTime began, std::size_t source, sim::SimTime now)
{
  const Source before = replace({source, now, now - began});
  if (began <= before.last + std::max(least_gap, 3 * before.transit))
    began = 0;
  latest_ = came_ ? std::max(latest_, began) : began;
  came_ = true;
}

void Lateness::end(sim::SimTime from, sim::SimTime until)
{
  if (count_ > 0 && from - kept_[count_ - 1].until > longest_look)
    count_ = 0;
  if (until > from) {
    if (count_ == kept_.size()) { // the first two become one of their length
      kept_[1].from -= kept_[0].until - kept_[0].from;
      std::copy(kept_.begin() + 1, kept_.end(), kept_.begin());
      --count_;
    }
    kept_[count_++] = {from, until};
  }
  if (!came_)
    return;
  for (std::size_t i = 0; i < count_; ++i)
    total_ += std::max<sim::SimTime>(std::min(kept_[i].until, latest_) - kept_[i].from, 0);
  count_ = 0;
  came_ = false;
}

} // namespace umwelt::job
