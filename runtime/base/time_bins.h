// SPDX-License-Identifier: LGPL-2.1-or-later
// Amounts over time in a bounded number of bins of equal width, for many rows (links, ranks). When time goes beyond the
// last bin, bins become twice as wide and pairs of them one: nobody has to know how long a run will be, and memory
// depends on the number of rows alone. A sum over all bins is what was added, but for rounding: bins are floats, for
// pictures.
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
  explicit TimeBins(std::size_t bins, SimTime width = microsecond) : bins_(bins) { set_width(width); }

  // Spread evenly over the time, or in one bin if that is empty. Rows come to be as they are used.
  void add(std::size_t row, SimTime from, SimTime until, double amount)
  {
    if (row < rows_.size() && from >= rows_[row].begin && until <= rows_[row].end && from <= until)
      rows_[row].amount += amount;
    else
      add_elsewhere(row, from, until, amount);
  }

  [[nodiscard]] SimTime width() const { return width_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // Of a row, as many bins as `until` has begun; empty: nothing was added.
  [[nodiscard]] std::vector<double> row(std::size_t row, SimTime until) const;

private:
  void set_width(SimTime width);
  void add_elsewhere(std::size_t row, SimTime from, SimTime until, double amount);
  void reach(SimTime time);
  [[nodiscard]] std::size_t bin_of(SimTime time) const;

  std::size_t bins_;
  SimTime width_ = 0;
  SimTime end_ = 0;   // of the last bin
  double per_ps_ = 0; // bins: a division takes as long as all the rest
  // Most amounts go to the bin that the last one went to: what that has got since then is kept beside the bins.
  struct Row {
    SimTime begin = 0; // of that bin
    SimTime end = -1;
    double amount = 0;
    std::vector<float> bins; // none, if it was never used
  };
  void leave_bin(Row& row) const;

  std::vector<Row> rows_;
};

} // namespace umwelt::sim
