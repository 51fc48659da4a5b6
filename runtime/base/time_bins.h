// SPDX-License-Identifier: LGPL-2.1-or-later
// Amounts over time in a bounded number of bins of equal width, for many rows (links, ranks). When time goes beyond the
// last bin, bins become twice as wide and pairs of them one: nobody has to know how long a run will be, and memory
// depends on the number of rows alone. A sum over all bins is always what was added, but for rounding.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/base/time.h"

namespace umwelt::sim
{

class TimeBins
{
public:
  // `bins` is even; `width` (ps) that of a bin at first.
  explicit TimeBins(std::size_t bins, SimTime width = microsecond) : bins_(bins), width_(width) {}

  // Spread evenly over the time, or in one bin if that is empty. Rows come to be as they are used.
  void add(std::size_t row, SimTime from, SimTime until, double amount);

  [[nodiscard]] SimTime width() const { return width_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // Of a row, as many bins as `until` has begun; empty: nothing was added.
  [[nodiscard]] std::vector<double> row(std::size_t row, SimTime until) const;

private:
  void reach(SimTime time);

  std::size_t bins_;
  SimTime width_;
  std::vector<std::vector<double>> rows_; // a row that was never used has no bins
};

} // namespace umwelt::sim
