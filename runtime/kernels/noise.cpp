// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>

namespace umwelt::kernels
{
namespace
{

using namespace boost::math::policies;
// In double precision, without exceptions: what does not converge is infinite or NaN, and that is an error of the
// model.
using Policy = policy<promote_double<false>, domain_error<ignore_error>, pole_error<ignore_error>,
                      overflow_error<ignore_error>, evaluation_error<ignore_error>>;

constexpr std::array<std::string_view, 4> names{"normal", "half_normal", "log_normal", "gamma"};

} // namespace

double standard_normal_quantile(double probability)
{
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability, Policy());
}

std::span<const std::string_view> distribution_names()
{
  return names;
}

std::optional<Distribution> find_distribution(std::string_view name)
{
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    return std::nullopt;
  return static_cast<Distribution>(found - names.begin());
}

double quantile(Distribution distribution, double mean, double deviation, double probability)
{
  if (deviation == 0)
    return mean;
  switch (distribution) {
  case Distribution::normal:
    return std::max(mean + deviation * standard_normal_quantile(probability), 0.0);
  case Distribution::half_normal: {
    // |Z| has the expectation sqrt(2/pi) and the variance 1 - 2/pi.
    const double expectation = std::sqrt(2 / std::numbers::pi);
    const double spread = std::sqrt(1 - 2 / std::numbers::pi);
    const double half = std::numbers::sqrt2 * boost::math::erf_inv(probability, Policy());
    return std::max(mean + deviation * (half - expectation) / spread, 0.0);
  }
  case Distribution::log_normal: {
    if (mean == 0)
      return 0;
    const double relative = deviation / mean;
    const double variance = std::log1p(relative * relative);
    return mean * std::exp(std::sqrt(variance) * standard_normal_quantile(probability) - variance / 2);
  }
  case Distribution::gamma: {
    if (mean == 0)
      return 0;
    const double relative = deviation / mean;
    // Beyond this shape (10^8) it is normal to 4 digits of its deviation, and the iteration gets slow.
    if (relative < 1e-4)
      return mean + deviation * standard_normal_quantile(probability);
    const double shape = 1 / (relative * relative);
    return mean / shape * boost::math::gamma_p_inv(shape, probability, Policy());
  }
  }
  return mean;
}

Noise::Noise(std::vector<NoiseComponent> components) : components_(std::move(components))
{
  expectation_ = 0;
  for (const NoiseComponent& component : components_)
    expectation_ += component.weight * component.factor;
}

double Noise::draw(double mean, std::span<const double> values, Draws& draws) const
{
  if (components_.empty())
    return mean;
  const NoiseComponent* chosen = &components_.back();
  if (components_.size() > 1) {
    double left = draws.uniform();
    for (const NoiseComponent& component : components_) {
      left -= component.weight;
      if (left < 0) {
        chosen = &component;
        break;
      }
    }
  }
  const double deviation = chosen->deviation.evaluate(values);
  if (!std::isfinite(deviation) || deviation < 0)
    return std::numeric_limits<double>::quiet_NaN();
  return quantile(chosen->distribution, mean * chosen->factor / expectation_, deviation, draws.uniform());
}

const Expression* Noise::failed(std::span<const double> values) const
{
  for (const NoiseComponent& component : components_) {
    const double deviation = component.deviation.evaluate(values);
    if (!std::isfinite(deviation) || deviation < 0)
      return &component.deviation;
  }
  return nullptr;
}

} // namespace umwelt::kernels
