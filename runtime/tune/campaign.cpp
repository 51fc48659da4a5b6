// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/campaign.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "runtime/base/exit_codes.h"
#include "runtime/base/usage_error.h"
#include "runtime/tune/functions.h"
#include "runtime/tune/processes.h"
#include "runtime/tune/text.h"

namespace umwelt::tune
{
namespace
{

constexpr const char* no_answer = "no answer";

std::vector<std::string> command(const Bench& bench, const Options& options, unsigned ranks,
                                 const std::vector<std::string>& settings)
{
  std::vector<std::string> words{bench.umwelt, "run", "-q", "-np", fmt::format("{}", ranks)};
  words.insert(words.end(), options.run.begin(), options.run.end());
  words.insert(words.end(), settings.begin(), settings.end());
  words.push_back(bench.program);
  return words;
}

// Those that differ from an algorithm that does not cut: vectors that are longer than a segment.
std::vector<std::uint64_t> sizes_for(const Function& function, const Choice& choice, const Options& options)
{
  if (!function.sized)
    return {0};
  std::vector<std::uint64_t> sizes;
  std::copy_if(options.sizes.begin(), options.sizes.end(), std::back_inserter(sizes),
               [&](std::uint64_t size) { return choice.segment == 0 || size > choice.segment; });
  return sizes;
}

void add_call(std::vector<std::string>& words, const std::string& function, const Options& options,
              const std::vector<std::uint64_t>& sizes)
{
  words.push_back(function);
  words.push_back(fmt::format("{}", options.repetitions));
  for (const std::uint64_t size : sizes)
    words.push_back(fmt::format("{}", size));
}

// The first line of what a run that failed has said about it.
std::string reason(int code, const std::string& errors)
{
  std::string said;
  std::istringstream lines(errors);
  for (std::string line; said.empty() && std::getline(lines, line);)
    if (line.starts_with("umwelt"))
      said = line;
  switch (code) {
  case exit_code::deadlock:
    return "deadlock";
  case exit_code::timeout:
    return "no end within --timeout";
  case exit_code::ok:
    return no_answer;
  default:
    return fmt::format("exit code {}{}{}", code, said.empty() ? "" : ": ", said);
  }
}

[[noreturn]] void refuse_options(const Outcome& outcome, const Options& options)
{
  throw UsageError(fmt::format("{}\n  This was said by: umwelt run {}",
                               outcome.errors.substr(0, outcome.errors.find_last_not_of('\n') + 1),
                               fmt::join(options.run, " ")));
}

void tell(const Options& options, std::size_t number, std::size_t count, const Series& series)
{
  if (options.quiet)
    return;
  if (!options.verbose && isatty(STDERR_FILENO) != 0)
    fmt::print(stderr, "\r{} of {}{}", number, count, number == count ? "\r\033[K" : "");
  if (options.verbose)
    fmt::print(stderr, "umwelt tune: {} of {}: {} on {} ranks, {}: {} times, {} problems\n", number, count,
               series.function, series.ranks, label(series.choice), series.times.size(), series.problems.size());
}

} // namespace

std::string ask(const Bench& bench, const Options& options)
{
  std::vector<std::string> words = command(bench, options, 1, {});
  words.emplace_back("--algorithms");
  Outcome outcome;
  run_all({words}, 1, [&](std::size_t, const Outcome& got) { outcome = got; });
  if (outcome.code == exit_code::usage)
    refuse_options(outcome, options);
  if (outcome.code != exit_code::ok)
    throw std::runtime_error(
        fmt::format("{}: expected a run of one rank that ends well, got exit code {}: {}\n  Is the "
                    "MPI library installed? `umwelt doctor` looks at this machine.",
                    bench.program, outcome.code, outcome.errors));
  return outcome.output;
}

void read_outcome(Series& series, std::span<const std::uint64_t> sizes, int code, const std::string& output,
                  const std::string& errors)
{
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    std::uint64_t size = 0;
    std::string rest;
    if (!(words >> kind >> size) || std::find(sizes.begin(), sizes.end(), size) == sizes.end())
      continue;
    std::getline(words >> std::ws, rest);
    if (kind == "time")
      series.times[size] = std::strtoll(rest.c_str(), nullptr, 10);
    else if (kind == "failed")
      series.problems[size] = rest;
    else if (kind == "wrong")
      series.problems[size] = "the result is wrong";
    else if (kind == "late")
      series.problems[size] = "the ranks did not begin together";
  }
  for (const std::uint64_t size : sizes)
    if (!series.times.contains(size) && !series.problems.contains(size))
      series.problems[size] = reason(code, errors);
}

std::vector<Group> measure(const Mpi& mpi, const Bench& bench, const Options& options)
{
  std::vector<std::vector<std::string>> commands;
  std::vector<std::vector<std::uint64_t>> sizes;
  std::vector<Series> series;
  for (const Function* function : options.functions)
    for (const unsigned ranks : options.ranks) {
      const std::string name(function->name);
      std::vector<Choice> choices = mpi.choices(name);
      choices.insert(choices.begin(), Choice{});
      for (const Choice& choice : choices) {
        const std::vector<std::uint64_t> wanted = sizes_for(*function, choice, options);
        if (wanted.empty())
          continue;
        commands.push_back(command(bench, options, ranks, mpi.forced(name, choice)));
        add_call(commands.back(), name, options, wanted);
        sizes.push_back(wanted);
        series.push_back({name, ranks, choice, {}, {}});
      }
    }
  if (!options.quiet)
    fmt::print(stderr, "umwelt tune: {}: {} runs, {} at a time\n", mpi.name(), commands.size(), options.jobs);
  std::size_t ended = 0;
  run_all(commands, options.jobs, [&](std::size_t number, const Outcome& outcome) {
    if (outcome.code == exit_code::usage) // not the algorithm's fault: a machine with too few nodes ...
      refuse_options(outcome, options);
    read_outcome(series[number], sizes[number], outcome.code, outcome.output, outcome.errors);
    tell(options, ++ended, commands.size(), series[number]);
  });
  std::vector<Group> groups;
  for (const Function* function : options.functions)
    for (const unsigned ranks : options.ranks) {
      std::vector<Series> of_these;
      std::copy_if(series.begin(), series.end(), std::back_inserter(of_these),
                   [&](const Series& one) { return one.function == function->name && one.ranks == ranks; });
      groups.emplace_back(std::string(function->name), ranks, std::move(of_these));
    }
  return groups;
}

namespace
{

// What was measured of the choice; -1: nothing.
std::int64_t promised(const Group& group, const Choice& choice, std::uint64_t size)
{
  for (const Series& one : group.series())
    if (const auto found = one.times.find(size); one.choice == choice && found != one.times.end())
      return found->second;
  return -1;
}

} // namespace

Verification verify(const Mpi& mpi, const std::string& file, std::span<const Group> groups, const Bench& bench,
                    const Options& options)
{
  std::vector<const Group*> tuned;
  std::vector<std::vector<std::string>> commands;
  for (const Group& group : groups) {
    if (group.sizes().empty())
      continue;
    tuned.push_back(&group);
    commands.push_back(command(bench, options, group.ranks(), mpi.with_file(file)));
    add_call(commands.back(), group.function(), options, group.sizes());
  }
  Verification verification;
  run_all(commands, options.jobs, [&](std::size_t number, const Outcome& outcome) {
    const Group& group = *tuned[number];
    const std::vector<std::uint64_t> sizes = group.sizes();
    const std::vector<Rule> rules = mpi.rules(group);
    Series with_file;
    read_outcome(with_file, sizes, outcome.code, outcome.output, outcome.errors);
    for (const std::uint64_t size : sizes) {
      const std::string where = fmt::format("{} of {} on {} ranks", group.function(), bytes_text(size), group.ranks());
      if (const auto problem = with_file.problems.find(size); problem != with_file.problems.end()) {
        verification.failures.push_back(fmt::format("{}: {}", where, problem->second));
        continue;
      }
      // Sizes that the chosen algorithm of one for all was not measured for promise nothing.
      const std::int64_t expected = promised(group, chosen(rules, size), size);
      if (expected < 0)
        continue;
      ++verification.points;
      const std::int64_t got = with_file.times.at(size);
      if (got == expected) {
        ++verification.equal;
        continue;
      }
      const double difference =
          std::abs(static_cast<double>(got - expected)) / static_cast<double>(std::max<std::int64_t>(expected, 1));
      if (difference > verification.worst) {
        verification.worst = difference;
        verification.where = fmt::format("{}: {}, measured {}", where, time_text(got), time_text(expected));
      }
    }
  });
  return verification;
}

} // namespace umwelt::tune
