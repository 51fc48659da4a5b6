// SPDX-License-Identifier: LGPL-2.1-or-later
// How durations of a kernel vary from call to call around what its model says. The noise options of T. Cornebize and
// A. Legrand, "Simulation-based optimization and sensitivity analysis of MPI applications: variability matters" (2021):
// N-0 is no noise, N-1 a constant standard deviation, N-2 one that grows with the arguments, N' a mixture, N_H any of
// them with parameters of the node.
//
// All distributions have the model's duration as their expectation and the given standard deviation. What would be
// below 0 is 0: this happens to `normal` and `half_normal` if the deviation is large (of the order of the duration) and
// makes them a little longer on average. A gamma or log-normal duration is never negative.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/kernels/expression.h"
#include "runtime/kernels/random.h"

namespace umwelt::kernels
{

enum class Distribution : std::uint8_t { normal, half_normal, log_normal, gamma };

// The names as a kernels file has them, in the order of the enumeration.
std::span<const std::string_view> distribution_names();
std::optional<Distribution> find_distribution(std::string_view name);

// Of the normal distribution with expectation 0 and standard deviation 1.
double standard_normal_quantile(double probability);

// The quantile of `probability` (in (0,1)) of the distribution with this expectation and standard deviation, at least
// 0. `mean` and `deviation` are not negative.
double quantile(Distribution distribution, double mean, double deviation, double probability);

struct NoiseComponent {
  double weight = 1; // of all components: 1 in sum
  double factor = 1; // of the expectation
  Distribution distribution = Distribution::normal;
  Expression deviation; // a time
};

class Noise
{
public:
  Noise() = default; // none
  explicit Noise(std::vector<NoiseComponent> components);

  // A duration around `mean` (seconds). `values` are those of the variables of the deviations. A deviation that is
  // negative or not finite makes the result NaN; failed() then tells which.
  [[nodiscard]] double draw(double mean, std::span<const double> values, Draws& draws) const;
  [[nodiscard]] const Expression* failed(std::span<const double> values) const;
  [[nodiscard]] bool none() const { return components_.empty(); }

private:
  std::vector<NoiseComponent> components_;
  double expectation_ = 1; // of the factors: what draws are divided by, so that the mixture's is the model's duration
};

} // namespace umwelt::kernels
