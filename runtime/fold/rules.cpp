// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/fold/rules.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runtime/base/nearest.h"
#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"

namespace umwelt::fold
{

namespace
{

constexpr std::array<std::string_view, 6> keys{"at_least", "at_most", "function", "call", "in", "keep"};
const std::array<std::string, 1> variables{"size"};
constexpr std::uint64_t smallest_rule = 4096; // a page

std::string_view trimmed(std::string_view text)
{
  const auto begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// At commas that are not between parentheses.
std::vector<std::string_view> parts_of(std::string_view text)
{
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(')
      ++depth;
    else if (i < text.size() && text[i] == ')')
      --depth;
    else if (i == text.size() || (text[i] == ',' && depth <= 0)) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return parts;
}

std::uint64_t read_size(const std::string& object, std::string_view text)
{
  std::uint64_t bytes = 0;
  if (!parse_size(text, bytes))
    throw UsageError(object, "a size", in_quotes(text), "For example: at_least=1MiB");
  return bytes;
}

kernels::Expression read_bound(const std::string& object, std::string_view text)
{
  kernels::Expression bound(text, variables, object, "the only variable is size, bytes of the allocation");
  require_number(bound, "a number of bytes from the beginning of the allocation");
  return bound;
}

Rule::Keep read_keep(const std::string& object, std::string_view text)
{
  const auto dots = text.find("..");
  if (dots == std::string_view::npos)
    throw UsageError(object, "BEGIN..END, expressions of size", in_quotes(text),
                     "For example: keep=0..4KiB, or keep=size-64..size");
  return {read_bound(object, trimmed(text.substr(0, dots))), read_bound(object, trimmed(text.substr(dots + 2)))};
}

// "OBJECT+0xOFFSET", or "0xOFFSET" in the program.
void read_call(Rule& rule, const std::string& object, std::string_view text)
{
  const auto mark = text.rfind("0x");
  std::uint64_t address = 0;
  if (mark != std::string_view::npos && (mark == 0 || (mark > 1 && text[mark - 1] == '+'))) {
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + mark + 2, end, address, 16);
    if (error == std::errc{} && last == end) {
      rule.call = address;
      if (mark > 0)
        rule.object = text.substr(0, mark - 1);
      return;
    }
  }
  throw UsageError(object, "OBJECT+0xOFFSET", in_quotes(text),
                   "The address of the call as `objdump -d OBJECT` shows it. For example: call=libfoo.so.1+0x4a10");
}

Rule read_rule(std::string_view text, const std::string& where)
{
  Rule rule;
  rule.text = text;
  rule.where = where;
  bool says_something = false;
  for (const std::string_view part : parts_of(text)) {
    const auto equals = part.find('=');
    const std::string_view key = trimmed(part.substr(0, equals));
    const std::string_view value = equals == std::string_view::npos ? "" : trimmed(part.substr(equals + 1));
    if (equals == std::string_view::npos || value.empty())
      throw UsageError(where, "KEY=VALUE,...", in_quotes(part), "For example: at_least=64MiB,function=solve");
    const std::string object = fmt::format("{}, {}", where, key);
    if (key == "at_least")
      rule.at_least = read_size(object, value);
    else if (key == "at_most")
      rule.at_most = read_size(object, value);
    else if (key == "function")
      rule.function = value;
    else if (key == "call")
      read_call(rule, object, value);
    else if (key == "in")
      rule.object = value;
    else if (key == "keep")
      rule.keep.push_back(read_keep(object, value));
    else
      throw UsageError(where, fmt::format("one of {}", fmt::join(keys, ", ")), in_quotes(key),
                       fmt::format("Did you mean {}?", nearest(key, keys)));
    says_something = says_something || key != "keep";
  }
  if (rule.call && !rule.function.empty())
    throw UsageError(where, "function or call", in_quotes(text), "A call lies in one function: leave function out.");
  if (!says_something)
    throw UsageError(where, "which allocations", in_quotes(text), "For example: at_least=64MiB");
  if (rule.at_least < smallest_rule)
    throw UsageError(where + ", at_least", "at least 4KiB, since memory is forgotten by the page",
                     size_text(rule.at_least), "Give a larger size.");
  if (rule.at_most < rule.at_least)
    throw UsageError(where, fmt::format("at_most of {} or more, since at_least is that", size_text(rule.at_least)),
                     size_text(rule.at_most), "No allocation would fit.");
  (void)rule.kept(rule.at_least);
  return rule;
}

std::uint64_t bytes_of(const kernels::Expression& bound, std::uint64_t size)
{
  const std::array<double, 1> values{static_cast<double>(size)};
  const double bytes = bound.evaluate(values);
  if (!(std::abs(bytes) <= 1e18))
    throw UsageError(bound.object(), fmt::format("a number of bytes for size = {}", size), fmt::format("{}", bytes),
                     fmt::format("The expression is {}.", bound.text()));
  return static_cast<std::uint64_t>(std::clamp(bytes, 0.0, static_cast<double>(size)));
}

void read_file(const std::string& path, std::vector<Rule>& rules)
{
  std::ifstream file(path);
  if (!file)
    throw UsageError("--fold @" + path, "a file of rules", "none that can be read", "Check its name.");
  const std::size_t before = rules.size();
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (!text.empty())
      rules.push_back(read_rule(text, fmt::format("{}:{}", path, number)));
  }
  if (rules.size() == before)
    throw UsageError("--fold @" + path, "a rule on each line", "none", "For example: at_least=64MiB,function=solve");
}

} // namespace

KeptRanges Rule::kept(std::uint64_t bytes) const
{
  std::vector<Span> ranges;
  for (const Keep& range : keep)
    ranges.push_back({bytes_of(range.begin, bytes), bytes_of(range.end, bytes)});
  return KeptRanges(std::move(ranges));
}

std::uint64_t Rules::least() const
{
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const Rule& rule : list)
    least = std::min(least, rule.at_least);
  return least;
}

std::uint64_t default_budget(std::uint64_t ranks)
{
  constexpr std::uint64_t least = 1 << 20;
  constexpr std::uint64_t most = 4 << 20;
  constexpr std::uint64_t together = 1 << 30;
  return std::clamp(together / std::max<std::uint64_t>(ranks, 1), least, most);
}

Rules read_rules(std::span<const std::string> texts)
{
  Rules rules;
  for (const std::string& text : texts) {
    if (text.starts_with('@'))
      read_file(text.substr(1), rules.list);
    else
      rules.list.push_back(read_rule(text, "--fold"));
  }
  return rules;
}

} // namespace umwelt::fold
