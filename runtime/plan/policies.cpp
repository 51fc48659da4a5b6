// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/policies.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <string>

#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"

namespace umwelt::plan
{
namespace
{

constexpr std::array<std::string_view, 9> within_node{"slot",  "core",    "hwthread", "socket", "numa",
                                                      "board", "l1cache", "l2cache",  "l3cache"};
// Places of which a simulated node has exactly one, so that "N per place" is "N per node".
constexpr std::array<std::string_view, 4> one_per_node{"node", "socket", "numa", "board"};

template <std::size_t size> bool contains(const std::array<std::string_view, size>& words, std::string_view word)
{
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string lower(std::string_view text)
{
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

// What stands before `separator`; `text` becomes what stands behind it.
std::string_view take(std::string_view& text, std::string_view separators)
{
  const auto end = text.find_first_of(separators);
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

[[noreturn]] void throw_policy(std::string_view option, std::string_view expected, std::string_view text,
                               std::span<const std::string_view> known)
{
  throw UsageError(option, expected, in_quotes(text),
                   fmt::format("The nearest known one is '{}'.", nearest(lower(text), known)));
}

} // namespace

void apply_map_by(std::string_view option, std::string_view text, RunOptions& run)
{
  const std::string lowered = lower(text);
  std::string_view rest = lowered;
  const std::string_view policy = take(rest, ":");
  if (policy == "ppr") {
    const std::string_view number = take(rest, ":");
    const std::string_view place = take(rest, ":,");
    run.ranks_per_node = static_cast<unsigned>(
        read_count(fmt::format("{}: N of ppr:N:node", option), number, "a number of ranks", 1, 1'000'000));
    if (!contains(one_per_node, place))
      throw UsageError(option, "ppr:N:node", in_quotes(text),
                       "Only ranks per node can be set; :PE=N sets cores per rank.");
    run.map_by = MapBy::slot;
  } else if (policy == "node")
    run.map_by = MapBy::node;
  else if (contains(within_node, policy))
    run.map_by = MapBy::slot;
  else if (!policy.empty() || rest.empty()) { // ":PE=2" alone keeps the policy
    static constexpr std::array<std::string_view, 11> known{"slot",    "core",    "hwthread", "socket", "numa", "board",
                                                            "l1cache", "l2cache", "l3cache",  "node",   "ppr"};
    throw_policy(option, "slot, core, node or ppr:N:node", text, known);
  }

  while (!rest.empty()) {
    const std::string_view modifier = take(rest, ":,");
    if (modifier.starts_with("pe="))
      run.cores_per_rank = static_cast<unsigned>(
          read_count(fmt::format("{}: PE", option), modifier.substr(3), "a number of cores", 1, 1'000'000));
    else if (modifier == "oversubscribe")
      run.oversubscribe = true;
    else if (modifier == "nooversubscribe")
      run.oversubscribe = false;
    else if (modifier != "span") { // one socket per node: spanning them changes nothing
      static constexpr std::array<std::string_view, 4> known{"pe=n", "oversubscribe", "nooversubscribe", "span"};
      throw_policy(option, "PE=N, OVERSUBSCRIBE, NOOVERSUBSCRIBE or SPAN after the policy", modifier, known);
    }
  }
}

RankBy parse_rank_by(std::string_view option, std::string_view text)
{
  const std::string lowered = lower(text);
  std::string_view rest = lowered;
  const std::string_view policy = take(rest, ":");
  if (policy == "node")
    return RankBy::node;
  if (contains(within_node, policy) && (rest.empty() || rest == "span" || rest == "fill"))
    return RankBy::slot;
  static constexpr std::array<std::string_view, 10> known{"slot",  "core",    "hwthread", "socket",  "numa",
                                                          "board", "l1cache", "l2cache",  "l3cache", "node"};
  throw_policy(option, "slot, core or node", text, known);
}

bool parse_bind_to(std::string_view option, std::string_view text)
{
  static constexpr std::array<std::string_view, 10> known{"core",    "none",    "hwthread", "socket", "numa",
                                                          "l1cache", "l2cache", "l3cache",  "board",  "cpu-list"};
  static constexpr std::array<std::string_view, 5> whole_node{"none", "socket", "numa", "l3cache", "board"};
  const std::string lowered = lower(text);
  std::string_view rest = lowered;
  const std::string_view policy = take(rest, ":");
  if (!contains(known, policy))
    throw_policy(option, "none, core, socket or another policy of mpirun", text, known);
  return !contains(whole_node, policy);
}

engine::CpuPolicy parse_cpu(std::string_view option, std::string_view text)
{
  engine::CpuPolicy policy;
  if (text == "measured")
    return policy;
  if (text == "none") {
    policy.kind = engine::CpuPolicy::Kind::none;
    return policy;
  }
  if (text.starts_with("fixed=")) {
    const std::string_view value = text.substr(6);
    const bool plain = !value.empty() && value.find_first_not_of("0123456789.") == std::string_view::npos;
    policy.kind = engine::CpuPolicy::Kind::fixed;
    policy.fixed =
        read_duration(fmt::format("{} fixed", option), plain ? std::string(value) + "ns" : std::string(value));
    return policy;
  }
  if (text.starts_with("scale=")) {
    policy.kind = engine::CpuPolicy::Kind::scaled;
    policy.scale = read_factor(fmt::format("{} scale", option), text.substr(6));
    return policy;
  }
  throw UsageError(option, "measured, none, fixed=NS or scale=F", in_quotes(text),
                   "For example: --cpu none (no computation time), --cpu scale=0.5 (a machine twice as fast)");
}

observe::TraceFormat parse_trace_format(std::string_view option, std::string_view text)
{
  for (const observe::TraceFormatRow& row : observe::trace_formats)
    if (text == row.name)
      return row.format;
  throw UsageError(option, observe::trace_format_names(), in_quotes(text), "For example: --trace-format perfetto");
}

std::vector<std::uint32_t> parse_rank_list(std::string_view option, std::string_view text, std::uint64_t ranks)
{
  const auto number = [&](std::string_view digits, std::uint64_t least) {
    return read_count(option, digits, "ranks (0,4-7), each", least, ranks - 1);
  };
  std::set<std::uint32_t> chosen;
  std::string_view rest = text;
  for (bool more = true; more;) {
    more = rest.find(',') != std::string_view::npos;
    std::string_view range = take(rest, ",");
    const bool several = range.find('-') != std::string_view::npos;
    const std::uint64_t first = number(take(range, "-"), 0);
    const std::uint64_t last = several ? number(range, first) : first;
    for (std::uint64_t rank = first; rank <= last; ++rank)
      chosen.insert(static_cast<std::uint32_t>(rank));
  }
  return {chosen.begin(), chosen.end()};
}

OutputFiles parse_output_files(std::string_view option, std::string_view text)
{
  OutputFiles files;
  std::string_view rest = text;
  files.directory = std::string(take(rest, ":"));
  if (files.directory.empty())
    throw UsageError(option, "a directory", in_quotes(text), "For example: --output-filename out");
  while (!rest.empty()) {
    const std::string_view modifier = take(rest, ":,");
    if (modifier == "nojobid")
      files.job_directory = false;
    else if (modifier == "nocopy")
      files.copy = false;
    else
      throw UsageError(option, "nojobid or nocopy after the directory", in_quotes(modifier),
                       "For example: --output-filename out:nojobid,nocopy");
  }
  return files;
}

} // namespace umwelt::plan
