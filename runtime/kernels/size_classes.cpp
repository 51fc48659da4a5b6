// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/size_classes.h"

#include <algorithm>
#include <cmath>
#include <istream>

#include <fmt/format.h>

namespace umwelt::kernels
{

void SizeClasses::add(std::span<const double> sizes, double seconds)
{
  const bool known = std::all_of(sizes.begin(), sizes.end(), [](double size) { return std::isfinite(size); });
  add(known ? std::vector<double>(sizes.begin(), sizes.end()) : std::vector<double>(), Class{1, seconds});
}

void SizeClasses::add(std::vector<double> sizes, const Class& more)
{
  constexpr double steps = 8; // of a power of two
  if (classes_.size() >= most_exact && !classes_.contains(sizes))
    for (double& size : sizes)
      if (size > 1)
        size = std::round(std::exp2(std::round(steps * std::log2(size)) / steps));
  Class& one = classes_[std::move(sizes)];
  one.calls += more.calls;
  one.seconds += more.seconds;
}

SizeClasses& SizeClasses::operator+=(const SizeClasses& other)
{
  for (const auto& [sizes, one] : other.classes_)
    add(sizes, one);
  return *this;
}

std::vector<std::string> SizeClasses::texts() const
{
  constexpr std::size_t together = 400;
  std::vector<std::string> texts;
  std::size_t left = classes_.size();
  std::size_t in_line = 0;
  for (const auto& [sizes, one] : classes_) {
    if (in_line == 0) {
      in_line = std::min(left, together);
      left -= in_line;
      texts.push_back(fmt::format("{}", in_line));
    }
    --in_line;
    texts.back() += fmt::format(" {} {} {}", one.calls, one.seconds, sizes.size());
    for (const double size : sizes)
      texts.back() += fmt::format(" {}", size);
  }
  if (texts.empty())
    texts.emplace_back("0");
  return texts;
}

bool SizeClasses::read(std::istream& from)
{
  constexpr std::size_t most_sizes = 64; // of a function
  std::size_t count = 0;
  from >> count;
  for (std::size_t i = 0; i < count && from; ++i) {
    Class one;
    std::size_t number = 0;
    if (!(from >> one.calls >> one.seconds >> number) || number > most_sizes)
      return false;
    std::vector<double> sizes(number);
    for (double& size : sizes)
      from >> size;
    if (from)
      add(std::move(sizes), one);
  }
  return static_cast<bool>(from);
}

std::vector<SizeClasses::Range> SizeClasses::ranges() const
{
  std::vector<Range> ranges;
  for (std::size_t i = 0;; ++i) {
    std::map<double, std::uint64_t> calls;
    std::uint64_t all = 0;
    for (const auto& [sizes, one] : classes_)
      if (i < sizes.size()) {
        calls[sizes[i]] += one.calls;
        all += one.calls;
      }
    if (calls.empty())
      return ranges;
    std::uint64_t passed = 0;
    const auto median = std::find_if(calls.begin(), calls.end(), [&](const auto& one) {
      passed += one.second;
      return 2 * passed >= all;
    });
    ranges.push_back({calls.begin()->first, median->first, calls.rbegin()->first});
  }
}

} // namespace umwelt::kernels
