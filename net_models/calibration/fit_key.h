// SPDX-License-Identifier: LGPL-2.1-or-later
// A parameter that is fitted, as a number: its value, and the variable that the fit moves in its place.
#pragma once

#include <string>
#include <vector>

#include "net_models/calibration/fit.h"
#include "runtime/base/parameters.h"

namespace umwelt::net
{

// Sizes and counts: where the slope says nothing.
[[nodiscard]] bool is_step(ParameterKind kind);
// As the model reads it.
[[nodiscard]] std::string text_of(ParameterKind kind, double value);
// For people: six significant digits.
[[nodiscard]] std::string short_text(ParameterKind kind, double value);

// A parameter and the variable that is fitted in its place, 1 at the beginning: message times are nearly linear in it,
// and it takes any value. Times are proportional to it, bandwidths and fractions inversely. Its sign has no meaning.
struct FitKey {
  ParameterInfo info;
  double start = 0;
  double value = 0;
  double scale = 0; // value where the variable is 1
  [[nodiscard]] bool inverse() const
  {
    return info.kind == ParameterKind::bandwidth || info.kind == ParameterKind::fraction;
  }
  // The value where the variable is this.
  [[nodiscard]] double at(double variable) const;
};

// Of each.
[[nodiscard]] std::vector<double> values_of(const std::vector<FitKey>& keys);
// Of the problem's model, with its start value. Throws what fit() does.
[[nodiscard]] FitKey find_key(const FitProblem& problem, const std::string& key);

} // namespace umwelt::net
