// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/fitting/non_negative.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace umwelt::kernels
{
namespace
{

constexpr double dependent = 1e-11; // what is left of a column of length 1 that is a sum of others

// Some columns of the equations, all scaled to length 1.
class Scaled
{
public:
  Scaled(std::span<const double> matrix, std::span<const double> right) : n_(right.size()), scale_(n_)
  {
    for (std::size_t i = 0; i < n_; ++i)
      scale_[i] = matrix[i * n_ + i] > 0 ? 1 / std::sqrt(matrix[i * n_ + i]) : 0;
    for (std::size_t i = 0; i < n_; ++i) {
      right_.push_back(right[i] * scale_[i]);
      for (std::size_t j = 0; j < n_; ++j)
        matrix_.push_back(matrix[i * n_ + j] * scale_[i] * scale_[j]);
    }
  }

  [[nodiscard]] double scale(std::size_t column) const { return scale_[column]; }

  // Half of the descent of the sum of squares at `solution` along the column.
  [[nodiscard]] double gradient(std::size_t column, std::span<const double> solution) const
  {
    double sum = right_[column];
    for (std::size_t j = 0; j < n_; ++j)
      sum -= matrix_[column * n_ + j] * solution[j];
    return sum;
  }

  // The solution of these columns alone, 0 in the others; nothing if they depend on each other. By Cholesky.
  [[nodiscard]] std::optional<std::vector<double>> solve(const std::vector<std::size_t>& columns) const
  {
    const std::size_t m = columns.size();
    std::vector<double> lower(m * m);
    std::vector<double> x(m);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = matrix_[columns[i] * n_ + columns[j]];
        for (std::size_t k = 0; k < j; ++k)
          sum -= lower[i * m + k] * lower[j * m + k];
        if (i == j && sum < dependent)
          return std::nullopt;
        lower[i * m + j] = i == j ? std::sqrt(sum) : sum / lower[j * m + j];
      }
      x[i] = right_[columns[i]];
      for (std::size_t k = 0; k < i; ++k)
        x[i] -= lower[i * m + k] * x[k];
      x[i] /= lower[i * m + i];
    }
    for (std::size_t i = m; i-- > 0;) {
      for (std::size_t k = i + 1; k < m; ++k)
        x[i] -= lower[k * m + i] * x[k];
      x[i] /= lower[i * m + i];
    }
    std::vector<double> all(n_);
    for (std::size_t i = 0; i < m; ++i)
      all[columns[i]] = x[i];
    return all;
  }

private:
  std::size_t n_;
  std::vector<double> scale_;
  std::vector<double> right_;
  std::vector<double> matrix_;
};

} // namespace

void NormalEquations::add(std::span<const double> row, double target, double weight)
{
  for (std::size_t i = 0; i < columns_; ++i) {
    right_[i] += weight * row[i] * target;
    for (std::size_t j = 0; j < columns_; ++j)
      matrix_[i * columns_ + j] += weight * row[i] * row[j];
  }
}

std::vector<double> NormalEquations::solve() const
{
  const Scaled equations(matrix_, right_);
  std::vector<double> solution(columns_);
  std::vector<std::size_t> positive; // columns whose coefficients may be
  std::vector<bool> refused(columns_);
  for (std::size_t round = 0; round < 10 * columns_; ++round) { // rounding could make it go in circles
    std::size_t best = columns_;
    double steepest = 1e-12;
    for (std::size_t i = 0; i < columns_; ++i) {
      const bool in = std::find(positive.begin(), positive.end(), i) != positive.end();
      if (in || refused[i] || equations.scale(i) == 0)
        continue;
      const double gradient = equations.gradient(i, solution);
      if (gradient > steepest) {
        steepest = gradient;
        best = i;
      }
    }
    if (best == columns_)
      break;
    positive.push_back(best);
    auto wanted = equations.solve(positive);
    if (!wanted || (*wanted)[best] <= 0) { // rounding: it would go the wrong way
      positive.pop_back();
      refused[best] = true;
      continue;
    }
    std::fill(refused.begin(), refused.end(), false);
    // Go as far as no coefficient gets negative, leave those out that would, and go on.
    for (;;) {
      double step = 1;
      for (const std::size_t i : positive)
        if ((*wanted)[i] <= 0)
          step = std::min(step, solution[i] / (solution[i] - (*wanted)[i]));
      for (std::size_t i = 0; i < columns_; ++i)
        solution[i] += step * ((*wanted)[i] - solution[i]);
      if (step == 1)
        break;
      std::erase_if(positive, [&](std::size_t i) {
        const bool out = solution[i] <= std::numeric_limits<double>::epsilon();
        if (out)
          solution[i] = 0;
        return out;
      });
      wanted = equations.solve(positive);
      if (!wanted)
        break;
    }
  }
  for (std::size_t i = 0; i < columns_; ++i)
    solution[i] *= equations.scale(i);
  return solution;
}

} // namespace umwelt::kernels
