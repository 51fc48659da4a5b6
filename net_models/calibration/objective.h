// SPDX-License-Identifier: LGPL-2.1-or-later
// The model as a function from values of the fitted parameters to the times of all benchmarks and sizes, and how far
// these are from what was measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net_models/calibration/fit.h"
#include "net_models/calibration/fit_key.h"

namespace umwelt::net
{

class Objective
{
public:
  struct Point {
    std::size_t experiment = 0;
    std::uint64_t size = 0;
    double log_measured = 0;
    double weight = 0; // of its benchmark; 0: held out
  };

  // Values are those of the keys, in their order. Both outlive it.
  Objective(const FitProblem& problem, const std::vector<FitKey>& keys);

  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  // Those that are not held out.
  [[nodiscard]] std::size_t fitted_points() const { return fitted_points_; }
  // What a point counts in the fit: its weight, less if it is an outlier.
  [[nodiscard]] double weight(std::size_t point) const { return points_[point].weight * robust_[point]; }
  // Of the whole model so far.
  [[nodiscard]] unsigned evaluations() const { return evaluations_; }

  // ln(model time) of every point; held-out ones only if asked for.
  std::vector<double> evaluate(const std::vector<double>& values, bool all = false);
  // exp(mean |residual|) - 1 of what is fitted, benchmarks weighted alike.
  double error_at(const std::vector<double>& values);
  // Huber's weights from the residuals there. False: nothing changed much.
  bool reweigh(const std::vector<double>& values);

private:
  void collect_points();
  [[nodiscard]] std::size_t experiments_used() const;
  [[nodiscard]] Parameters parameters_at(const std::vector<double>& values) const;

  const FitProblem& problem_;
  const std::vector<FitKey>& keys_;
  std::vector<Point> points_;
  std::vector<double> robust_; // by point
  std::size_t fitted_points_ = 0;
  unsigned evaluations_ = 0;
};

} // namespace umwelt::net
