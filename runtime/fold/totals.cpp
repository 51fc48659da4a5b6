// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/fold/totals.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace umwelt::fold
{

Totals& Totals::operator+=(const Totals& other)
{
  pieces += other.pieces;
  bytes += other.bytes;
  forgotten += other.forgotten;
  exists = exists || other.exists;
  if (nearest.empty())
    nearest = other.nearest;
  return *this;
}

std::string totals_text(const std::vector<Totals>& totals)
{
  std::string text;
  for (const Totals& one : totals)
    text += fmt::format("{} {} {} {} {}\n", one.pieces, one.bytes, one.forgotten, one.exists ? 1 : 0,
                        one.nearest.empty() ? "-" : one.nearest);
  return text;
}

void add_totals(std::vector<Totals>& totals, std::string_view text)
{
  std::istringstream lines{std::string(text)};
  Totals one;
  for (std::size_t i = 0; lines >> one.pieces >> one.bytes >> one.forgotten >> one.exists >> one.nearest; ++i) {
    if (one.nearest == "-")
      one.nearest.clear();
    if (i < totals.size())
      totals[i] += one;
    else
      totals.push_back(one);
  }
}

} // namespace umwelt::fold
