// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/profile.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace umwelt::kernels
{

std::uint64_t Profile::all() const
{
  std::uint64_t sum = 0;
  for (const auto& [function, number] : ticks)
    sum += number;
  return sum;
}

std::vector<std::pair<Profile::Function, std::uint64_t>> Profile::most(double least) const
{
  const double enough = least * static_cast<double>(all());
  std::vector<std::pair<Function, std::uint64_t>> found;
  for (const auto& one : ticks)
    if (static_cast<double>(one.second) >= enough)
      found.emplace_back(one);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return found;
}

namespace
{

constexpr std::string_view heading = "profile\n";

} // namespace

// Symbols have neither spaces nor line ends, paths rarely do: what is behind the second space is the object.
std::vector<std::string> profile_texts(const Profile& profile)
{
  constexpr std::size_t enough = 64 << 10; // bytes
  std::vector<std::string> texts;
  for (const auto& [function, number] : profile.ticks) {
    if (texts.empty() || texts.back().size() > enough)
      texts.emplace_back(heading);
    const auto& [object, symbol] = function;
    texts.back() += fmt::format("{} {} {}\n", number, symbol, object);
  }
  return texts;
}

bool add_profile(Profile& profile, std::string_view text)
{
  if (!text.starts_with(heading))
    return false;
  text.remove_prefix(heading.size());
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    const auto first = static_cast<std::size_t>(end - line.data());
    const std::size_t second = line.find(' ', first + 1);
    if (error != std::errc() || first >= line.size() || line[first] != ' ' || second == std::string_view::npos)
      continue;
    profile.ticks[{std::string(line.substr(second + 1)), std::string(line.substr(first + 1, second - first - 1))}] +=
        number;
  }
  return true;
}

} // namespace umwelt::kernels
