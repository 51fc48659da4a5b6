// SPDX-License-Identifier: LGPL-2.1-or-later
// How well the bxi model predicts a real cluster, next to S4BXI's predictions for the same measurements.
// Error over all sizes: exp(mean |ln(simulated / real)|) - 1, medians over repetitions.
#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "net_models/parameters.h"
#include "tests/net_models/ptl_benchmarks.h"

namespace
{

using namespace umwelt;

using Series = std::map<std::uint64_t, double>; // size to microseconds per operation

double median(std::vector<double>& values)
{
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// put_*, get_*: rank, size, kB, us for 10,000 operations, ...; ranks 1032 and 1 are initiators.
// ptlperf_*: size, us per operation, ...
Series read_series(const std::string& path, bool ptlperf)
{
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error(fmt::format("data file '{}': expected a readable CSV file. Check the directory.", path));
  std::map<std::uint64_t, std::vector<double>> values;
  std::string line;
  std::getline(file, line); // column names
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(row, field, ',');)
      fields.push_back(field);
    if (ptlperf)
      values[std::stoull(fields.at(0))].push_back(std::stod(fields.at(1)));
    else if (fields.at(0) == "1032" || fields.at(0) == "1")
      values[std::stoull(fields.at(1))].push_back(std::stod(fields.at(3)) / 10'000);
  }
  Series series;
  for (auto& [size, repetitions] : values)
    series[size] = median(repetitions);
  return series;
}

double error(const Series& predicted, const Series& real)
{
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [size, time] : real)
    if (const auto found = predicted.find(size); found != predicted.end()) {
      sum += std::abs(std::log(found->second / time));
      ++count;
    }
  return std::exp(sum / static_cast<double>(count)) - 1;
}

int run(int argc, char** argv)
{
  std::string directory;
  std::vector<std::string> settings;
  std::string platform_spec = "bxi";
  std::uint32_t count = 10'000;
  bool verbose = false;
  CLI::App app{"Accuracy of the bxi model on measurements of a real cluster"};
  app.add_option("directory", directory, "folder with real_*.csv and s4bxi_*.csv")->required();
  app.add_option("--nic", settings, "key=value of the model");
  app.add_option("--platform", platform_spec, "platform of two nodes");
  app.add_option("--count", count, "operations per size");
  app.add_flag("--verbose", verbose, "every size");
  CLI11_PARSE(app, argc, argv);

  net::Parameters parameters;
  for (const std::string& setting : settings)
    parameters.add(setting, "--nic");
  const auto platform = platform::make_platform({.spec = platform_spec, .nodes = 2});

  std::cout << fmt::format("{:<14} {:>5} {:>8} {:>8}\n", "benchmark", "sizes", "umwelt", "s4bxi");
  for (const net::PtlBenchmark& benchmark : net::ptl_benchmarks()) {
    const bool ptlperf = benchmark.name.starts_with("ptlperf");
    const Series real = read_series(fmt::format("{}/real_{}.csv", directory, benchmark.name), ptlperf);
    const Series s4bxi = read_series(fmt::format("{}/s4bxi_{}.csv", directory, benchmark.name), ptlperf);
    Series ours;
    for (const auto& [size, time] : real)
      ours[size] = net::run_ptl_benchmark(benchmark, *platform, parameters, size, count);
    std::cout << fmt::format("{:<14} {:>5} {:>7.2f}% {:>7.2f}%\n", benchmark.name, real.size(), 100 * error(ours, real),
                             100 * error(s4bxi, real));
    if (verbose)
      for (const auto& [size, time] : real)
        std::cout << fmt::format("  {:>8} B  real {:>9.4f} us  umwelt {:>9.4f} us  {:>+6.1f}%\n", size, time,
                                 ours[size], 100 * (ours[size] / time - 1));
  }
  return 0;
}

} // namespace

int main(int argc, char** argv)
{
  try {
    return run(argc, argv);
  } catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
