// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/repetitions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <boost/math/distributions/binomial.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/observe/format.h"

namespace umwelt::observe
{
namespace
{

using Json = nlohmann::ordered_json;

// A figure of a run, in ps of simulated time.
struct Figure {
  std::string_view name; // in the report
  bool of_ranks;         // the mean of all
};

constexpr auto figures = std::to_array<Figure>(
    {{"simulated_ps", false}, {"compute_ps", true}, {"communication_ps", true}, {"waiting_ps", true}});

double value_of(const Figure& figure, const Json& report)
{
  if (!figure.of_ranks)
    return report.at(figure.name).get<double>();
  const Json& ranks = report.at("ranks");
  double sum = 0;
  for (const Json& rank : ranks)
    sum += rank.at(figure.name).get<double>();
  return sum / std::max(1.0, static_cast<double>(ranks.size()));
}

std::vector<Json> parse(std::span<const std::string> reports)
{
  std::vector<Json> runs;
  for (const std::string& report : reports)
    runs.push_back(Json::parse(report));
  return runs;
}

// Those that have come to their end.
std::vector<Json> complete(std::vector<Json> runs)
{
  std::erase_if(runs, [](const Json& run) { return run.at("exit_code") != 0; });
  return runs;
}

Interval of_runs(const Figure& figure, const std::vector<Json>& runs)
{
  std::vector<double> values;
  values.reserve(runs.size());
  for (const Json& run : runs)
    values.push_back(value_of(figure, run));
  return interval_of(std::move(values));
}

std::string show(double picoseconds)
{
  return show_time(static_cast<sim::SimTime>(picoseconds));
}

} // namespace

Interval interval_of(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const boost::math::binomial_distribution<double> below(static_cast<double>(count), 0.5);
  const auto confidence = [&below](std::size_t left_out) { // at either end
    return std::max(0.0, 1 - 2 * cdf(below, static_cast<double>(left_out)));
  };
  std::size_t left_out = 0;
  while (2 * (left_out + 1) < count && confidence(left_out + 1) >= wanted_confidence)
    ++left_out;
  const double median = (values[(count - 1) / 2] + values[count / 2]) / 2;
  return {median, values[left_out], values[count - 1 - left_out], count == 1 ? 0 : confidence(left_out)};
}

std::string run_text(const std::string& report)
{
  const Json run = Json::parse(report);
  std::string text =
      fmt::format("{}, simulated {}", run.at("ending").get<std::string>(), show(run.at("simulated_ps").get<double>()));
  if (run.contains("host")) // else it is the same on every one
    text += fmt::format(", wall clock {}", show_seconds(run["host"].at("wall_seconds").get<double>()));
  return text;
}

std::string repetitions_text(std::span<const std::string> reports)
{
  const std::vector<Json> runs = complete(parse(reports));
  if (runs.size() < 2)
    return {};
  const Interval simulated = of_runs(figures.front(), runs);
  std::string text = fmt::format("umwelt: {} runs\n  {:<16}{:>10}  {:>10} to {:>10} ({:.1f} % confidence)\n",
                                 runs.size(), "", "median", "low", "high", 100 * simulated.confidence);
  for (const Figure& figure : figures) {
    const Interval of_figure = of_runs(figure, runs);
    text += fmt::format("  {:<16}{:>10}  {:>10} to {:>10}\n", figure.name.substr(0, figure.name.rfind('_')),
                        show(of_figure.median), show(of_figure.low), show(of_figure.high));
  }
  if (runs.front().at("ranks").size() > 1)
    text += "  (compute, communication, waiting: mean of the ranks)\n";
  return text;
}

std::string repetitions_json(std::span<const std::string> reports)
{
  const std::vector<Json> runs = parse(reports);
  Json json;
  json["report_version"] = runs.front().at("report_version");
  const std::vector<Json> counted = complete(runs);
  json["repetitions"] = counted.size();
  if (!counted.empty()) {
    json["confidence"] = of_runs(figures.front(), counted).confidence;
    for (const Figure& figure : figures) {
      const Interval interval = of_runs(figure, counted);
      json[figure.name] = {{"median", interval.median}, {"low", interval.low}, {"high", interval.high}};
    }
  }
  json["runs"] = runs;
  return json.dump(2) + "\n";
}

} // namespace umwelt::observe
