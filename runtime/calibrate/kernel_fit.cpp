// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/calibrate/kernel_fit.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/fitting/entry_text.h"

namespace umwelt::calibrate
{
namespace
{

void add_observations(KernelFit& fit, const KernelMeasurements& measurements, bool by_place)
{
  std::map<std::vector<double>, std::size_t> sizes;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string>, std::size_t> places;
  for (const MeasuredCall& call : measurements.calls) {
    FittedPlace place;
    if (by_place)
      place = {{call.place.node, call.place.socket, call.place.core, 0}, call.day};
    const auto [known, is_new] =
        places.try_emplace({place.place.node, place.place.socket, place.place.core, place.day}, places.size());
    if (is_new)
      fit.places.push_back(place);
    const auto number = sizes.try_emplace(call.sizes, sizes.size()).first->second;
    fit.observations.push_back({fit.terms.evaluate(call.sizes), call.duration, 1, number, known->second});
  }
}

std::vector<kernels::Residual> residuals(const KernelFit& fit, std::optional<std::size_t> place = {})
{
  std::vector<kernels::Residual> list;
  for (const kernels::Observation& one : fit.observations)
    if (!place || one.place == *place)
      list.push_back({fit.predict(one), one.duration});
  return list;
}

std::size_t wished_form(const KernelFit& fit, const std::string& name)
{
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fit.judged.size(); ++i) {
    names.push_back(fit.judged[i].form.name);
    if (names.back() != name)
      continue;
    if (!fit.judged[i].possible())
      throw UsageError(fmt::format("--model {}", name),
                       fmt::format("more different sizes of {} than its {} coefficients in each part of the "
                                   "measurements{}",
                                   fit.kernel->name, fit.judged[i].form.coefficients(),
                                   fit.by_place ? " and at each place" : ""),
                       "too few", "Measure more sizes, or leave --model out.");
    return i;
  }
  throw UsageError(fmt::format("--model {}", name),
                   fmt::format("a model of {}: {}", fit.kernel->name, fmt::join(names, ", ")), "another one",
                   "Leave --model out: the best one is taken.");
}

bool returns_something(const kernels::KernelFunction& kernel)
{
  return std::any_of(kernel.spellings.begin(), kernel.spellings.end(),
                     [](const kernels::Spelling& spelling) { return spelling.signature.result().has_value(); });
}

std::size_t different_sizes(const KernelFit& fit)
{
  std::size_t most = 0;
  for (const kernels::Observation& one : fit.observations)
    most = std::max(most, one.sizes + 1);
  return most;
}

std::string percent(double part)
{
  return fmt::format("{:.2f} %", 100 * part);
}

} // namespace

KernelFit fit_kernel(const KernelMeasurements& measurements, const FitWishes& wishes)
{
  KernelFit fit{measurements.kernel, kernels::Terms(measurements.kernel)};
  const bool by_place = measurements.node && !wishes.pooled;
  add_observations(fit, measurements, by_place);
  fit.by_place = by_place;
  fit.socket = by_place && measurements.socket;
  fit.core = by_place && measurements.core;
  fit.day = by_place && measurements.day;
  for (const kernels::Form& form : kernels::forms(fit.terms))
    fit.judged.push_back(kernels::judge(form, fit.observations, fit.places.size(), wishes.seed));
  fit.chosen = wishes.model.empty() ? kernels::choose(fit.judged) : wished_form(fit, wishes.model);
  fit.scatter = kernels::scatter_of(residuals(fit));
  return fit;
}

std::string fit_text(const KernelFit& fit)
{
  std::string text = fmt::format("{}: {} calls, {} sizes{}\n  {:<12} {:>12} {:>12} {:>12}\n", fit.kernel->name,
                                 fit.observations.size(), different_sizes(fit),
                                 fit.by_place ? fmt::format(", {} places", fit.places.size()) : "", "model",
                                 "coefficients", "off", "sizes unseen");
  for (std::size_t i = 0; i < fit.judged.size(); ++i) {
    const kernels::Judged& one = fit.judged[i];
    if (one.possible())
      text += fmt::format("{} {:<12} {:>12} {:>12} {:>12}\n", i == fit.chosen ? "*" : " ", one.form.name,
                          one.form.coefficients(), percent(one.error), percent(one.validated));
    else
      text += fmt::format("  {:<12} {:>12} {:>12} {:>12}\n", one.form.name, one.form.coefficients(), "-", "too few");
  }
  return text + fmt::format("  noise: {}\n", fit.scatter.text());
}

std::string parameter_csv(const KernelFit& fit)
{
  std::string text =
      fmt::format("node,{}{}{}{}\n", fit.socket ? "socket," : "", fit.core ? "core," : "", fit.day ? "day," : "",
                  fmt::join(kernels::coefficient_columns(fit.terms, fit.model().form, fit.scatter), ","));
  for (std::size_t i = 0; i < fit.places.size(); ++i) {
    const auto& [place, day] = fit.places[i];
    text += fmt::format("{},", place.node);
    if (fit.socket)
      text += fmt::format("{},", place.socket);
    if (fit.core)
      text += fmt::format("{},", place.core);
    if (fit.day)
      text += day + ",";
    const kernels::Coefficients& coefficients = fit.model().places[i];
    text += fmt::format("{:.6g}", fmt::join(coefficients.values, ","));
    if (fit.model().form.split)
      text += fmt::format(",{:.6g}", coefficients.split);
    if (!fit.scatter.none)
      text += fmt::format(",{:.4g}", kernels::deviation_of(residuals(fit, i), fit.scatter.grows));
    text += '\n';
  }
  return text;
}

std::string fit_entry(const KernelFit& fit, const std::string& action, const std::string& table)
{
  kernels::EntryText entry;
  entry.name = fit.kernel->name;
  entry.terms = &fit.terms;
  entry.model = &fit.model();
  entry.scatter = fit.scatter;
  entry.table = fit.by_place ? table : "";
  entry.draw = fit.day ? "row" : "";
  entry.action = action;
  entry.comments.push_back(fmt::format("{} calls of {} sizes; {}: off by {}, {} at sizes it has not seen; noise {}",
                                       fit.observations.size(), different_sizes(fit), fit.model().form.name,
                                       percent(fit.model().error), percent(fit.model().validated), fit.scatter.text()));
  if (action == "skip" && returns_something(*fit.kernel)) {
    entry.action = "model";
    entry.comments.emplace_back("It returns a value, so it runs; to skip it, say what it returns (returns: ...).");
  }
  return entry.text();
}

std::string fit_script(const KernelFit& fit)
{
  const auto work = fit.terms.work();
  std::string script = "set terminal svg size 720,600 font 'sans-serif,13' name 'figure'\nset encoding utf8\n"
                       "$calls << EOD\n";
  for (const kernels::Observation& one : fit.observations) {
    const double predicted = fit.predict(one);
    script += fmt::format("{:.6g} {:.6g} {:.6g} {:.3f}\n", work ? std::max(one.terms[*work], 1.0) : 1.0,
                          1e6 * one.duration, 1e6 * predicted, 100 * (predicted / one.duration - 1));
  }
  const std::string unit = work ? fit.terms.texts()[*work] : "calls";
  script += fmt::format("EOD\nset multiplot\nset lmargin 9\nset rmargin 2\nset grid lc rgb '#dddddd'\n"
                        "set logscale x\nset format x ''\nset logscale y\nset ylabel 'us per call'\nset key top left\n"
                        "set title '{}, {}' noenhanced\n"
                        "set origin 0,0.37\nset size 1,0.63\nset bmargin 0.5\n"
                        "plot $calls using 1:2 with points pt 7 ps 0.4 lc rgb 'black' title 'measured', "
                        "$calls using 1:3 with points pt 1 ps 0.5 lc rgb '#0060ad' title 'fitted'\n"
                        "unset title\nunset key\nunset logscale y\nset ylabel '% off'\nset format x '10^{{%L}}'\n"
                        "set xlabel '{}'\nset origin 0,0\nset size 1,0.37\nset tmargin 0.5\nunset bmargin\n"
                        "set xzeroaxis lc rgb 'black'\n"
                        "plot $calls using 1:4 with points pt 7 ps 0.4 lc rgb '#0060ad'\nunset multiplot\n",
                        fit.kernel->name, fit.model().form.name == "M'" ? "piecewise" : fit.model().form.name, unit);
  return script;
}

} // namespace umwelt::calibrate
