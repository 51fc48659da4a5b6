// SPDX-License-Identifier: LGPL-2.1-or-later
// The continuous parameters by Levenberg and Marquardt's method (GSL): from where they are to the nearest valley, and
// how well the measurements determine them there.
#pragma once

#include <cstddef>
#include <exception>
#include <vector>

#include <gsl/gsl_multifit_nlinear.h>

#include "net_models/calibration/fit_key.h"
#include "net_models/calibration/objective.h"

namespace umwelt::net
{

class LeastSquares
{
public:
  // `free`: indexes of the continuous ones among the keys, whose values are moved. All outlive it.
  LeastSquares(Objective& objective, std::vector<FitKey>& keys, const std::vector<std::size_t>& free)
      : objective_(objective), keys_(keys), free_(free)
  {
  }

  // Returns the largest relative change of a parameter.
  double run();

  // Of the last run:
  [[nodiscard]] bool converged() const { return converged_; }
  // of the variables of two continuous parameters, by their number among these,
  [[nodiscard]] double covariance(std::size_t a, std::size_t b) const { return covariance_[a * free_.size() + b]; }
  // and whether no residual depends on that one.
  [[nodiscard]] bool is_without_effect(std::size_t a) const;

private:
  [[nodiscard]] std::vector<double> values_at(const gsl_vector* x) const;
  const std::vector<double>& remembered(const gsl_vector* x);
  void residuals(const gsl_vector* x, gsl_vector* f);
  void slopes(const gsl_vector* x, gsl_matrix* jacobian);
  template <class Work> int guarded(Work&& work);
  void derive_covariance(const gsl_multifit_nlinear_workspace& workspace);

  Objective& objective_;
  std::vector<FitKey>& keys_;
  const std::vector<std::size_t>& free_;
  bool converged_ = true;
  std::vector<double> last_values_;
  std::vector<double> last_;
  std::vector<double> lengths_;    // of the columns of slopes
  std::vector<double> covariance_; // of the continuous ones, row by row
  std::exception_ptr problem_in_gsl_;
};

} // namespace umwelt::net
