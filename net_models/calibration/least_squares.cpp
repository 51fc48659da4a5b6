// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/calibration/least_squares.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

namespace umwelt::net
{

namespace
{

template <auto Free> struct Deleter {
  template <class T> void operator()(T* object) const { Free(object); }
};
using Vector = std::unique_ptr<gsl_vector, Deleter<gsl_vector_free>>;
using Matrix = std::unique_ptr<gsl_matrix, Deleter<gsl_matrix_free>>;
using Workspace = std::unique_ptr<gsl_multifit_nlinear_workspace, Deleter<gsl_multifit_nlinear_free>>;

constexpr double step = 0.01; // of a logarithm, for differences: larger than what rounding to picoseconds does
constexpr std::size_t most_iterations = 30;
constexpr double without_effect = 1e-6; // change of the residuals per relative change of the parameter

} // namespace

std::vector<double> LeastSquares::values_at(const gsl_vector* x) const
{
  std::vector<double> values = values_of(keys_);
  for (std::size_t j = 0; j < free_.size(); ++j)
    values[free_[j]] = keys_[free_[j]].at(gsl_vector_get(x, j));
  return values;
}

const std::vector<double>& LeastSquares::remembered(const gsl_vector* x)
{
  std::vector<double> values = values_at(x);
  if (values != last_values_) {
    last_ = objective_.evaluate(values);
    last_values_ = std::move(values);
  }
  return last_;
}

void LeastSquares::residuals(const gsl_vector* x, gsl_vector* f)
{
  const std::vector<double>& predicted = remembered(x);
  const std::vector<Objective::Point>& points = objective_.points();
  for (std::size_t i = 0; i < points.size(); ++i)
    gsl_vector_set(f, i, points[i].weight > 0 ? predicted[i] - points[i].log_measured : 0);
}

void LeastSquares::slopes(const gsl_vector* x, gsl_matrix* jacobian)
{
  const std::vector<double> here = remembered(x);
  for (std::size_t j = 0; j < free_.size(); ++j) {
    const FitKey& key = keys_[free_[j]];
    std::vector<double> values = values_at(x);
    values[free_[j]] = key.at(gsl_vector_get(x, j) + step);
    const std::vector<double> there = objective_.evaluate(values);
    for (std::size_t i = 0; i < objective_.points().size(); ++i)
      gsl_matrix_set(jacobian, i, j, (there[i] - here[i]) / step);
  }
}

// Exceptions must not pass through GSL, which is C.
template <class Work> int LeastSquares::guarded(Work&& work)
{
  try {
    work();
    return GSL_SUCCESS;
  } catch (...) {
    problem_in_gsl_ = std::current_exception();
    return GSL_EBADFUNC;
  }
}

double LeastSquares::run()
{
  gsl_set_error_handler_off();
  const std::size_t n = objective_.points().size();
  const std::size_t p = free_.size();
  Vector start(gsl_vector_alloc(p));
  Vector weights(gsl_vector_alloc(n));
  for (const std::size_t k : free_)
    keys_[k].scale = keys_[k].value;
  gsl_vector_set_all(start.get(), 1);
  for (std::size_t i = 0; i < n; ++i)
    gsl_vector_set(weights.get(), i, objective_.weight(i));

  gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
  settings.trs = gsl_multifit_nlinear_trs_lm;
  Workspace workspace(gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &settings, n, p));
  gsl_multifit_nlinear_fdf function{};
  function.f = [](const gsl_vector* x, void* self, gsl_vector* f) {
    auto* fit = static_cast<LeastSquares*>(self);
    return fit->guarded([&] { fit->residuals(x, f); });
  };
  function.df = [](const gsl_vector* x, void* self, gsl_matrix* jacobian) {
    auto* fit = static_cast<LeastSquares*>(self);
    return fit->guarded([&] { fit->slopes(x, jacobian); });
  };
  function.n = n;
  function.p = p;
  function.params = this;
  int status = gsl_multifit_nlinear_winit(start.get(), weights.get(), &function, workspace.get());
  int why = 0;
  if (status == GSL_SUCCESS)
    status = gsl_multifit_nlinear_driver(most_iterations, 1e-4, 1e-6, 1e-6, nullptr, nullptr, &why, workspace.get());
  if (problem_in_gsl_)
    std::rethrow_exception(problem_in_gsl_);
  converged_ = status == GSL_SUCCESS || why == GSL_ENOPROG; // no progress: at the bottom of what kinks allow

  double change = 0;
  const gsl_vector* x = gsl_multifit_nlinear_position(workspace.get());
  for (std::size_t j = 0; j < p; ++j) {
    change = std::max(change, std::abs(gsl_vector_get(x, j) - 1));
    keys_[free_[j]].value = keys_[free_[j]].at(gsl_vector_get(x, j));
  }
  derive_covariance(*workspace);
  return change;
}

// From the singular values of the weighted slopes, each column scaled to length 1: (J^T W J)^-1 times the variance of
// the residuals. What no residual depends on gets no entry.
void LeastSquares::derive_covariance(const gsl_multifit_nlinear_workspace& workspace)
{
  const std::size_t n = objective_.points().size();
  const std::size_t p = free_.size();
  Matrix scaled(gsl_matrix_alloc(std::max(n, p), p));
  gsl_matrix_set_zero(scaled.get());
  const gsl_matrix* jacobian = gsl_multifit_nlinear_jac(&workspace);
  lengths_.assign(p, 0);
  for (std::size_t j = 0; j < p; ++j) {
    for (std::size_t i = 0; i < n; ++i)
      lengths_[j] += std::pow(gsl_matrix_get(jacobian, i, j), 2);
    lengths_[j] = std::sqrt(lengths_[j]);
    for (std::size_t i = 0; i < n && lengths_[j] > without_effect; ++i)
      gsl_matrix_set(scaled.get(), i, j, gsl_matrix_get(jacobian, i, j) / lengths_[j]);
  }
  Matrix v(gsl_matrix_alloc(p, p));
  Vector singular(gsl_vector_alloc(p));
  Vector work(gsl_vector_alloc(p));
  gsl_linalg_SV_decomp(scaled.get(), v.get(), singular.get(), work.get());
  double sum = 0;
  const gsl_vector* f = gsl_multifit_nlinear_residual(&workspace);
  gsl_blas_ddot(f, f, &sum);
  const double variance = sum / static_cast<double>(objective_.fitted_points() - p);
  covariance_.assign(p * p, 0);
  constexpr double smallest = 1e-7;
  for (std::size_t a = 0; a < p; ++a)
    for (std::size_t b = 0; b < p; ++b) {
      if (lengths_[a] <= without_effect || lengths_[b] <= without_effect)
        continue;
      for (std::size_t k = 0; k < p; ++k) {
        const double s = std::max(gsl_vector_get(singular.get(), k), smallest);
        if (gsl_vector_get(singular.get(), k) > 0)
          covariance_[a * p + b] += gsl_matrix_get(v.get(), a, k) * gsl_matrix_get(v.get(), b, k) / (s * s);
      }
      covariance_[a * p + b] *= variance / (lengths_[a] * lengths_[b]);
    }
}

bool LeastSquares::is_without_effect(std::size_t a) const
{
  return lengths_[a] <= without_effect;
}

} // namespace umwelt::net
