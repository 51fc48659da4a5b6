// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/model.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "preload/abi/time_units.h"
#include "runtime/base/usage_error.h"

namespace umwelt::kernels
{

Model::Model(std::string kernel, std::vector<std::string> variables, std::vector<Piece> pieces,
             PlaceParameters parameters, Noise noise, std::uint64_t seed)
    : kernel_(std::move(kernel)), names_(std::move(variables)), variables_(names_.size()), pieces_(std::move(pieces)),
      parameters_(std::move(parameters)), noise_(std::move(noise)), noise_key_(seed, kernel_, Purpose::noise),
      parameter_key_(seed, kernel_, Purpose::parameters)
{
  assert(!pieces_.empty() && !pieces_.back().when);
  names_.insert(names_.end(), parameters_.names().begin(), parameters_.names().end());
  names_.emplace_back("duration");
  values_.resize(names_.size());
}

sim::SimTime Model::duration(const Place& place, std::span<const double> values, std::uint64_t call) const
{
  assert(values.size() >= variables_);
  std::copy_n(values.begin(), variables_, values_.begin());
  const std::span<const double> parameters = parameters_.at(place, parameter_key_);
  std::copy(parameters.begin(), parameters.end(), values_.begin() + static_cast<std::ptrdiff_t>(variables_));

  const Piece* piece = pieces_.data();
  while (piece->when) {
    const double holds = piece->when->evaluate(values_);
    if (std::isnan(holds))
      refuse(*piece->when, holds, place);
    if (holds != 0)
      break;
    ++piece;
  }
  const double mean = piece->duration.evaluate(values_);
  constexpr double longest = static_cast<double>(UMW_LAST_DATE_PS) * 1e-12;
  if (!(mean >= 0 && mean <= longest))
    refuse(piece->duration, mean, place);
  if (noise_.none())
    return sim::from_seconds(mean);
  values_.back() = mean;
  Draws draws(noise_key_, place.node, place.rank, call);
  const double seconds = noise_.draw(mean, values_, draws);
  if (std::isnan(seconds))
    if (const Expression* deviation = noise_.failed(values_))
      refuse(*deviation, deviation->evaluate(values_), place);
  if (!(seconds >= 0 && seconds <= longest))
    refuse(piece->duration, seconds, place);
  return sim::from_seconds(seconds);
}

void Model::refuse(const Expression& expression, double value, const Place& place) const
{
  const std::string with = assignments(names_, values_, expression.used());
  throw UsageError(expression.object(), "a finite value that is not negative, of times at most 93 days",
                   fmt::format("{:g} from {}{}", value, in_quotes(expression.text()),
                               with.empty() ? "" : fmt::format(" with {}", with)),
                   fmt::format("It was called so on node {}. Correct the expression or its parameters.", place.node));
}

std::string assignments(std::span<const std::string> names, std::span<const double> values,
                        std::span<const std::size_t> which)
{
  std::string text;
  for (const std::size_t index : which)
    text += fmt::format("{}{}={:g}", text.empty() ? "" : " ", names[index], values[index]);
  return text;
}

} // namespace umwelt::kernels
