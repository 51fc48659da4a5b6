// SPDX-License-Identifier: LGPL-2.1-or-later
// Which parameters make a model agree best with measurements, and how well the measurements determine them.
//
// Residuals are ln(model / measured), so that a microsecond and a millisecond, off by the same factor, count the same.
// Each benchmark has the same weight, whatever the number of its sizes. Outliers count less (Huber's weights,
// re-estimated a few times): a size that no parameter explains must not bend all others. Continuous parameters (times,
// bandwidths, fractions) are fitted by Levenberg and Marquardt's method (GSL). Sizes and counts are steps, where the
// slope says nothing: they are tried one after the other at the sizes that were measured, and the continuous ones
// fitted again.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "net_models/calibration/measurements.h"
#include "net_models/calibration/replay.h"
#include "runtime/base/parameters.h"

namespace umwelt::net
{

struct Experiment {
  const Benchmark* benchmark = nullptr;
  Series measured;
  std::set<std::uint64_t> held_out; // sizes that are judged but not fitted
};

struct FitProblem {
  std::string model;
  const platform::Platform* platform = nullptr; // of two nodes
  Parameters parameters;                        // start values, and those of all others
  std::vector<std::string> keys;                // to fit; empty: only judge
  std::vector<Experiment> experiments;
  std::uint32_t messages = 10'000; // per size, in benchmarks with many in flight
  unsigned starts = 1; // points from which to fit: the start values, then random ones within a factor of 2.5
  unsigned threads = 1;
};

struct FittedParameter {
  std::string key;
  ParameterKind kind = ParameterKind::time;
  std::string start; // as text with unit, like the next three
  std::string value;
  std::string low; // 95 % interval; of a step: the values between which the fit is as good
  std::string high;
  double relative_error = 0; // standard error over value; 0 for steps
  // weak: the interval reaches more than 25 % away from the value; none: no measurement depends on it, the start value
  // stays.
  enum class Determined { well, weak, none } determined = Determined::well;
};

struct Correlation {
  std::string first;
  std::string second;
  double coefficient = 0;
};

struct FitResult {
  std::vector<FittedParameter> fitted;   // in the order of FitProblem::keys
  std::vector<Correlation> correlations; // pairs above 0.9: only a combination of the two is well known
  Parameters parameters;                 // the problem's with the fitted values
  std::vector<Series> predicted;         // of every size, by experiment
  unsigned evaluations = 0;              // of the whole model
  bool converged = true;
};

// Throws std::invalid_argument for a key that the model does not have or that cannot be fitted, and what make_model
// throws. `tell` is called with a line of text now and then.
FitResult fit(const FitProblem& problem, const std::function<void(const std::string&)>& tell);

// Keys of a model that are fitted if nobody says which; empty for models without such a list.
std::vector<std::string> usual_keys(std::string_view model);

} // namespace umwelt::net
