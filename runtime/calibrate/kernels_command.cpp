// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/calibrate/kernels_command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "net_models/calibration/plot.h"
#include "runtime/base/exit_codes.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"
#include "runtime/calibrate/kernel_bench.h"
#include "runtime/calibrate/kernel_caller.h"
#include "runtime/calibrate/kernel_fit.h"
#include "runtime/kernels/csv.h"
#include "runtime/observe/result_file.h"

namespace umwelt::calibrate
{
namespace
{

struct Options {
  std::vector<std::string> kernels;
  std::string from;
  std::string library;
  std::vector<std::string> sizes;
  std::vector<std::string> fixed;
  double largest = 0;
  std::size_t count = 100;
  unsigned repeat = 3;
  std::string cores = "all";
  std::string spread = "uniform";
  std::optional<std::uint32_t> node;
  std::uint64_t seed = 0;
  std::string model;
  bool pooled = false;
  std::string action = "model";
  std::string output;
  std::string csv;
  std::string plots;
};

// What HPL calls most.
constexpr std::array standard_kernels{"dgemm", "dtrsm", "dgemv", "dger", "dtrsv", "daxpy", "dcopy", "dscal", "idamax"};

void describe(CLI::App& app, Options& options)
{
  app.footer(
      "Example: umwelt calibrate kernels dgemm dtrsm --library libopenblas.so.0 -o kernels.yaml --csv calls.csv\n"
      "         umwelt calibrate kernels dgemm --from calls.csv -o kernels.yaml\n"
      "         umwelt run --kernels kernels.yaml ...");
  app.add_option("kernels", options.kernels,
                 fmt::format("functions of BLAS or LAPACK; default: {}", fmt::join(standard_kernels, " ")));
  app.add_option(
      "--from", options.from,
      "measure nothing, but fit the calls in this CSV file: columns for the sizes, 'duration [s]' (or another "
      "unit), optionally kernel, node, socket, core and day; with a node each place gets its parameters");
  app.add_option("--library", options.library,
                 "the library to measure; default: what the loader finds as libblas.so.3 and liblapack.so.3");
  app.add_option(
         "--sizes", options.sizes,
         "LOW:HIGH of all sizes, or NAME=LOW:HIGH of one; default 16:2048, of kernels on one matrix 16:4096, on "
         "vectors 16:1000000")
      ->allow_extra_args(false);
  app.add_option("--fix", options.fixed, "NAME=VALUE: an argument that does not vary: K=128, TRANSA=T, LDA=4000")
      ->allow_extra_args(false);
  app.add_option(
         "--largest", options.largest,
         "most work of a call: its operations, or bytes of kernels that only move data; default 1e8, of kernels "
         "on one matrix 3.2e7, on vectors 1.6e7")
      ->check(CLI::PositiveNumber);
  app.add_option("--spread", options.spread, "of the work of calls up to --largest: uniform (default), or log")
      ->check(CLI::IsMember({"uniform", "log"}));
  app.add_option("--count", options.count, "how many different sizes; default 100")->check(CLI::Range(1, 1'000'000));
  app.add_option("--repeat", options.repeat, "calls of each size on each core, in random order; default 3")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--cores", options.cores,
                 "all: each core that umwelt may use does the same at the same time (default); one")
      ->check(CLI::IsMember({"all", "one"}));
  app.add_option("--node", options.node,
                 "number of this node in the machine: each of its cores gets parameters of its own, in a table beside "
                 "the file of --output");
  app.add_option("--seed", options.seed, "of sizes, order and cross-validation; default 0");
  app.add_option("--model", options.model,
                 "M-0, M-1, 'M-1 bytes', M-2 or \"M'\" (two pieces); default: by cross-validation");
  app.add_flag("--pool", options.pooled, "the same parameters everywhere, though nodes are told apart");
  app.add_option("--action", options.action,
                 "what the file says of the kernels: model, they run (default), or skip, they do not")
      ->check(CLI::IsMember({"model", "skip"}));
  app.add_option("-o,--output", options.output, "write the kernels file, for umwelt run --kernels");
  app.add_option("--csv", options.csv, "write the measured calls");
  app.add_option("--plots", options.plots, "draw an SVG per kernel into this directory (needs gnuplot)");
}

double read_number(const std::string& option, std::string_view text)
{
  const auto number = kernels::csv_number<double>(text);
  if (!number || !std::isfinite(*number) || *number < 0)
    throw UsageError(option, "a number that is not negative", in_quotes(text), "For example: --sizes 16:2048");
  return *number;
}

// "K=128", "TRANSA=T"
std::map<std::string, double> read_fixed(const std::vector<std::string>& texts)
{
  std::map<std::string, double> fixed;
  for (const std::string& text : texts) {
    const auto [name, value] = read_assignment("--fix", text);
    const bool letter = value.size() == 1 && std::isalpha(static_cast<unsigned char>(value[0])) != 0;
    fixed[name] = letter ? std::toupper(static_cast<unsigned char>(value[0])) : read_number("--fix " + text, value);
  }
  return fixed;
}

std::map<std::string, SizeWishes::Range> read_ranges(const std::vector<std::string>& texts)
{
  std::map<std::string, SizeWishes::Range> ranges;
  for (const std::string& text : texts) {
    const std::string option = "--sizes " + text;
    const auto equals = text.find('=');
    const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
    const std::string range = equals == std::string::npos ? text : text.substr(equals + 1);
    const auto colon = range.find(':');
    if (colon == std::string::npos)
      throw UsageError(option, "LOW:HIGH or NAME=LOW:HIGH", in_quotes(text), "For example: --sizes 16:2048");
    const SizeWishes::Range read{read_number(option, std::string_view(range).substr(0, colon)),
                                 read_number(option, std::string_view(range).substr(colon + 1))};
    constexpr double most = 1 << 30;
    if (read.low < 1 || read.high < read.low || read.high > most)
      throw UsageError(option, "1 <= LOW <= HIGH <= 2^30", in_quotes(range), "For example: --sizes 16:2048");
    ranges[name] = read;
  }
  return ranges;
}

// Arguments that are named must be those of a kernel.
void require_argument(const std::string& option, const std::string& name,
                      const std::vector<const kernels::KernelFunction*>& list)
{
  std::vector<std::string> known;
  for (const kernels::KernelFunction* kernel : list) {
    const kernels::Signature& signature = kernel->spellings.front().signature;
    if (signature.position(name))
      return;
    for (const kernels::Parameter& parameter : signature.parameters())
      if (parameter.by_reference && std::find(known.begin(), known.end(), parameter.name) == known.end())
        known.push_back(parameter.name);
  }
  throw UsageError(fmt::format("{} {}", option, name), fmt::format("one of {}", fmt::join(known, " ")), "another name",
                   "Arguments have the names of the reference BLAS.");
}

std::vector<KernelMeasurements> measure_all(const Options& options,
                                            const std::vector<const kernels::KernelFunction*>& list)
{
  BenchWishes wishes;
  wishes.fixed = read_fixed(options.fixed);
  wishes.sizes = {read_ranges(options.sizes), wishes.fixed,  options.largest,
                  options.spread == "log",    options.count, options.seed};
  wishes.repetitions = options.repeat;
  wishes.all_cores = options.cores == "all";
  wishes.node = options.node;
  for (const auto& [name, value] : wishes.fixed)
    require_argument("--fix", name, list);
  for (const auto& [name, range] : wishes.sizes.ranges)
    if (!name.empty())
      require_argument("--sizes", name, list);
  for (const kernels::KernelFunction* kernel : list)
    require_callable(*kernel);
  const Library library(options.library);
  std::vector<void*> functions(list.size());
  std::transform(list.begin(), list.end(), functions.begin(),
                 [&](const kernels::KernelFunction* kernel) { return library.function(*kernel); });
  const std::size_t cores = wishes.all_cores ? usable_cpus().size() : 1;
  std::vector<KernelMeasurements> measurements;
  for (std::size_t i = 0; i < list.size(); ++i) {
    fmt::print(stderr, "{} of {}: {} sizes, {} times each, on {} core{}\n", list[i]->name,
               Library::place_of(functions[i]), options.count, options.repeat, cores, cores == 1 ? "" : "s");
    measurements.push_back(measure(*list[i], functions[i], wishes));
  }
  return measurements;
}

std::string own_name(const std::string& path)
{
  return std::filesystem::path(path).filename().string();
}

// "kernels.yaml", "dgemm": "kernels-dgemm.csv"
std::string table_path(const std::string& output, const std::string& kernel)
{
  const std::filesystem::path path(output);
  return (path.parent_path() / fmt::format("{}-{}.csv", path.stem().string(), kernel)).string();
}

void refuse_contradictions(const Options& options, const CLI::App& app)
{
  if (options.from.empty())
    return;
  for (const char* name :
       {"--library", "--sizes", "--fix", "--largest", "--spread", "--count", "--repeat", "--cores", "--node", "--csv"})
    if (app.count(name) > 0)
      throw UsageError(name, "no --from with it, which measures nothing", "both", "Leave one of them out.");
  if (options.kernels.empty())
    throw UsageError("--from " + options.from, "the kernels that were measured", "none",
                     fmt::format("For example: umwelt calibrate kernels dgemm --from {}", options.from));
}

void make_directory(const std::string& directory)
{
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw UsageError("--plots " + directory, "a directory", error.message(), "Name another one.");
}

void write(const std::string& option, const std::string& path, const std::string& text)
{
  observe::ResultFile file(option, path);
  file.buffer() += text;
  file.finish();
}

int run(const Options& options)
{
  std::vector<std::string> names = options.kernels;
  if (names.empty())
    names.assign(standard_kernels.begin(), standard_kernels.end());
  std::vector<const kernels::KernelFunction*> list;
  for (const std::string& name : names) {
    list.push_back(&known_kernel(name));
    if (std::find(list.begin(), list.end() - 1, list.back()) != list.end() - 1)
      throw UsageError(fmt::format("kernel {}", name), "each kernel once", "it again", "Remove one of them.");
  }
  // Before what may take minutes.
  std::unique_ptr<observe::ResultFile> output;
  std::unique_ptr<observe::ResultFile> csv;
  if (!options.output.empty())
    output = std::make_unique<observe::ResultFile>("--output", options.output);
  if (!options.csv.empty())
    csv = std::make_unique<observe::ResultFile>("--csv", options.csv);
  if (output && csv && output->same_file(*csv))
    throw UsageError("--csv " + options.csv, "a file of its own", "that of --output", "Name another one.");
  if (!options.plots.empty())
    make_directory(options.plots);

  std::vector<KernelMeasurements> measurements;
  if (options.from.empty())
    measurements = measure_all(options, list);
  else
    for (const kernels::KernelFunction* kernel : list)
      measurements.push_back(read_measurements(options.from, *kernel));
  if (csv) {
    csv->buffer() += measurements_csv(measurements);
    csv->finish();
  }
  std::string text = fmt::format("# Of `umwelt calibrate kernels`{}\nkernels:\n",
                                 options.from.empty() ? "" : fmt::format(" from {}", own_name(options.from)));
  for (const KernelMeasurements& one : measurements) {
    const KernelFit fit = fit_kernel(one, {options.model, options.pooled, options.seed});
    fmt::print("{}", fit_text(fit));
    const std::string table = table_path(options.output, one.kernel->name);
    if (output && fit.by_place)
      write("--output", table, parameter_csv(fit));
    text += "\n" + fit_entry(fit, options.action, own_name(table));
    if (!options.plots.empty())
      write("--plots", fmt::format("{}/{}.svg", options.plots, one.kernel->name), net::run_gnuplot(fit_script(fit)));
  }
  if (output) {
    output->buffer() += text;
    output->finish();
  }
  return exit_code::ok;
}

} // namespace

int calibrate_kernels(std::vector<std::string> arguments)
{
  Options options;
  CLI::App app("Measures functions of BLAS and LAPACK, or reads measurements, and fits models of their durations",
               "umwelt calibrate kernels");
  describe(app, options);
  std::reverse(arguments.begin(), arguments.end()); // the order CLI11 takes
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return exit_code::ok;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}\n  `umwelt calibrate kernels --help` lists the options.", error.what()));
  }
  refuse_contradictions(options, app);
  return run(options);
}

} // namespace umwelt::calibrate
