// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/fitting/scatter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

namespace umwelt::kernels
{
namespace
{

double normal_density(double z)
{
  return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}

double density(Distribution distribution, double mean, double deviation, double x)
{
  if (distribution == Distribution::half_normal) {
    // As in noise.cpp: the least value is the mean's distance below it.
    const double scale = deviation / std::sqrt(1 - 2 / std::numbers::pi);
    const double z = (x - mean) / scale + std::sqrt(2 / std::numbers::pi);
    return z < 0 ? 0 : 2 * normal_density(z) / scale;
  }
  if (distribution == Distribution::log_normal) {
    if (x <= 0)
      return 0;
    const double variance = std::log1p(deviation * deviation / (mean * mean));
    const double z = (std::log(x / mean) + variance / 2) / std::sqrt(variance);
    return normal_density(z) / (x * std::sqrt(variance));
  }
  return normal_density((x - mean) / deviation) / deviation;
}

} // namespace

double log_density(Distribution distribution, double mean, double deviation, double measured)
{
  constexpr double other = 0.01;
  constexpr double wider = 3;
  const double all = (1 - other) * density(distribution, mean, deviation, measured) +
                     other * density(Distribution::normal, mean, wider * deviation, measured);
  return std::log(std::max(all, std::numeric_limits<double>::min()));
}

double deviation_of(std::span<const Residual> residuals, bool grows)
{
  double sum = 0;
  for (const Residual& one : residuals) {
    const double off = one.measured - one.predicted;
    sum += grows ? off / one.predicted * (off / one.predicted) : off * off;
  }
  return residuals.empty() ? 0 : std::sqrt(sum / static_cast<double>(residuals.size()));
}

Scatter scatter_of(std::span<const Residual> residuals)
{
  constexpr std::size_t least = 10;
  constexpr double nothing = 1e-6;
  const bool known = std::all_of(residuals.begin(), residuals.end(),
                                 [](const Residual& one) { return one.predicted > 0 && std::isfinite(one.predicted); });
  if (residuals.size() < least || !known || deviation_of(residuals, true) < nothing)
    return {};
  Scatter best;
  double highest = -std::numeric_limits<double>::infinity();
  for (const bool grows : {true, false}) {
    const double deviation = deviation_of(residuals, grows);
    for (const Distribution distribution :
         {Distribution::normal, Distribution::half_normal, Distribution::log_normal}) {
      double sum = 0;
      for (const Residual& one : residuals)
        sum += log_density(distribution, one.predicted, grows ? deviation * one.predicted : deviation, one.measured);
      if (sum > highest) {
        highest = sum;
        best = {false, distribution, grows, deviation};
      }
    }
  }
  return best;
}

std::string Scatter::text() const
{
  if (none)
    return "none";
  const auto index = static_cast<std::size_t>(distribution);
  std::string name(distribution_names()[index]);
  std::replace(name.begin(), name.end(), '_', '-');
  return grows ? fmt::format("{} N-2, {:.2g} %", name, 100 * deviation)
               : fmt::format("{} N-1, {:.3g} s", name, deviation);
}

} // namespace umwelt::kernels
