// SPDX-License-Identifier: LGPL-2.1-or-later
// umwelt-calibrate, which `umwelt calibrate` starts: measurements of a NIC in, parameters of a model out; or those of
// functions (kernels_command.h). A program of its own, so that GSL (GPL-3 or later) is linked to nothing else.
// net_models/calibration/README.md shows an example.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "net_models/calibration/fit.h"
#include "net_models/calibration/plot.h"
#include "runtime/base/exit_codes.h"
#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"
#include "runtime/calibrate/kernels_command.h"
#include "runtime/observe/result_file.h"

namespace
{

using namespace umwelt;

struct Options {
  std::vector<std::string> measurements; // BENCHMARK=FILE
  std::vector<std::string> comparisons;  // NAME:BENCHMARK=FILE
  bool compare_only = false;
  std::string model = "bxi";
  std::string platform = "bxi";
  std::vector<std::string> keys;
  bool judge_only = false;
  std::vector<std::string> nic;
  std::vector<std::string> held_out;
  std::set<std::uint64_t> ranks;
  std::uint32_t messages = 10'000;
  unsigned starts = 1;
  std::string output;
  std::string plots;
  bool verbose = false;
};

void describe(CLI::App& app, Options& options)
{
  app.footer(
      "Benchmarks: put_waitack put_nowait put_waitsend get_waitreply get_nowait ack ct match reply (see `ptlbench "
      "--help`).\nExample: umwelt calibrate put_waitack=a.csv get_nowait=b.csv --output nic.conf --plots figures\n"
      "         umwelt run --nic @nic.conf ...\n"
      "Functions of BLAS and LAPACK: umwelt calibrate kernels --help");
  app.add_option("measurements", options.measurements,
                 "BENCHMARK=FILE: a CSV file as ptlbench writes it, or with the "
                 "columns 'size (B)' and 'time (us)'")
      ->required();
  app.add_option("--fit", options.keys,
                 "parameters to fit, separated by commas; default: those of the model that were fitted "
                 "for the shipped values")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--no-fit", options.judge_only, "fit nothing: only tell how far the model is off");
  app.add_option("--nic", options.nic, "KEY=VALUE or @FILE: start value of a fitted parameter, value of any other")
      ->allow_extra_args(false);
  app.add_option("--model", options.model, "network model; default bxi");
  app.add_option("--platform", options.platform, "simulated machine; its nodes 0 and 1 are used; default bxi");
  app.add_option("--rank", options.ranks,
                 "the initiator's rank, for files with lines of several ranks; several, separated by "
                 "commas, if it differs between files")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--hold-out", options.held_out,
                 "even, odd (every other size) or a BENCHMARK: judge these but do not fit them")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--messages", options.messages, "messages per size in put_nowait and get_nowait; default 10000")
      ->check(CLI::Range(100, 1'000'000));
  app.add_option("--starts", options.starts,
                 "fit from so many points, the start values and random ones around them, and keep the best; "
                 "default 1")
      ->check(CLI::Range(1, 1000));
  app.add_option("--output", options.output, "write the parameters to this file, for --nic @FILE");
  app.add_option("--plots", options.plots, "draw an SVG per benchmark into this directory (needs gnuplot)");
  app.add_option("--compare", options.comparisons,
                 "NAME:BENCHMARK=FILE: predictions of somebody else, for the table and the plots")
      ->allow_extra_args(false);
  app.add_flag("--compare-only", options.compare_only, "only these predictions, no model; a table in Markdown");
  app.add_flag("-v,--verbose", options.verbose, "also every size");
}

const net::Benchmark& known_benchmark(const std::string& name)
{
  if (const net::Benchmark* benchmark = net::find_benchmark(name))
    return *benchmark;
  std::vector<std::string> names;
  for (const net::Benchmark& benchmark : net::benchmarks())
    names.push_back(benchmark.name);
  const std::string_view guess = plausible(name, names);
  throw std::invalid_argument(fmt::format("benchmark '{}': expected one of {}.{}", name, fmt::join(names, " "),
                                          guess.empty() ? "" : fmt::format(" Did you mean '{}'?", guess)));
}

struct Source {
  const net::Benchmark* benchmark;
  std::string path;
};

Source read_source(const std::string& text)
{
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size())
    throw std::invalid_argument(
        fmt::format("'{}': expected BENCHMARK=FILE. For example put_waitack=measured.csv", text));
  return {&known_benchmark(text.substr(0, equals)), text.substr(equals + 1)};
}

std::vector<net::Experiment> read_measurements(const Options& options)
{
  std::vector<net::Experiment> experiments;
  for (const std::string& text : options.measurements) {
    const Source source = read_source(text);
    for (const net::Experiment& known : experiments)
      if (known.benchmark == source.benchmark)
        throw std::invalid_argument(fmt::format("{}: expected one file per benchmark, got a second one for {}. Put "
                                                "repetitions into one file.",
                                                text, source.benchmark->name));
    experiments.push_back({source.benchmark, net::load_series(source.path, options.ranks), {}});
  }
  return experiments;
}

void hold_out(const std::vector<std::string>& what, std::vector<net::Experiment>& experiments)
{
  for (const std::string& word : what) {
    const bool by_size = word == "even" || word == "odd";
    const net::Benchmark* benchmark = by_size ? nullptr : &known_benchmark(word);
    for (net::Experiment& experiment : experiments) {
      if (benchmark != nullptr && experiment.benchmark != benchmark)
        continue;
      bool even = true;
      for (const auto& [size, time] : experiment.measured) {
        if (!by_size || even == (word == "even"))
          experiment.held_out.insert(size);
        even = !even;
      }
    }
  }
}

Parameters read_parameters(const std::vector<std::string>& texts)
{
  Parameters parameters;
  for (const std::string& text : texts) {
    if (text.starts_with('@'))
      parameters.add_file(text.substr(1));
    else
      parameters.add(text, "--nic");
  }
  return parameters;
}

// ---- What comes out ----

std::string certainty(const net::FittedParameter& fitted)
{
  using Determined = net::FittedParameter::Determined;
  if (fitted.determined == Determined::none)
    return "no measurement depends on it: it stays";
  if (fitted.kind == ParameterKind::size || fitted.kind == ParameterKind::count)
    return fitted.low == fitted.high ? "no other fits as well"
                                     : fmt::format("{} to {} fit alike", fitted.low, fitted.high);
  const char* remark = fitted.determined == Determined::well ? ""
                       : fitted.relative_error > 1           ? " (not determined on its own)"
                                                             : " (weakly determined)";
  return fmt::format("{} to {}{}", fitted.low, fitted.high, remark);
}

void print_parameters(const net::FitResult& result)
{
  fmt::print("{:<18} {:>14} {:>14} {:>8}  {}\n", "parameter", "start", "value", "+-", "95 % interval");
  for (const net::FittedParameter& fitted : result.fitted)
    fmt::print("{:<18} {:>14} {:>14} {:>8}  {}\n", fitted.key, fitted.start, fitted.value,
               fitted.relative_error > 0 ? fmt::format("{:.1f} %", 100 * fitted.relative_error) : "",
               certainty(fitted));
  for (const net::Correlation& pair : result.correlations)
    fmt::print("warning: {} and {} are correlated ({:+.3f}): the measurements know {} better than each of them\n",
               pair.first, pair.second, pair.coefficient, pair.coefficient < 0 ? "their sum" : "their ratio");
  if (!result.converged)
    fmt::print("warning: the fit had not settled when it was stopped; start again from these values\n");
}

net::Series part(const net::Experiment& experiment, bool held_out)
{
  net::Series series;
  for (const auto& [size, time] : experiment.measured)
    if (experiment.held_out.contains(size) == held_out)
      series[size] = time;
  return series;
}

// What somebody predicts, the model among others.
struct Predictor {
  std::string name;
  std::map<const net::Benchmark*, net::Series> series;
};

std::string percent(const net::Series& predicted, const net::Series& measured)
{
  return measured.empty() ? std::string("-") : fmt::format("{:.2f} %", 100 * net::mean_error(predicted, measured));
}

void print_sizes(const net::Experiment& experiment, const net::Series& model)
{
  for (const auto& [size, time] : experiment.measured)
    fmt::print("  {:>9} B  measured {:>11.4f} us  model {:>11.4f} us  {:>+6.1f} %{}\n", size, time, model.at(size),
               100 * (model.at(size) / time - 1), experiment.held_out.contains(size) ? "  held out" : "");
}

// The first predictor is the model.
void print_errors(const Options& options, const std::vector<net::Experiment>& experiments,
                  const std::vector<Predictor>& predictors)
{
  const bool held_out = !options.held_out.empty();
  fmt::print("{:<14} {:>6} {:>9}", "benchmark", "sizes", predictors.front().name);
  if (held_out)
    fmt::print(" {:>9}", "held out");
  for (std::size_t i = 1; i < predictors.size(); ++i)
    fmt::print(" {:>9}", predictors[i].name);
  fmt::print("\n");
  for (const net::Experiment& experiment : experiments) {
    const net::Series& model = predictors.front().series.at(experiment.benchmark);
    fmt::print("{:<14} {:>6} {:>9}", experiment.benchmark->name, experiment.measured.size(),
               percent(model, part(experiment, false)));
    if (held_out)
      fmt::print(" {:>9}", percent(model, part(experiment, true)));
    for (std::size_t i = 1; i < predictors.size(); ++i) {
      const auto found = predictors[i].series.find(experiment.benchmark);
      fmt::print(" {:>9}", found == predictors[i].series.end() ? "-" : percent(found->second, experiment.measured));
    }
    fmt::print("\n");
    if (options.verbose)
      print_sizes(experiment, model);
  }
}

// Mean errors, and the times at three sizes, side by side.
void print_comparison(const std::vector<net::Experiment>& experiments, const std::vector<Predictor>& predictors)
{
  constexpr std::array<std::uint64_t, 3> wanted{8, 4096, 1 << 20};
  std::string names = "measured";
  fmt::print("| benchmark | sizes |");
  for (const Predictor& predictor : predictors) {
    fmt::print(" {} |", predictor.name);
    names += " / " + predictor.name;
  }
  fmt::print(" us per message: {} |\n|---|---|", names);
  for (std::size_t i = 0; i < predictors.size(); ++i)
    fmt::print("---|");
  fmt::print("---|\n");
  for (const net::Experiment& experiment : experiments) {
    fmt::print("| {} | {} |", experiment.benchmark->name, experiment.measured.size());
    for (const Predictor& predictor : predictors)
      fmt::print(" {} |", percent(predictor.series.at(experiment.benchmark), experiment.measured));
    std::string times;
    for (const std::uint64_t size : wanted) {
      // The measured size next to it.
      const auto nearest =
          std::min_element(experiment.measured.begin(), experiment.measured.end(), [&](auto a, auto b) {
            const auto distance = [&](std::uint64_t s) {
              return std::abs(std::log((static_cast<double>(s) + 1) / (static_cast<double>(size) + 1)));
            };
            return distance(a.first) < distance(b.first);
          });
      times += fmt::format("{}{} B: {:.2f}", times.empty() ? " " : "; ", nearest->first, nearest->second);
      for (const Predictor& predictor : predictors) {
        const net::Series& series = predictor.series.at(experiment.benchmark);
        const auto found = series.find(nearest->first);
        times += found == series.end() ? " / -" : fmt::format(" / {:.2f}", found->second);
      }
    }
    fmt::print("{} |\n", times);
  }
}

void write_parameters(const Options& options, const net::FitResult& result, observe::ResultFile& file)
{
  std::string& text = file.buffer();
  text += fmt::format("# Parameters of model {}, fitted by `umwelt calibrate` to:\n", options.model);
  for (const std::string& source : options.measurements)
    text += fmt::format("#   {}\n", source);
  for (const auto& [key, value] : result.parameters.values()) {
    std::string remark;
    for (const net::FittedParameter& fitted : result.fitted)
      if (fitted.key == key)
        remark = fitted.determined == net::FittedParameter::Determined::none
                     ? "  # not determined"
                     : fmt::format("  # {} to {}", fitted.low, fitted.high);
    text += fmt::format("{} = {}{}\n", key, value.text, remark);
  }
  file.finish();
}

void make_directory_of_plots(const std::string& directory)
{
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw std::invalid_argument(fmt::format("--plots {}: expected a directory, got: {}.", directory, error.message()));
}

void draw_plots(const std::string& directory, const std::vector<net::Experiment>& experiments,
                const std::vector<Predictor>& predictors)
{
  for (const net::Experiment& experiment : experiments) {
    net::Figure figure{experiment.benchmark->name, experiment.measured, {}};
    for (const Predictor& predictor : predictors)
      if (const auto found = predictor.series.find(experiment.benchmark); found != predictor.series.end())
        figure.predictions.push_back({predictor.name, found->second});
    observe::ResultFile file("--plots", fmt::format("{}/{}.svg", directory, experiment.benchmark->name));
    file.buffer() += net::draw(figure);
    file.finish();
  }
}

std::vector<Predictor> read_comparisons(const Options& options)
{
  std::vector<Predictor> predictors;
  for (const std::string& text : options.comparisons) {
    const auto colon = text.find(':');
    if (colon == std::string::npos || colon == 0)
      throw std::invalid_argument(fmt::format("--compare {}: expected NAME:BENCHMARK=FILE.", text));
    const std::string name = text.substr(0, colon);
    const Source source = read_source(text.substr(colon + 1));
    auto known = std::find_if(predictors.begin(), predictors.end(), [&](const Predictor& p) { return p.name == name; });
    if (known == predictors.end())
      known = predictors.insert(known, {name, {}});
    known->series[source.benchmark] = net::load_series(source.path, options.ranks);
  }
  return predictors;
}

int compare(const Options& options)
{
  const std::vector<net::Experiment> experiments = read_measurements(options);
  const std::vector<Predictor> predictors = read_comparisons(options);
  for (const net::Experiment& experiment : experiments)
    for (const Predictor& predictor : predictors)
      if (!predictor.series.contains(experiment.benchmark))
        throw std::invalid_argument(
            fmt::format("--compare-only: expected predictions of {} for {}, got none. Add --compare "
                        "{}:{}=FILE.",
                        predictor.name, experiment.benchmark->name, predictor.name, experiment.benchmark->name));
  if (predictors.empty())
    throw std::invalid_argument("--compare-only: expected predictions, got none. Add --compare NAME:BENCHMARK=FILE.");
  print_comparison(experiments, predictors);
  if (!options.plots.empty()) {
    make_directory_of_plots(options.plots);
    draw_plots(options.plots, experiments, predictors);
  }
  return exit_code::ok;
}

int run(const Options& options)
{
  net::FitProblem problem;
  problem.experiments = read_measurements(options);
  hold_out(options.held_out, problem.experiments);
  problem.parameters = read_parameters(options.nic);
  problem.model = options.model;
  if (options.judge_only && !options.keys.empty())
    throw std::invalid_argument("--no-fit: expected no --fit with it, got both. Leave one out.");
  problem.keys = options.judge_only || !options.keys.empty() ? options.keys : net::usual_keys(options.model);
  if (problem.keys.empty() && !options.judge_only)
    throw std::invalid_argument(fmt::format("--fit: expected keys, as model {} has no usual choice, got none. `umwelt "
                                            "models` lists its parameters.",
                                            options.model));
  const auto platform = platform::make_platform({.spec = options.platform, .nodes = 2});
  if (platform->node_count() < 2)
    throw std::invalid_argument(
        fmt::format("--platform {}: expected at least 2 nodes, got {}.", options.platform, platform->node_count()));
  problem.platform = platform.get();
  problem.messages = options.messages;
  problem.starts = options.starts;
  problem.threads = std::max(1U, std::thread::hardware_concurrency());

  // Before what may take minutes.
  std::unique_ptr<observe::ResultFile> output;
  if (!options.output.empty())
    output = std::make_unique<observe::ResultFile>("--output", options.output);
  if (!options.plots.empty())
    make_directory_of_plots(options.plots);

  const net::FitResult result = net::fit(problem, [](const std::string& line) { fmt::print(stderr, "{}\n", line); });
  if (!result.fitted.empty()) {
    print_parameters(result);
    fmt::print("\n");
  }
  std::vector<Predictor> predictors = read_comparisons(options);
  Predictor model{options.judge_only ? "model" : "fitted", {}};
  for (std::size_t i = 0; i < problem.experiments.size(); ++i)
    model.series[problem.experiments[i].benchmark] = result.predicted[i];
  predictors.insert(predictors.begin(), std::move(model));
  print_errors(options, problem.experiments, predictors);
  if (output)
    write_parameters(options, result, *output);
  if (!options.plots.empty())
    draw_plots(options.plots, problem.experiments, predictors);
  return exit_code::ok;
}

} // namespace

int main(int argc, char** argv) // NOLINT(bugprone-exception-escape): only if its options are wrong
{
  Options options;
  CLI::App app("Fits a network model to measurements of a NIC", "umwelt calibrate");
  describe(app, options);
  try {
    const bool kernels = argc > 1 && std::string_view(argv[1]) == "kernels";
    if (!kernels)
      app.parse(argc, argv);
    const int code = kernels                ? calibrate::calibrate_kernels({argv + 2, argv + argc})
                     : options.compare_only ? compare(options)
                                            : run(options);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw std::runtime_error(fmt::format("standard output: expected all of it to be written, got: {}. Make room, or "
                                           "send it elsewhere",
                                           std::strerror(errno)));
    return code;
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return exit_code::ok;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "umwelt calibrate: {}\n  `umwelt calibrate --help` lists the options.\n", error.what());
    return exit_code::usage;
  } catch (const UsageError& error) {
    fmt::print(stderr, "umwelt calibrate: {}\n", error.what());
    return exit_code::usage;
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "umwelt calibrate: {}\n", error.what());
    return exit_code::usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "umwelt calibrate: {}\n", error.what());
    return exit_code::failure;
  }
}
