// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/calibration/fit_key.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "net_models/catalogue.h"
#include "runtime/base/nearest.h"

namespace umwelt::net
{

namespace
{

// NAN: it is none.
double number(ParameterKind kind, const std::string& text)
{
  double value = 0;
  sim::SimTime time = 0;
  std::uint64_t whole = 0;
  switch (kind) {
  case ParameterKind::time:
    return parse_time(text, time) ? static_cast<double>(time) : NAN;
  case ParameterKind::bandwidth:
    return parse_bandwidth(text, value) ? value : NAN;
  case ParameterKind::size:
    return parse_size(text, whole) ? static_cast<double>(whole) : NAN;
  case ParameterKind::count:
    return parse_count(text, whole) ? static_cast<double>(whole) : NAN;
  case ParameterKind::fraction:
    return parse_fraction(text, value) ? value : NAN;
  case ParameterKind::number:
    return parse_number(text, value) ? value : NAN;
  case ParameterKind::flag:
  case ParameterKind::text:
    break;
  }
  return NAN;
}

} // namespace

bool is_step(ParameterKind kind)
{
  return kind == ParameterKind::size || kind == ParameterKind::count;
}

std::string text_of(ParameterKind kind, double value)
{
  switch (kind) {
  case ParameterKind::time:
    return fmt::format("{}ps", static_cast<sim::SimTime>(std::llround(value)));
  case ParameterKind::bandwidth:
    return fmt::format("{}B/s", value);
  case ParameterKind::size:
    return size_text(static_cast<std::uint64_t>(value));
  case ParameterKind::count:
    return fmt::format("{}", static_cast<std::uint64_t>(value));
  default:
    return fmt::format("{}", value);
  }
}

std::string short_text(ParameterKind kind, double value)
{
  const double scale = value > 0 ? std::pow(10, 5 - std::floor(std::log10(value))) : 1;
  const double rounded = is_step(kind) ? value : std::round(value * scale) / scale;
  if (kind == ParameterKind::time)
    return time_text(static_cast<sim::SimTime>(std::llround(rounded)));
  if (kind == ParameterKind::bandwidth)
    return bandwidth_text(rounded);
  return text_of(kind, kind == ParameterKind::fraction ? std::round(value * 1e6) / 1e6 : rounded);
}

double FitKey::at(double variable) const
{
  const double x = std::clamp(std::abs(variable), 1e-6, 1e6);
  const double result = inverse() ? scale / x : scale * x;
  return info.kind == ParameterKind::fraction ? std::min(result, 1.0) : result;
}

std::vector<double> values_of(const std::vector<FitKey>& keys)
{
  std::vector<double> values;
  values.reserve(keys.size());
  for (const FitKey& key : keys)
    values.push_back(key.value);
  return values;
}

FitKey find_key(const FitProblem& problem, const std::string& key)
{
  const auto entries = models();
  const auto model = std::find_if(entries.begin(), entries.end(),
                                  [&](const ModelEntry& entry) { return entry.name == problem.model; });
  if (model == entries.end())
    throw std::invalid_argument(fmt::format("model '{}': expected one of those `umwelt models` lists.", problem.model));
  std::vector<std::string> known;
  for (const ParameterInfo& info : model->parameters) {
    known.push_back(info.key);
    if (info.key != key)
      continue;
    if (info.kind == ParameterKind::flag || info.kind == ParameterKind::text)
      throw std::invalid_argument(fmt::format("--fit {}: expected a parameter with a number, got a {}. Set it with "
                                              "--nic {}=VALUE instead.",
                                              key, kind_name(info.kind), key));
    const auto& given = problem.parameters.values();
    const auto& machine = problem.platform->nic_properties();
    const auto own = given.find(key);
    const auto built_in = machine.find(key);
    const std::string start = own != given.end()          ? own->second.text
                              : built_in != machine.end() ? built_in->second
                                                          : info.standard;
    FitKey result{info, number(info.kind, start), 0};
    if (std::isnan(result.start)) { // the model says what is wrong with it
      sim::Timeline timeline;
      make_model(problem.model, {timeline, *problem.platform, nullptr}, problem.parameters);
    }
    if (result.start <= 0)
      throw std::invalid_argument(fmt::format("--fit {}: expected a start value above 0, got {}. Give one with --nic "
                                              "{}=VALUE.",
                                              key, start, key));
    result.value = result.start;
    return result;
  }
  const std::string_view guess = plausible(key, known);
  throw std::invalid_argument(fmt::format("--fit {}: model {} has no such parameter.{} `umwelt models` lists them.",
                                          key, problem.model,
                                          guess.empty() ? "" : fmt::format(" Did you mean '{}'?", guess)));
}

} // namespace umwelt::net
