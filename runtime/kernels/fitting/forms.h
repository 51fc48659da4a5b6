// SPDX-License-Identifier: LGPL-2.1-or-later
// Forms of a model of durations, how well each fits what was measured, and which is to be taken. The names M-0, M-1,
// M-2 and M' are those of T. Cornebize and A. Legrand (README.md, "Models").
//
// Errors count relative to the duration, which the first fit takes from the measurement and later ones from the fit
// before: weights from the measurement alone would give short outcomes of the same call more weight than long ones, and
// the model would be too short. The form is chosen by cross-validation in which calls of equal sizes are left out
// together, so that a form is judged by sizes it has not seen; the simplest is taken whose error is not larger than the
// least one by more than the standard error of their difference (L. Breiman et al., "Classification and Regression
// Trees", 1984, 3.4.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/fitting/terms.h"

namespace umwelt::kernels
{

// A call that was measured, or several of the same sizes by their mean.
struct Observation {
  std::vector<double> terms; // their values, in the order of Terms::texts()
  double duration = 0;       // seconds
  double calls = 1;
  std::size_t sizes = 0; // the same number: the same sizes
  std::size_t place = 0; // node, socket and core; each has coefficients of its own
};

struct Form {
  std::string name;
  std::vector<std::size_t> terms;
  std::optional<std::size_t> split; // two pieces, one where this term is small, one where it is large

  [[nodiscard]] std::size_t coefficients() const { return split ? 2 * terms.size() + 1 : terms.size(); }
};

// M-0, M-1 by operations and by bytes, M-2, M', as far as the terms allow.
std::vector<Form> forms(const Terms& terms);

// Of a form at one place.
struct Coefficients {
  std::vector<double> values; // of Form::terms; of two pieces first those of the small one
  double split = 0;           // the term of Form::split where the second piece begins

  [[nodiscard]] double predict(const Form& form, std::span<const double> terms) const;
};

// nullopt: so few different sizes do not determine it.
std::optional<Coefficients> fit(const Form& form, std::span<const Observation> observations);

struct Judged {
  Form form;
  std::vector<Coefficients> places; // by Observation::place; empty: too few sizes
  double error = 0;                 // root of the mean square of ln(measured / predicted), of the fit to all
  double validated = std::numeric_limits<double>::infinity(); // of sizes that were left out
  std::vector<double> folds;                                  // mean squares of that, each

  [[nodiscard]] bool possible() const { return !places.empty(); }
};

// `places`: how many there are. Folds are drawn from `seed`.
Judged judge(const Form& form, const std::vector<Observation>& observations, std::size_t places, std::uint64_t seed);

// Index of the one to take. At least one must be possible.
std::size_t choose(std::span<const Judged> judged);

} // namespace umwelt::kernels
