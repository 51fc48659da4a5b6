// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/fitting/forms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "runtime/kernels/fitting/non_negative.h"

namespace umwelt::kernels
{
namespace
{

constexpr std::size_t fold_count = 5;
constexpr std::size_t most_splits = 40; // tried
constexpr int passes = 4;
constexpr double worst = 5; // a logarithm of the ratio beyond it says no more

std::vector<double> row_of(const Form& form, const Observation& observation)
{
  std::vector<double> row;
  row.reserve(form.terms.size());
  for (const std::size_t term : form.terms)
    row.push_back(observation.terms[term]);
  return row;
}

double dot(std::span<const double> row, std::span<const double> coefficients)
{
  return std::inner_product(row.begin(), row.end(), coefficients.begin(), 0.0);
}

using Rows = std::span<const Observation* const>;

std::vector<double> fit_piece(const Form& form, Rows rows, int times)
{
  std::vector<double> coefficients;
  for (int pass = 0; pass < times; ++pass) {
    NormalEquations equations(form.terms.size());
    for (const Observation* one : rows) {
      const std::vector<double> row = row_of(form, *one);
      const double predicted = pass == 0 ? 0 : dot(row, coefficients);
      const double expected = predicted > 0 ? predicted : one->duration;
      if (expected > 0)
        equations.add(row, one->duration, one->calls / (expected * expected));
    }
    coefficients = equations.solve();
  }
  return coefficients;
}

std::size_t different_sizes(Rows rows)
{
  std::set<std::size_t> sizes;
  for (const Observation* one : rows)
    sizes.insert(one->sizes);
  return sizes.size();
}

double logarithm_squared(double measured, double predicted)
{
  const double ratio = predicted > 0 && measured > 0 ? std::abs(std::log(measured / predicted)) : worst;
  return std::min(ratio, worst) * std::min(ratio, worst);
}

double squares(const Form& form, const std::vector<double>& coefficients, Rows rows)
{
  double sum = 0;
  for (const Observation* one : rows)
    sum += one->calls * logarithm_squared(one->duration, dot(row_of(form, *one), coefficients));
  return sum;
}

std::optional<Coefficients> fit_two(const Form& form, std::vector<const Observation*> rows)
{
  const std::size_t term = form.split.value();
  std::stable_sort(rows.begin(), rows.end(),
                   [term](const Observation* a, const Observation* b) { return a->terms[term] < b->terms[term]; });
  // Where the second piece may begin: each has to have one value of the term more than coefficients.
  std::vector<std::size_t> begins;
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i]->terms[term] > rows[i - 1]->terms[term])
      begins.push_back(i);
  const std::size_t least = form.terms.size() + 1;
  if (begins.size() + 1 < 2 * least)
    return std::nullopt;
  const std::size_t first = least - 1;
  const std::size_t last = begins.size() - least;
  const std::size_t tried = std::min(most_splits, last - first + 1);
  std::size_t best = begins[first];
  double least_squares = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < tried; ++i) {
    const std::size_t begin = begins[first + i * (last - first) / std::max<std::size_t>(tried - 1, 1)];
    const Rows small(rows.data(), begin);
    const Rows large(rows.data() + begin, rows.size() - begin);
    const double sum =
        squares(form, fit_piece(form, small, 1), small) + squares(form, fit_piece(form, large, 1), large);
    if (sum < least_squares) {
      least_squares = sum;
      best = begin;
    }
  }
  Coefficients result;
  result.values = fit_piece(form, Rows(rows.data(), best), passes);
  const std::vector<double> large = fit_piece(form, Rows(rows.data() + best, rows.size() - best), passes);
  result.values.insert(result.values.end(), large.begin(), large.end());
  result.split = std::sqrt(rows[best - 1]->terms[term] * rows[best]->terms[term]);
  if (result.split <= rows[best - 1]->terms[term])
    result.split = rows[best]->terms[term];
  return result;
}

std::optional<Coefficients> fit_rows(const Form& form, const std::vector<const Observation*>& rows)
{
  if (form.split)
    return fit_two(form, rows);
  // As many sizes as coefficients are met exactly and say nothing of the form; a constant needs no second one.
  if (rows.empty() || (form.terms.size() > 1 && different_sizes(rows) <= form.terms.size()))
    return std::nullopt;
  return Coefficients{fit_piece(form, rows, passes), 0};
}

// The coefficients of each place from observations for which `in` holds; nothing if one of them has too few.
template <class In>
std::vector<Coefficients> fit_places(const Form& form, const std::vector<Observation>& observations, std::size_t places,
                                     In in)
{
  std::vector<std::vector<const Observation*>> rows(places);
  for (const Observation& one : observations)
    if (in(one))
      rows[one.place].push_back(&one);
  std::vector<Coefficients> result;
  for (const auto& of_place : rows) {
    auto fitted = fit_rows(form, of_place);
    if (!fitted)
      return {};
    result.push_back(std::move(*fitted));
  }
  return result;
}

// Mean square over the observations for which `in` holds.
template <class In>
double mean_square(const Form& form, const std::vector<Coefficients>& places,
                   const std::vector<Observation>& observations, In in)
{
  double sum = 0;
  double calls = 0;
  for (const Observation& one : observations) {
    if (!in(one))
      continue;
    sum += one.calls * logarithm_squared(one.duration, places[one.place].predict(form, one.terms));
    calls += one.calls;
  }
  return calls > 0 ? sum / calls : 0;
}

// Which fold the calls of each size are in.
std::map<std::size_t, std::size_t> deal(const std::vector<Observation>& observations, std::uint64_t seed)
{
  std::set<std::size_t> different;
  for (const Observation& one : observations)
    different.insert(one.sizes);
  std::vector<std::size_t> sizes(different.begin(), different.end());
  std::mt19937_64 generator(seed);
  for (std::size_t i = sizes.size(); i > 1; --i) // std::shuffle differs between libraries
    std::swap(sizes[i - 1], sizes[generator() % i]);
  std::map<std::size_t, std::size_t> folds;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    folds[sizes[i]] = i % fold_count;
  return folds;
}

} // namespace

std::vector<Form> forms(const Terms& terms)
{
  std::vector<Form> list{{"M-0", {0}, {}}};
  const auto work = terms.work();
  if (!work)
    return list;
  list.push_back({"M-1", {0, *work}, {}});
  if (terms.bytes())
    list.push_back({"M-1 bytes", {0, *terms.bytes()}, {}});
  if (!terms.surfaces().empty()) {
    Form polynomial{"M-2", {0, *work}, {}};
    polynomial.terms.insert(polynomial.terms.end(), terms.surfaces().begin(), terms.surfaces().end());
    list.push_back(std::move(polynomial));
  }
  list.push_back({"M'", {0, *work}, work});
  return list;
}

double Coefficients::predict(const Form& form, std::span<const double> terms) const
{
  std::size_t at = form.split && terms[*form.split] >= split ? form.terms.size() : 0;
  double sum = 0;
  for (const std::size_t term : form.terms)
    sum += values[at++] * terms[term];
  return sum;
}

std::optional<Coefficients> fit(const Form& form, std::span<const Observation> observations)
{
  std::vector<const Observation*> rows;
  for (const Observation& one : observations)
    rows.push_back(&one);
  return fit_rows(form, rows);
}

Judged judge(const Form& form, const std::vector<Observation>& observations, std::size_t places, std::uint64_t seed)
{
  Judged judged{form, fit_places(form, observations, places, [](const Observation&) { return true; })};
  if (!judged.possible())
    return judged;
  judged.error = std::sqrt(mean_square(form, judged.places, observations, [](const Observation&) { return true; }));
  const std::map<std::size_t, std::size_t> folds = deal(observations, seed);
  const std::size_t count = std::min(fold_count, folds.size());
  if (count < 2) {
    judged.validated = judged.error;
    return judged;
  }
  for (std::size_t fold = 0; fold < count; ++fold) {
    const auto left_out = [&](const Observation& one) { return folds.at(one.sizes) == fold; };
    const auto seen = [&](const Observation& one) { return folds.at(one.sizes) != fold; };
    const std::vector<Coefficients> fitted = fit_places(form, observations, places, seen);
    if (fitted.empty()) { // sizes for all, but not for a part
      judged.folds.clear();
      judged.places.clear();
      return judged;
    }
    judged.folds.push_back(mean_square(form, fitted, observations, left_out));
  }
  judged.validated = std::sqrt(std::accumulate(judged.folds.begin(), judged.folds.end(), 0.0) /
                               static_cast<double>(judged.folds.size()));
  return judged;
}

std::size_t choose(std::span<const Judged> judged)
{
  const auto least = std::min_element(judged.begin(), judged.end(),
                                      [](const Judged& a, const Judged& b) { return a.validated < b.validated; });
  auto best = static_cast<std::size_t>(least - judged.begin());
  const auto worse_by_chance = [&](const Judged& one) {
    const std::size_t n = one.folds.size();
    if (n < 2 || n != least->folds.size())
      return one.validated <= least->validated;
    double mean = 0;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      mean += (one.folds[i] - least->folds[i]) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i)
      sum += std::pow(one.folds[i] - least->folds[i] - mean, 2);
    return mean <= std::sqrt(sum / static_cast<double>(n * (n - 1)));
  };
  for (std::size_t i = 0; i < judged.size(); ++i)
    if (judged[i].possible() && judged[i].form.coefficients() < judged[best].form.coefficients() &&
        worse_by_chance(judged[i]))
      best = i;
  return best;
}

} // namespace umwelt::kernels
