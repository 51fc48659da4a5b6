// SPDX-License-Identifier: LGPL-2.1-or-later
// umwelt-tune, which `umwelt tune` starts: `umwelt-tune UMWELT ARGUMENTS...`, where UMWELT is the path of the command
// (README.md). A program of its own, since it only starts others, and `umwelt` is not to grow by it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "net_models/calibration/plot.h"
#include "runtime/base/exit_codes.h"
#include "runtime/base/usage_error.h"
#include "runtime/observe/result_file.h"
#include "runtime/tune/campaign.h"
#include "runtime/tune/measurements.h"
#include "runtime/tune/mpi.h"
#include "runtime/tune/options.h"
#include "runtime/tune/processes.h"
#include "runtime/tune/report.h"

namespace
{

namespace fs = std::filesystem;
using namespace umwelt;
using namespace umwelt::tune;

struct Files {
  std::unique_ptr<observe::ResultFile> rules;
  std::unique_ptr<observe::ResultFile> plot; // null: none is wanted
};

struct Tuned {
  std::unique_ptr<Mpi> mpi;
  Bench bench;
  Files files;
};

std::string value_of_line(const std::string& text, const std::string& begin)
{
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin))
      return line.substr(begin.size());
  return {};
}

// Beside this program.
Bench bench_for(const std::string& umwelt, const std::string& key)
{
  return {umwelt, (fs::canonical("/proc/self/exe").parent_path() / ("collbench-" + key)).string()};
}

void make_directory(const std::string& directory)
{
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    throw UsageError("--output " + directory, "a directory", error.message(), "Name another one.");
}

// Opened before anything is measured. A file of rules may have been edited.
std::unique_ptr<observe::ResultFile> open(const Options& options, const std::string& name)
{
  const std::string path = (fs::path(options.directory) / name).string();
  std::error_code error;
  if (!options.force && fs::is_regular_file(path, error))
    throw UsageError("--output " + options.directory, "a directory without " + name, "one that has it",
                     "Name another one, or replace it: --force");
  return std::make_unique<observe::ResultFile>("--output", path);
}

void finish(observe::ResultFile& file, const std::string& text)
{
  file.buffer() += text;
  file.finish();
}

bool has_gnuplot()
{
  try {
    net::run_gnuplot("set terminal svg\nplot x\n");
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

std::unique_ptr<Mpi> known_open_mpi(const Bench& bench, const Options& options)
{
  const std::string answer = ask(bench, options);
  const std::string version = value_of_line(answer, "version ");
  if (!version.starts_with("Open MPI v4."))
    throw std::runtime_error(fmt::format("{}: expected Open MPI 4, whose files of rules are known, got {}\n  Build "
                                         "Umwelt with Open MPI 4, or measure MPICH alone: --mpi mpich",
                                         bench.program, version.empty() ? "no version" : version));
  return open_mpi(answer, options.segments, options.fanouts);
}

// The program that measures a library is built where the library's compiler is.
bool is_there(const Bench& bench, const std::string& package, const std::string& other)
{
  std::error_code error;
  if (fs::exists(bench.program, error))
    return true;
  if (other.empty())
    return false;
  throw std::runtime_error(fmt::format("{}: expected the program that measures, got: nothing there\n  Install {} and "
                                       "build Umwelt again, or leave this library out: --mpi {}",
                                       bench.program, package, other));
}

// `plot` may be empty: none is wanted.
Files open_files(const Options& options, const std::string& rules, const std::string& plot)
{
  Files files;
  files.rules = open(options, rules);
  if (!plot.empty())
    files.plot = open(options, plot);
  return files;
}

// What can go wrong before the first measurement does so here.
std::vector<Tuned> prepare(const std::string& umwelt, const Options& options, bool plots)
{
  std::vector<Tuned> all;
  if (const Bench bench = bench_for(umwelt, "openmpi"); options.openmpi && is_there(bench, "libopenmpi-dev", "mpich")) {
    Files own = open_files(options, "openmpi.rules", plots ? "openmpi.svg" : "");
    all.push_back({known_open_mpi(bench, options), bench, std::move(own)});
  }
  if (const Bench bench = bench_for(umwelt, "mpich");
      options.mpich && is_there(bench, "libmpich-dev", options.mpich_named ? "openmpi" : "")) {
    Files own = open_files(options, "mpich.json", plots ? "mpich.svg" : "");
    all.push_back({mpich(value_of_line(ask(bench, options), "library ")), bench, std::move(own)});
  }
  return all;
}

bool measured_anything(const std::vector<Group>& groups)
{
  return std::any_of(groups.begin(), groups.end(), [](const Group& group) { return !group.sizes().empty(); });
}

// One library, from its runs to its files. False: some of it failed, which has been said.
bool tune_library(const Tuned& tuned, const Options& options, std::vector<Library>& libraries)
{
  const auto& [mpi, bench, files] = tuned;
  std::vector<Group> groups = measure(*mpi, bench, options);
  for (const Group& group : groups)
    fmt::print("{}\n", table(*mpi, group));
  std::fflush(stdout);
  libraries.push_back({mpi->key(), mpi->name(), groups});
  if (!measured_anything(groups)) {
    fmt::print(stderr, "umwelt tune: {}: expected at least one algorithm that works, got none: {} is not written\n",
               mpi->name(), mpi->file_name());
    return false;
  }
  finish(*files.rules, mpi->file(groups));
  if (files.plot)
    finish(*files.plot, net::run_gnuplot(plot_script(mpi->name(), groups)));
  if (!options.verify)
    return true;
  const std::string path = fs::absolute(fs::path(options.directory) / mpi->file_name()).string();
  const Verification verification = verify(*mpi, path, groups, bench, options);
  fmt::print("{}\n", verification_text(*mpi, verification));
  std::fflush(stdout);
  return verification.failures.empty();
}

int run(const std::string& umwelt, const Options& options)
{
  refuse_too_large(options, static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  const bool plots = options.plots && has_gnuplot();
  if (options.plots && !plots)
    fmt::print(stderr, "umwelt tune: no plots, since gnuplot is not there (Debian: gnuplot-nox)\n");
  make_directory(options.directory);
  const std::unique_ptr<observe::ResultFile> points = open(options, "collectives.csv");
  const std::vector<Tuned> all = prepare(umwelt, options, plots);
  bool well = true;
  std::vector<Library> libraries;
  for (const Tuned& tuned : all)
    well = tune_library(tuned, options, libraries) && well;
  finish(*points, csv(libraries));
  return well ? exit_code::ok : exit_code::failure;
}

} // namespace

int main(int argc, char** argv)
{
  try {
    if (argc < 2) {
      fmt::print(stderr, "umwelt-tune: expected to be started by `umwelt tune`\n");
      return exit_code::usage;
    }
    const std::optional<Options> options = parse({argv + 2, argv + argc});
    return options ? run(argv[1], *options) : exit_code::ok;
  } catch (const UsageError& error) {
    fmt::print(stderr, "umwelt tune: {}\n", error.what());
    return exit_code::usage;
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "umwelt tune: {}\n", error.what());
    return exit_code::usage;
  } catch (const Stopped& stopped) {
    return exit_code::signalled + stopped.signal;
  } catch (const std::exception& error) {
    fmt::print(stderr, "umwelt tune: {}\n", error.what());
    return exit_code::failure;
  }
}
