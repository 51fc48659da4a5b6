// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/lateness.h"

#include <algorithm>
#include <bit>

#include "runtime/base/mix.h"

namespace umwelt::job
{

namespace
{

constexpr sim::SimTime longest_look = 10 * sim::microsecond; // of a loop that waits, in between
constexpr sim::SimTime least_gap = 5 * sim::microsecond;     // between pieces
constexpr std::size_t pairs_of_rank = 32;

} // namespace

Exchanges::Exchanges(std::size_t ranks) : entries_(std::bit_ceil(pairs_of_rank * ranks))
{
}

Exchanges::Exchange Exchanges::replace(std::size_t one, std::size_t other, sim::SimTime began, sim::SimTime now)
{
  const auto low = static_cast<std::uint32_t>(std::min(one, other) + 1);
  const auto high = static_cast<std::uint32_t>(std::max(one, other));
  Entry& entry = entries_[sim::mix(std::uint64_t{low} << 32 | high) & (entries_.size() - 1)];
  const Exchange before = entry.low == low && entry.high == high ? entry.exchange : Exchange{};
  entry = {low, high, {now, now - began}};
  return before;
}

void Lateness::came(sim::SimTime began, const Exchanges::Exchange& before)
{
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
