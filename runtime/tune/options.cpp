// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/options.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"
#include "runtime/tune/text.h"

namespace umwelt::tune
{
namespace
{

constexpr unsigned most_ranks = 1U << 20;
constexpr unsigned most_jobs = 1024;
constexpr std::uint64_t largest_size = 1ULL << 30; // counts of MPI are of type int

struct Words {
  std::vector<std::string> functions{"allgather", "allreduce", "alltoall", "barrier", "bcast", "reduce"};
  std::vector<std::string> sizes{"8", "64", "512", "4KiB", "32KiB", "256KiB"};
  std::vector<std::string> ranks{"16"};
  std::vector<std::string> segments{"0", "8KiB", "64KiB"};
  std::vector<std::string> fanouts{"4"};
  std::vector<std::string> mpi;
  std::string repetitions = "1";
  std::string jobs;
};

void describe(CLI::App& app, Words& words, Options& options)
{
  app.footer("What is not listed here, and all behind --, goes to each umwelt run (umwelt run --help): --platform\n"
             "torus, -N 2, --nic drop=1e-6 ... Computing takes no time (--cpu none) unless --cpu says otherwise.\n"
             "Example: umwelt tune collectives --functions bcast,allreduce --ranks 16,64 -o tuned --platform torus\n"
             "         mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n"
             "                --mca coll_tuned_dynamic_rules_filename tuned/openmpi.rules ...\n"
             "         MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=tuned/mpich.json mpiexec ...");
  const auto list = [&app](const char* name, std::vector<std::string>& values, const std::string& help) {
    app.add_option(name, values, fmt::format("{}; default {}", help, fmt::join(values, ",")))
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("LIST");
  };
  list("--functions", words.functions, "collectives, or all");
  list("--sizes", words.sizes, "bytes of a vector, or of what goes to or comes from each rank");
  list("--ranks", words.ranks, "numbers of ranks");
  list("--segments", words.segments, "Open MPI: bytes, for algorithms that cut vectors; 0: not cut");
  list("--fanouts", words.fanouts, "Open MPI: chains, for algorithms that begin several");
  app.add_option("--mpi", words.mpi, "openmpi, mpich or both; default: those that are there")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  app.add_option("--repetitions", words.repetitions, "calls of each size, of which the median counts; default 1")
      ->type_name("N");
  app.add_option("--jobs", words.jobs, "runs at a time; default: as many as there are cores, one if --cpu measures")
      ->type_name("N");
  app.add_option("-o,--output", options.directory,
                 "for openmpi.rules, mpich.json, collectives.csv and plots; default collectives")
      ->type_name("DIR");
  app.add_flag("--force", options.force, "replace files that are there");
  app.add_flag("!--no-plots", options.plots, "no plots, which need gnuplot");
  app.add_flag("!--no-verify", options.verify, "do not run once more with the files that were written");
  app.add_flag("-v,--verbose", options.verbose, "tell of each run");
  app.add_flag("-q,--quiet", options.quiet, "only the tables and errors");
  app.allow_extras();
}

template <typename T, typename Read> std::vector<T> read_all(const std::vector<std::string>& words, Read read)
{
  std::set<T> values;
  for (const std::string& word : words)
    values.insert(static_cast<T>(read(word)));
  return {values.begin(), values.end()};
}

std::vector<const Function*> read_functions(const std::vector<std::string>& words)
{
  std::vector<const Function*> list;
  const auto add = [&](const Function& function) {
    if (std::find(list.begin(), list.end(), &function) == list.end())
      list.push_back(&function);
  };
  for (const std::string& word : words)
    if (word == "all")
      for (const Function& function : functions())
        add(function);
    else
      add(known_function(word));
  return list;
}

std::uint64_t read_limited_size(const char* option, const std::string& word)
{
  const std::uint64_t size = read_size(option, word);
  if (size > largest_size)
    throw UsageError(fmt::format("{} {}", option, word), "at most 1 GiB", "more", "Name a smaller one.");
  return size;
}

void read_libraries(const std::vector<std::string>& words, Options& options)
{
  if (words.empty())
    return;
  options.openmpi = options.mpich = false;
  for (const std::string& word : words) {
    if (word != "openmpi" && word != "mpich")
      throw UsageError(fmt::format("--mpi {}", word), "openmpi, mpich, or both", "another word",
                       "For example: --mpi openmpi");
    (word == "openmpi" ? options.openmpi : options.mpich) = true;
  }
  options.mpich_named = options.mpich;
}

// The value of an option of umwelt run, "" if it is not there.
std::string value_of(const std::vector<std::string>& run, std::string_view option)
{
  for (std::size_t i = 0; i < run.size(); ++i) {
    std::string_view word = run[i];
    word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
    if (run[i].starts_with('-') && word == option && i + 1 < run.size())
      return run[i + 1];
    if (run[i].starts_with('-') && word.starts_with(option) && word.substr(option.size()).starts_with('='))
      return std::string(word.substr(option.size() + 1));
  }
  return "";
}

// What cannot be meant for each of many runs.
void refuse_run_options(const std::vector<std::string>& run)
{
  for (const char* option : {"np", "n", "c"})
    if (const std::string value = value_of(run, option); !value.empty())
      throw UsageError(fmt::format("-{}", option), "numbers of ranks with --ranks", fmt::format("-{}", option),
                       fmt::format("Write: --ranks {}", value));
  for (const char* option : {"report", "trace", "repeat", "output-filename"})
    if (!value_of(run, option).empty())
      throw UsageError(fmt::format("--{}", option), "an option that makes sense for many runs at once", "this one",
                       "Leave it out.");
}

// An option of ours with an error of typing is not one of umwelt run.
void refuse_misspelt(const std::vector<std::string>& words, const CLI::App& app)
{
  std::vector<std::string> own;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      own.push_back("--" + name);
  for (const std::string& word : words) {
    constexpr std::size_t typing_error = 2;
    constexpr std::size_t long_enough = 7; // everything shorter is near to something
    const std::string name = word.substr(0, word.find('='));
    const std::string_view guess =
        name.starts_with("--") && name.size() >= long_enough ? plausible(name, own) : std::string_view();
    if (!guess.empty() && edit_distance(name, guess) <= typing_error)
      throw UsageError(
          in_quotes(name), "an option of umwelt tune or of umwelt run", "an unknown one",
          fmt::format("The nearest known one is {}; what is meant for umwelt run comes behind --.", guess));
  }
}

unsigned usable_cores()
{
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

// `behind`: what came behind --.
void add_run_options(const CLI::App& app, const Words& words, const std::vector<std::string>& behind, Options& options)
{
  options.run = app.remaining();
  refuse_misspelt(options.run, app);
  options.run.insert(options.run.end(), behind.begin(), behind.end());
  refuse_run_options(options.run);
  const std::string cpu = value_of(options.run, "cpu");
  const bool measures = !cpu.empty() && cpu != "none" && !cpu.starts_with("fixed");
  if (cpu.empty())
    options.run.insert(options.run.end(), {"--cpu", "none"});
  constexpr const char* patience = "900"; // seconds
  if (value_of(options.run, "timeout").empty())
    options.run.insert(options.run.end(), {"--timeout", patience});
  if (!words.jobs.empty())
    options.jobs = static_cast<unsigned>(read_count("--jobs", words.jobs, "a number of runs", 1, most_jobs));
  else
    options.jobs = measures ? 1 : usable_cores();
}

// "-host" means "--host" to umwelt run, but -h and "ost" to CLI11.
std::string with_two_dashes(const std::string& word)
{
  constexpr std::size_t short_option = 2;
  return word.size() > short_option && word[0] == '-' && word[1] != '-' ? "-" + word : word;
}

} // namespace

void refuse_too_large(const Options& options, std::uint64_t memory)
{
  if (options.sizes.empty() || options.ranks.empty())
    return;
  const std::uint64_t size = options.sizes.back();
  const std::uint64_t ranks = options.ranks.back();
  for (const Function* function : options.functions) {
    if (!function->sized)
      continue;
    const std::uint64_t blocks = ranks * (function->long_buffers * ranks + (2 - function->long_buffers));
    if (size <= memory / options.jobs / blocks)
      continue;
    throw UsageError(fmt::format("--sizes {}", size),
                     fmt::format("buffers that fit into the memory of {}", bytes_text(memory)),
                     fmt::format("{} runs of {} on {} ranks that need {} each", options.jobs, function->name, ranks,
                                 bytes_text(blocks * size)),
                     "Name smaller sizes, fewer ranks or fewer --jobs.");
  }
}

std::optional<Options> parse(std::vector<std::string> arguments)
{
  Options options;
  Words words;
  CLI::App app("Measures the algorithms that MPI libraries have for collectives on the simulated machine, and writes "
               "which of them are the best, as files that the libraries read",
               "umwelt tune collectives");
  describe(app, words, options);
  if (!arguments.empty() && (arguments.front() == "-h" || arguments.front() == "--help"))
    arguments.insert(arguments.begin(), "collectives");
  if (arguments.empty() || arguments.front() != "collectives")
    throw UsageError("what to tune", "collectives", arguments.empty() ? "nothing" : in_quotes(arguments[0]),
                     "For example: umwelt tune collectives --functions bcast --ranks 16; `umwelt tune collectives "
                     "--help` lists the options.");
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> behind(separator == arguments.end() ? separator : separator + 1, arguments.end());
  std::vector<std::string> reversed(arguments.begin() + 1, separator);
  std::transform(reversed.begin(), reversed.end(), reversed.begin(), with_two_dashes);
  std::reverse(reversed.begin(), reversed.end()); // the order CLI11 takes
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return {};
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}\n  `umwelt tune collectives --help` lists the options.", error.what()));
  }
  options.functions = read_functions(words.functions);
  options.sizes =
      read_all<std::uint64_t>(words.sizes, [](const std::string& word) { return read_limited_size("--sizes", word); });
  options.ranks = read_all<unsigned>(words.ranks, [](const std::string& word) {
    return read_count("--ranks", word, "a number of ranks", 2, most_ranks);
  });
  options.segments = read_all<std::uint64_t>(words.segments, [](const std::string& word) {
    return word == "0" ? std::uint64_t{0} : read_limited_size("--segments", word);
  });
  options.fanouts = read_all<unsigned>(words.fanouts, [](const std::string& word) {
    return read_count("--fanouts", word, "a number of chains", 1, most_ranks);
  });
  options.repetitions =
      static_cast<unsigned>(read_count("--repetitions", words.repetitions, "a number of calls", 1, 1'000'000));
  read_libraries(words.mpi, options);
  add_run_options(app, words, behind, options);
  return options;
}

} // namespace umwelt::tune
