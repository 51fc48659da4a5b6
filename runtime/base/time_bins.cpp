// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/time_bins.h"

#include <algorithm>

namespace umwelt::sim
{

void TimeBins::reach(SimTime time)
{
  while (time / width_ >= static_cast<SimTime>(bins_)) {
    width_ *= 2;
    for (std::vector<double>& row : rows_) {
      if (row.empty())
        continue;
      for (std::size_t i = 0; i < bins_ / 2; ++i)
        row[i] = row[2 * i] + row[2 * i + 1];
      std::fill(row.begin() + static_cast<std::ptrdiff_t>(bins_ / 2), row.end(), 0.0);
    }
  }
}

void TimeBins::add(std::size_t row, SimTime from, SimTime until, double amount)
{
  until = std::max(from, until);
  reach(until > from ? until - 1 : until); // a time ends before `until`
  if (row >= rows_.size())
    rows_.resize(row + 1);
  std::vector<double>& bins = rows_[row];
  if (bins.empty())
    bins.resize(bins_);
  auto bin = static_cast<std::size_t>(from / width_);
  const double per_ps = until > from ? amount / static_cast<double>(until - from) : 0;
  for (SimTime end = static_cast<SimTime>(bin + 1) * width_; until > end; end += width_) {
    bins[bin++] += per_ps * static_cast<double>(end - from);
    amount -= per_ps * static_cast<double>(end - from);
    from = end;
  }
  bins[bin] += amount;
}

std::vector<double> TimeBins::row(std::size_t row, SimTime until) const
{
  if (row >= rows_.size() || rows_[row].empty())
    return {};
  const auto count = static_cast<std::size_t>((until + width_ - 1) / width_);
  const std::vector<double>& bins = rows_[row];
  return {bins.begin(), bins.begin() + static_cast<std::ptrdiff_t>(std::min(count, bins_))};
}

} // namespace umwelt::sim
