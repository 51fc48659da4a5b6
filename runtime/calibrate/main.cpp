// SPDX-License-Identifier: LGPL-2.1-or-later
// umwelt-calibrate, which `umwelt calibrate` starts: measurements of a NIC in, parameters of a model out. A program of its own,
// so that GSL (GPL-3 or later) is linked to nothing else. net_models/calibration/README.md shows an example.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "net_models/calibration/fit.h"
#include "net_models/calibration/plot.h"
#include "net_models/core/nearest.h"
#include "runtime/cli/exit_codes.h"

namespace
{

using namespace umwelt;

struct Options {
  std::vector<std::string> measurements; // BENCHMARK=FILE
  std::vector<std::string> predictions;  // BENCHMARK=FILE
  std::string predictor = "other";
  std::string model = "bxi";
  std::string platform = "bxi";
  std::vector<std::string> keys;
  bool judge_only = false;
  std::vector<std::string> nic;
  std::vector<std::string> held_out;
  std::optional<std::uint64_t> rank;
  std::uint32_t messages = 10'000;
  std::string output;
  std::string plots;
  bool verbose = false;
};

void describe(CLI::App& app, Options& options)
{
  app.footer(
      "Benchmarks: put_waitack put_nowait put_waitsend get_waitreply get_nowait ack ct match reply (see `ptlbench "
      "--help`).\nExample: umwelt calibrate put_waitack=a.csv get_nowait=b.csv --output nic.conf --plots figures\n"
      "         umwelt run --nic @nic.conf ...");
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
  app.add_option("--rank", options.rank, "the initiator's rank, for files with lines of several ranks");
  app.add_option("--hold-out", options.held_out,
                 "even, odd (every other size) or a BENCHMARK: judge these but do not fit them")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--messages", options.messages, "messages per size in put_nowait and get_nowait; default 10000")
      ->check(CLI::Range(100, 1'000'000));
  app.add_option("--output", options.output, "write the parameters to this file, for --nic @FILE");
  app.add_option("--plots", options.plots, "draw an SVG per benchmark into this folder (needs gnuplot)");
  app.add_option("--compare", options.predictions,
                 "BENCHMARK=FILE: predictions of somebody else, for the table and the plots")
      ->allow_extra_args(false);
  app.add_option("--compare-name", options.predictor, "what to call them");
  app.add_flag("-v,--verbose", options.verbose, "also every size");
}

const net::Benchmark& known_benchmark(const std::string& name)
{
  if (const net::Benchmark* benchmark = net::find_benchmark(name))
    return *benchmark;
  std::vector<std::string> names;
  for (const net::Benchmark& benchmark : net::benchmarks())
    names.push_back(benchmark.name);
  const std::string_view guess = nearest(name, names);
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
    experiments.push_back({source.benchmark, net::load_series(source.path, options.rank), {}});
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

net::Parameters read_parameters(const std::vector<std::string>& texts)
{
  net::Parameters parameters;
  for (const std::string& text : texts) {
    if (text.starts_with('@'))
      parameters.add_file(text.substr(1));
    else
      parameters.add(text, "--nic");
  }
  return parameters;
}

// ---- What comes out ----

void print_parameters(const net::FitResult& result)
{
  using Determined = net::FittedParameter::Determined;
  fmt::print("{:<18} {:>14} {:>14} {:>8}  {}\n", "parameter", "start", "value", "+-", "95 % interval");
  for (const net::FittedParameter& fitted : result.fitted) {
    const bool steps = fitted.kind == net::ParameterKind::size || fitted.kind == net::ParameterKind::count;
    if (fitted.determined == Determined::none)
      fmt::print("{:<18} {:>14} {:>14} {:>8}  no measurement depends on it: it stays\n", fitted.key, fitted.start,
                 fitted.value, "");
    else
      fmt::print("{:<18} {:>14} {:>14} {:>8}  {} to {}{}\n", fitted.key, fitted.start, fitted.value,
                 steps ? "" : fmt::format("{:.1f} %", 100 * fitted.relative_error), fitted.low, fitted.high,
                 steps                                   ? " fit alike"
                 : fitted.determined == Determined::weak ? " (weakly determined)"
                                                         : "");
  }
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

using Predictions = std::map<const net::Benchmark*, net::Series>;

void print_errors(const Options& options, const std::vector<net::Experiment>& experiments, const net::FitResult& result,
                  const Predictions& others)
{
  const bool held_out = !options.held_out.empty();
  fmt::print("{:<14} {:>6} {:>9}", "benchmark", "sizes", options.judge_only ? "model" : "fitted");
  if (held_out)
    fmt::print(" {:>9}", "held out");
  if (!others.empty())
    fmt::print(" {:>9}", options.predictor);
  fmt::print("\n");
  const auto percent = [](const net::Series& predicted, const net::Series& measured) {
    return measured.empty() ? std::string("-") : fmt::format("{:.2f} %", 100 * net::mean_error(predicted, measured));
  };
  for (std::size_t i = 0; i < experiments.size(); ++i) {
    const net::Experiment& experiment = experiments[i];
    fmt::print("{:<14} {:>6} {:>9}", experiment.benchmark->name, experiment.measured.size(),
               percent(result.predicted[i], part(experiment, false)));
    if (held_out)
      fmt::print(" {:>9}", percent(result.predicted[i], part(experiment, true)));
    if (const auto other = others.find(experiment.benchmark); other != others.end())
      fmt::print(" {:>9}", percent(other->second, experiment.measured));
    fmt::print("\n");
    if (options.verbose)
      for (const auto& [size, time] : experiment.measured)
        fmt::print("  {:>9} B  measured {:>11.4f} us  model {:>11.4f} us  {:>+6.1f} %{}\n", size, time,
                   result.predicted[i].at(size), 100 * (result.predicted[i].at(size) / time - 1),
                   experiment.held_out.contains(size) ? "  held out" : "");
  }
}

void write_parameters(const Options& options, const net::FitResult& result)
{
  std::ofstream file(options.output);
  file << fmt::format("# Parameters of model {}, fitted by `umwelt calibrate` to:\n", options.model);
  for (const std::string& source : options.measurements)
    file << fmt::format("#   {}\n", source);
  for (const auto& [key, value] : result.parameters.values()) {
    std::string remark;
    for (const net::FittedParameter& fitted : result.fitted)
      if (fitted.key == key)
        remark = fitted.determined == net::FittedParameter::Determined::none
                     ? "  # not determined"
                     : fmt::format("  # {} to {}", fitted.low, fitted.high);
    file << fmt::format("{} = {}{}\n", key, value.text, remark);
  }
  file.close();
  if (!file)
    throw std::invalid_argument(
        fmt::format("--output {}: expected a file that can be written. Check the folder.", options.output));
}

void draw_plots(const Options& options, const std::vector<net::Experiment>& experiments, const net::FitResult& result,
                const Predictions& others)
{
  std::error_code error;
  std::filesystem::create_directories(options.plots, error);
  if (error)
    throw std::invalid_argument(fmt::format("--plots {}: expected a folder, got: {}.", options.plots, error.message()));
  for (std::size_t i = 0; i < experiments.size(); ++i) {
    const net::Benchmark& benchmark = *experiments[i].benchmark;
    net::Figure figure{
        benchmark.name, experiments[i].measured, {{options.judge_only ? "model" : "fit", result.predicted[i]}}};
    if (const auto other = others.find(&benchmark); other != others.end())
      figure.predictions.push_back({options.predictor, other->second});
    net::draw(figure, fmt::format("{}/{}.svg", options.plots, benchmark.name));
  }
}

int run(Options options)
{
  net::FitProblem problem;
  problem.experiments = read_measurements(options);
  Predictions others;
  for (const std::string& text : options.predictions) {
    const Source source = read_source(text);
    others[source.benchmark] = net::load_series(source.path, options.rank);
  }
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
  problem.threads = std::max(1U, std::thread::hardware_concurrency());

  const net::FitResult result = net::fit(problem, [](const std::string& line) { fmt::print(stderr, "{}\n", line); });
  if (!result.fitted.empty()) {
    print_parameters(result);
    fmt::print("\n");
  }
  print_errors(options, problem.experiments, result, others);
  if (!options.output.empty())
    write_parameters(options, result);
  if (!options.plots.empty())
    draw_plots(options, problem.experiments, result, others);
  return cli::exit_code::ok;
}

} // namespace

int main(int argc, char** argv)
{
  Options options;
  CLI::App app("Fits a network model to measurements of a NIC", "umwelt calibrate");
  describe(app, options);
  try {
    app.parse(argc, argv);
    return run(std::move(options));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return cli::exit_code::ok;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "umwelt calibrate: {}\n  `umwelt calibrate --help` lists the options.\n", error.what());
    return cli::exit_code::usage;
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "umwelt calibrate: {}\n", error.what());
    return cli::exit_code::usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "umwelt calibrate: {}\n", error.what());
    return cli::exit_code::failure;
  }
}
