// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/model_reader.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"
#include "runtime/kernels/parameter_reader.h"

namespace umwelt::kernels
{
namespace
{

// The names an expression may have, and what each is.
struct Names {
  std::vector<std::string> variables;
  std::vector<std::uint8_t> times;
  std::string unknown;

  Expression time(const Item& item) const
  {
    Expression expression(item.text(), variables, item.object, unknown);
    require_time(expression, times);
    if (expression.used().empty()) {
      const double value = expression.evaluate({});
      if (!std::isfinite(value) || value < 0)
        throw UsageError(item.object, "a time that is not negative", in_quotes(expression.text()), "For example: 2us");
    }
    return expression;
  }

  Expression condition(const Item& item) const
  {
    Expression expression(item.text(), variables, item.object, unknown);
    require_number(expression, "a condition", times);
    return expression;
  }
};

std::vector<Piece> read_pieces(const Section& section, const Item& list, const Names& names)
{
  std::vector<Piece> pieces;
  bool closed = false;
  for (const Item& item : list.list()) {
    Section part = section.inner(item, "pieces");
    if (closed)
      throw UsageError(part.object(), "'otherwise' as the last item", "an item behind it", "Move it to the end.");
    const auto otherwise = part.find("otherwise");
    const auto when = part.find("when");
    const auto duration = part.find("duration");
    part.finish();
    if (otherwise && !when && !duration) {
      pieces.push_back({std::nullopt, names.time(*otherwise)});
      closed = true;
    } else if (when && duration && !otherwise) {
      std::optional<Expression> condition = names.condition(*when);
      pieces.push_back({std::move(condition), names.time(*duration)});
    } else {
      throw UsageError(part.object(), "'when' and 'duration', or 'otherwise' alone", "something else",
                       "For example: - {when: N < 100, duration: 1us}");
    }
  }
  if (!closed)
    throw UsageError(list.object, "'otherwise: DURATION' as the last item", "none",
                     "It says what holds where no condition does.");
  return pieces;
}

NoiseComponent read_component(Section& section, const Item& distribution, const Names& names)
{
  const auto kind = static_cast<Distribution>(read_choice(distribution, distribution_names()));
  return {1, 1, kind, names.time(section.require("sd", "The standard deviation, for example: sd: 0.02 * duration"))};
}

Noise read_noise(const Section& kernel, const Item& item, const Names& names)
{
  if (item.node.IsScalar()) {
    constexpr std::array<std::string_view, 1> none{"none"};
    read_choice(item, none);
    return {};
  }
  Section section = kernel.inner(item, "noise");
  std::vector<NoiseComponent> components;
  constexpr std::string_view next = "One of normal half_normal log_normal gamma, or mixture.";
  const Item distribution = section.require("distribution", next);
  if (distribution.text() != "mixture") {
    components.push_back(read_component(section, distribution, names));
    section.finish();
    return Noise(std::move(components));
  }
  const Item list = section.require("components", "For example: - {weight: 0.99, distribution: normal, sd: 1us}");
  double sum = 0;
  for (const Item& part : list.list()) {
    Section inner = section.inner(part, "components");
    const double weight = read_fraction(inner.require("weight", "The part of the calls, for example: weight: 0.01"));
    const auto factor = inner.find("factor");
    components.push_back(read_component(inner, inner.require("distribution", next), names));
    components.back().weight = weight;
    if (factor)
      components.back().factor = read_factor(factor->object, factor->text());
    inner.finish();
    sum += weight;
  }
  constexpr double rounding = 1e-6;
  if (std::abs(sum - 1) > rounding)
    throw UsageError(list.object, "weights of 1 in sum", fmt::format("{:g}", sum), "Correct the weights.");
  section.finish();
  return Noise(std::move(components));
}

} // namespace

Model read_model(Section& section, const std::string& kernel, const std::vector<std::string>& variables,
                 std::string_view unknown, std::uint64_t seed)
{
  PlaceParameters parameters;
  if (const auto item = section.find("parameters"))
    parameters = read_place_parameters(section.inner(*item, "parameters"), variables);

  Names names{variables, std::vector<std::uint8_t>(variables.size()), std::string(unknown)};
  names.variables.insert(names.variables.end(), parameters.names().begin(), parameters.names().end());
  names.times.insert(names.times.end(), parameters.times().begin(), parameters.times().end());
  if (parameters.table())
    for (const ParameterTable::Refused& column : parameters.table()->refused())
      names.unknown += fmt::format("{}{} is no parameter: {} is no number.", names.unknown.empty() ? "" : " ",
                                   column.object, in_quotes(column.cell));

  const auto duration = section.find("duration");
  const auto list = section.find("pieces");
  if (duration && list)
    throw UsageError(list->object, "either a duration or pieces", "both", "Remove one of them.");
  if (!duration && !list)
    throw UsageError(section.object(), "a line 'duration: ...' or 'pieces:'", "none",
                     "For example: duration: 2us + 7e-11 s * M * N * K");
  std::vector<Piece> pieces;
  if (list)
    pieces = read_pieces(section, *list, names);
  else
    pieces.push_back({std::nullopt, names.time(*duration)});

  names.variables.emplace_back("duration");
  names.times.push_back(1);
  Noise noise;
  if (const auto item = section.find("noise"))
    noise = read_noise(section, *item, names);
  return {kernel, variables, std::move(pieces), std::move(parameters), std::move(noise), seed};
}

} // namespace umwelt::kernels
