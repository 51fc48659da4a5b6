// SPDX-License-Identifier: LGPL-2.1-or-later
// From measured calls of a kernel to what a kernels file says of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/calibrate/kernel_measurements.h"
#include "runtime/kernels/fitting/forms.h"
#include "runtime/kernels/fitting/scatter.h"

namespace umwelt::calibrate
{

struct FitWishes {
  std::string model;   // name of a form; empty: by cross-validation
  bool pooled = false; // one set of coefficients, though the measurements tell places apart
  std::uint64_t seed = 0;
};

// A row of the table of parameters.
struct FittedPlace {
  kernels::Place place;
  std::string day;
};

struct KernelFit {
  const kernels::KernelFunction* kernel;
  kernels::Terms terms;
  std::vector<kernels::Observation> observations;
  std::vector<kernels::Judged> judged;
  std::size_t chosen = 0; // of judged
  kernels::Scatter scatter;
  // More than one coefficient set: of each place, in the order of Observation::place. Which columns tell them apart:
  std::vector<FittedPlace> places;
  bool by_place = false, socket = false, core = false, day = false;

  [[nodiscard]] const kernels::Judged& model() const { return judged[chosen]; }
  [[nodiscard]] double predict(const kernels::Observation& observation) const
  {
    return model().places[observation.place].predict(model().form, observation.terms);
  }
};

// Throws UsageError if the wished model is none of the kernel, or has too few sizes.
KernelFit fit_kernel(const KernelMeasurements& measurements, const FitWishes& wishes);

// What has been compared, for people.
std::string fit_text(const KernelFit& fit);
// Coefficients of each place, as a kernels file reads them.
std::string parameter_csv(const KernelFit& fit);
// The entry of the kernels file; `action`: model or skip (of functions that return nothing; of others model).
// `table`: the file with parameter_csv(), if it is by place.
std::string fit_entry(const KernelFit& fit, const std::string& action, const std::string& table);
// What gnuplot is told: durations over the work, measured and predicted, and how far the model is off.
std::string fit_script(const KernelFit& fit);

} // namespace umwelt::calibrate
