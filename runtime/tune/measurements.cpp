// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/measurements.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "runtime/tune/text.h"

namespace umwelt::tune
{

std::string label(const Choice& choice)
{
  std::string text = choice.name;
  if (choice.segment > 0)
    text += fmt::format(", segments of {}", bytes_text(choice.segment));
  if (choice.fanout > 0)
    text += fmt::format(", {} chain{}", choice.fanout, choice.fanout == 1 ? "" : "s");
  return text;
}

Group::Group(std::string function, unsigned ranks, std::vector<Series> series)
    : function_(std::move(function)), ranks_(ranks), series_(std::move(series))
{
}

std::vector<std::uint64_t> Group::sizes() const
{
  std::set<std::uint64_t> sizes;
  for (const Series& one : series_)
    for (const auto& [size, time] : one.times)
      sizes.insert(size);
  return {sizes.begin(), sizes.end()};
}

Best Group::best(std::uint64_t size) const
{
  Best best;
  for (const Series& one : series_) {
    const auto found = one.times.find(size);
    if (found == one.times.end())
      continue;
    if (best.series == nullptr || found->second < best.time ||
        (found->second == best.time && best.series->choice.is_default()))
      best = {&one, found->second};
  }
  return best;
}

const Series* Group::best_of_all_sizes() const
{
  const std::vector<std::uint64_t> wanted = sizes();
  const Series* best = nullptr;
  double least = 0;
  for (const Series& one : series_) {
    if (one.times.empty() || one.times.size() != wanted.size())
      continue;
    double sum = 0;
    for (const auto& [size, time] : one.times)
      sum += std::log(static_cast<double>(std::max<std::int64_t>(time, 1)));
    if (best == nullptr || sum < least || (sum == least && best->choice.is_default())) {
      best = &one;
      least = sum;
    }
  }
  return best;
}

const Series* Group::default_series() const
{
  const auto found =
      std::find_if(series_.begin(), series_.end(), [](const Series& one) { return one.choice.is_default(); });
  return found == series_.end() ? nullptr : &*found;
}

std::vector<Rule> rules_by_size(const Group& group)
{
  std::vector<Rule> rules;
  for (const std::uint64_t size : group.sizes()) {
    const Choice& choice = group.best(size).series->choice;
    if (rules.empty() || rules.back().choice != choice)
      rules.push_back({rules.empty() ? 0 : size, choice});
  }
  return rules;
}

std::vector<Rule> one_rule(const Group& group)
{
  const Series* best = group.best_of_all_sizes();
  return best == nullptr ? std::vector<Rule>() : std::vector<Rule>{{0, best->choice}};
}

const Choice& chosen(const std::vector<Rule>& rules, std::uint64_t size)
{
  static const Choice none;
  const Choice* choice = &none;
  for (const Rule& rule : rules)
    if (rule.size <= size)
      choice = &rule.choice;
  return *choice;
}

namespace
{

std::string quoted(std::string_view text)
{
  if (text.find_first_of(",\"\n") == std::string_view::npos)
    return std::string(text);
  std::string result = "\"";
  for (const char c : text)
    result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::string row(const Library& library, const Series& one, std::uint64_t size, std::string_view time,
                std::string_view problem)
{
  return fmt::format("{},{},{},{},{},{},{},{},{},{}\n", library.key, one.function, one.ranks, size, one.choice.number,
                     quoted(one.choice.name), one.choice.segment, one.choice.fanout, time, quoted(problem));
}

} // namespace

std::string csv(std::span<const Library> libraries)
{
  std::string text = "mpi,function,ranks,bytes,number,algorithm,segment,fanout,time [ns],problem\n";
  for (const Library& library : libraries)
    for (const Group& group : library.groups)
      for (const Series& one : group.series()) {
        for (const auto& [size, time] : one.times)
          text += row(library, one, size, fmt::format("{}", time), "");
        for (const auto& [size, problem] : one.problems)
          text += row(library, one, size, "", problem);
      }
  return text;
}

} // namespace umwelt::tune
