// SPDX-License-Identifier: LGPL-2.1-or-later
// Linear least squares whose coefficients are not negative, since no part of a call takes less than no time: a model
// that is fitted so predicts no negative durations, whatever the arguments (C. L. Lawson and R. J. Hanson, "Solving
// Least Squares Problems", 1974, algorithm NNLS).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace umwelt::kernels
{

// The sums over all rows that the solution needs.
class NormalEquations
{
public:
  explicit NormalEquations(std::size_t columns) : columns_(columns), matrix_(columns * columns), right_(columns) {}

  void add(std::span<const double> row, double target, double weight);
  // The coefficients at which the weighted sum of squares is least. Of columns that depend on each other some
  // get none.
  [[nodiscard]] std::vector<double> solve() const;

private:
  std::size_t columns_;
  std::vector<double> matrix_; // row by row
  std::vector<double> right_;
};

} // namespace umwelt::kernels
