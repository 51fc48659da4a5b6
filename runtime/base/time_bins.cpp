// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/time_bins.h"

#include <algorithm>
#include <utility>

namespace umwelt::sim
{

void TimeBins::set_width(SimTime width)
{
  width_ = width;
  end_ = width * static_cast<SimTime>(bins_);
  per_ps_ = 1 / static_cast<double>(width);
}

void TimeBins::reach(SimTime time)
{
  if (time < end_)
    return;
  for (Row& row : rows_)
    leave_bin(row);
  while (time >= end_) {
    set_width(2 * width_);
    for (Row& row : rows_) {
      std::vector<float>& bins = row.bins;
      if (bins.empty())
        continue;
      for (std::size_t i = 0; i < bins_ / 2; ++i)
        bins[i] = bins[2 * i] + bins[2 * i + 1];
      std::fill(bins.begin() + static_cast<std::ptrdiff_t>(bins_ / 2), bins.end(), 0.0F);
    }
  }
}

std::size_t TimeBins::bin_of(SimTime time) const
{
  auto bin = static_cast<SimTime>(static_cast<double>(time) * per_ps_);
  bin -= bin * width_ > time ? 1 : 0; // rounded
  bin += (bin + 1) * width_ <= time ? 1 : 0;
  return static_cast<std::size_t>(bin);
}

void TimeBins::leave_bin(Row& row) const
{
  if (row.end >= row.begin)
    row.bins[bin_of(row.begin)] += static_cast<float>(std::exchange(row.amount, 0));
  row.begin = 0;
  row.end = -1;
}

void TimeBins::add_elsewhere(std::size_t row, SimTime from, SimTime until, double amount)
{
  until = std::max(from, until);
  reach(until > from ? until - 1 : until); // a time ends before `until`
  if (row >= rows_.size())
    rows_.resize(row + 1);
  Row& of = rows_[row];
  std::vector<float>& bins = of.bins;
  if (bins.empty())
    bins.resize(bins_);
  leave_bin(of);
  std::size_t bin = bin_of(from);
  SimTime end = static_cast<SimTime>(bin + 1) * width_;
  if (until > end) {
    const double per_ps = amount / static_cast<double>(until - from);
    for (; until > end; end += width_) {
      bins[bin++] += static_cast<float>(per_ps * static_cast<double>(end - from));
      amount -= per_ps * static_cast<double>(end - from);
      from = end;
    }
  }
  bins[bin] += static_cast<float>(amount);
  of.begin = end - width_;
  of.end = end - 1; // a time without a length would be in the next bin there
}

std::vector<double> TimeBins::row(std::size_t row, SimTime until) const
{
  if (row >= rows_.size() || rows_[row].bins.empty())
    return {};
  Row whole = rows_[row];
  leave_bin(whole);
  const auto begun = std::min(static_cast<std::size_t>((until + width_ - 1) / width_), bins_);
  return {whole.bins.begin(), whole.bins.begin() + static_cast<std::ptrdiff_t>(begun)};
}

} // namespace umwelt::sim
