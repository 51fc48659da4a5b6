// SPDX-License-Identifier: LGPL-2.1-or-later
// How measured durations scatter around what a model predicts: the distribution (noise.h) under which they are
// likeliest, with a standard deviation that is constant (N-1) or grows with the duration (N-2).
#pragma once

#include <span>
#include <string>

#include "runtime/kernels/noise.h"

namespace umwelt::kernels
{

struct Scatter {
  bool none = true; // too little to tell, or nothing
  Distribution distribution = Distribution::normal;
  bool grows = false;   // `deviation` is a fraction of the duration; else seconds
  double deviation = 0; // of all places

  // "half-normal N-2, 2.1 %"
  [[nodiscard]] std::string text() const;
};

struct Residual {
  double predicted;
  double measured;
};

// Logarithm of the density of `measured`. Of a distribution that ends somewhere (half-normal) one outcome beyond would
// rule it out, however many speak for it: one in a hundred may come from a normal one, three times as wide.
double log_density(Distribution distribution, double mean, double deviation, double measured);

Scatter scatter_of(std::span<const Residual> residuals);

// The standard deviation alone, of that kind.
double deviation_of(std::span<const Residual> residuals, bool grows);

} // namespace umwelt::kernels
