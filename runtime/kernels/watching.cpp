// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/watching.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/fitting/entry_text.h"
#include "runtime/kernels/kernel_reader.h"

namespace umwelt::kernels
{
namespace
{

Kernel watched(const std::string& name)
{
  YAML::Node node;
  node["name"] = name;
  node["action"] = "watch";
  return read_kernel(Section(node, "--functions", ""), 0);
}

// "0.012 s": three digits, as a kernels file reads it.
std::string time_text(double seconds)
{
  for (const auto& [unit, length] : {std::pair("s", 1.0), {"ms", 1e-3}, {"us", 1e-6}})
    if (seconds >= length)
      return fmt::format("{:.3g} {}", seconds / length, unit);
  return fmt::format("{:.3g} ns", seconds / 1e-9);
}

// "M 16..64..2000": least, median, most.
std::string sizes_text(const Kernel& kernel, const SizeClasses& sizes)
{
  std::string text;
  const std::vector<SizeClasses::Range> ranges = sizes.ranges();
  for (std::size_t i = 0; i < std::min(ranges.size(), kernel.class_expressions.size()); ++i) {
    const auto& [least, median, most] = ranges[i];
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", kernel.class_expressions[i].text(),
                        least == most ? fmt::format("{}", least) : fmt::format("{}..{}..{}", least, median, most));
  }
  return text;
}

struct Found {
  const Kernel* kernel;
  const Totals* totals;
};

std::string entry_of(const Found& found, double computing)
{
  const KernelFunction* function = find_builtin(found.kernel->name);
  const auto& classes = found.totals->sizes.classes();
  // With calls whose sizes are not known there is nothing to fit to.
  if (function != nullptr && std::any_of(classes.begin(), classes.end(),
                                         [&](const auto& one) { return one.first.size() != function->sizes.size(); }))
    function = nullptr;
  const Terms terms(function);
  std::vector<Observation> observations;
  double calls = 0;
  for (const auto& [sizes, one] : classes) {
    const auto number = static_cast<double>(one.calls);
    observations.push_back({function != nullptr ? terms.evaluate(sizes) : std::vector{1.0}, one.seconds / number,
                            number, observations.size(), 0});
    calls += number;
  }
  std::vector<Judged> judged;
  for (const Form& form : forms(terms))
    judged.push_back(judge(form, observations, 1, 0));
  const Judged& model = judged[choose(judged)];
  const double seconds = sim::to_seconds(found.totals->time);
  EntryText entry;
  entry.name = found.kernel->name;
  entry.terms = &terms;
  entry.model = &model;
  entry.comments.push_back(fmt::format("{} calls, {:.1f} % of computing, {} each on average", calls,
                                       computing > 0 ? 100 * seconds / computing : 0, time_text(seconds / calls)));
  if (const std::string sizes = sizes_text(*found.kernel, found.totals->sizes); !sizes.empty())
    entry.comments.push_back(fmt::format("sizes {} ({} different)", sizes, classes.size()));
  entry.comments.push_back(
      fmt::format("{}: means of equal sizes are off by {:.1f} %", model.form.name, 100 * model.error));
  return entry.text();
}

// "solve" of "./bin/solve 100"
std::string program_of(const std::string& command)
{
  const std::string first = command.substr(0, command.find(' '));
  return first.substr(first.rfind('/') + 1);
}

// Functions of the programs themselves that took time and whose calls were not counted.
std::string unwatched_text(const Kernels& kernels, const Profile& profile, double least,
                           std::span<const std::string> commands)
{
  std::set<std::string> programs;
  std::transform(commands.begin(), commands.end(), std::inserter(programs, programs.end()), program_of);
  const auto all = static_cast<double>(profile.all());
  std::vector<std::string> names;
  std::vector<std::string> shares;
  for (const auto& [function, ticks] : profile.most(least)) {
    const auto& [object, symbol] = function;
    const bool is_watched = std::any_of(kernels.list.begin(), kernels.list.end(), [&symbol = symbol](const auto& one) {
      return std::any_of(one.entries.begin(), one.entries.end(), [&](const Entry& e) { return e.symbol == symbol; });
    });
    if (symbol.empty() || !programs.contains(object) || is_watched)
      continue;
    names.push_back(symbol);
    shares.push_back(fmt::format("{} {:.1f} %", symbol, 100 * static_cast<double>(ticks) / all));
  }
  if (names.empty())
    return {};
  return fmt::format("# Other functions, by where the program was found every few milliseconds: {}\n"
                     "# To count and measure their calls: umwelt kernels --functions {}\n",
                     fmt::join(shares, ", "), fmt::join(names, ","));
}

} // namespace

Kernels watched_kernels(std::span<const std::string> symbols)
{
  Kernels kernels;
  kernels.profile = true;
  for (const std::string& name : builtin_names()) {
    Kernel kernel = watched(name);
    kernel.is_expected = false;
    if (!kernel.of_plan)
      std::erase_if(kernel.entries, [&](const Entry& entry) { return entry.symbol == name; });
    kernels.list.push_back(std::move(kernel));
  }
  for (const std::string& symbol : symbols) {
    const auto same = std::find_if(kernels.list.begin(), kernels.list.end(), [&](const Kernel& kernel) {
      return kernel.name == symbol || std::any_of(kernel.entries.begin(), kernel.entries.end(),
                                                  [&](const Entry& entry) { return entry.symbol == symbol; });
    });
    if (same == kernels.list.end())
      kernels.list.push_back(watched(symbol));
    else if (same->is_expected)
      throw UsageError("--functions " + symbol, "each function once", "it again", "Remove one of them.");
    else
      same->is_expected = true;
  }
  return kernels;
}

Kernel& add_mark(Kernels& kernels, const std::string& symbol, std::uint32_t mark, std::string_view why)
{
  for (const Kernel& kernel : kernels.list)
    for (const Entry& entry : kernel.entries)
      if (entry.symbol == symbol)
        throw UsageError(fmt::format("{} {}", why, symbol), "a function that is no kernel",
                         fmt::format("kernel {} ({})", kernel.name, kernel.where),
                         "Take another function, or leave "
                         "the kernel out.");
  Kernel kernel;
  kernel.name = symbol;
  kernel.where = fmt::format("{} {}", why, symbol);
  kernel.entries.push_back({symbol, std::nullopt, {}});
  kernel.mark = mark;
  return kernels.list.emplace_back(std::move(kernel));
}

std::string first_kernels_file(const Kernels& kernels, std::span<const Totals> totals, const Profile& profile,
                               double computing, double least, std::span<const std::string> commands)
{
  std::vector<Found> found;
  std::vector<std::string> small;
  for (std::size_t i = 0; i < kernels.list.size() && i < totals.size(); ++i) {
    if (totals[i].sizes.classes().empty())
      continue;
    if (sim::to_seconds(totals[i].time) >= least * computing)
      found.push_back({&kernels.list[i], &totals[i]});
    else
      small.push_back(kernels.list[i].name);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.totals->time > b.totals->time; });
  std::string text = fmt::format(
      "# Of `umwelt kernels`, a run of: {}\n# Durations are those of this machine. `action: skip` leaves out what the "
      "program can do without.\n",
      fmt::join(commands, " : "));
  text += unwatched_text(kernels, profile, least, commands);
  if (!small.empty())
    text += fmt::format("# Less than {:g} % of computing: {}\n", 100 * least, fmt::join(small, ", "));
  if (found.empty())
    return text + "kernels: []\n";
  text += "kernels:\n";
  for (const Found& one : found)
    text += "\n" + entry_of(one, computing);
  return text;
}

} // namespace umwelt::kernels
