// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/mpi/totals.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "preload/abi/mpi_calls.h"

namespace umwelt::mpi
{

namespace
{

// A line: what it is of, the function, the count, then the rest.
std::string line(unsigned kind, std::uint32_t function, const Count& count, std::string_view rest)
{
  return fmt::format("{} {} {} {} {} {} {} {}\n", kind, function, count.calls, count.bytes, count.time, count.waited,
                     count.late, rest);
}

} // namespace

Count& Count::operator+=(const Count& other)
{
  calls += other.calls;
  bytes += other.bytes;
  time += other.time;
  waited += other.waited;
  late += other.late;
  return *this;
}

std::string totals_text(const Totals& totals)
{
  std::string text;
  for (const auto& [of, count] : totals.sites)
    text += line(UMW_MPI_COUNT_SITE, of.first, count, of.second);
  for (const auto& [of, count] : totals.sizes)
    text += line(UMW_MPI_COUNT_SIZE, of.first, count, fmt::format("{}", of.second));
  for (const auto& [peer, count] : totals.peers)
    text += line(UMW_MPI_COUNT_PEER, UMW_MPI_NONE, count, fmt::format("{}", peer));
  for (const auto& [of, count] : totals.communicators)
    text += line(UMW_MPI_COUNT_COMMUNICATOR, of.second, count, of.first);
  return text;
}

void add_totals(Totals& totals, std::string_view text)
{
  std::istringstream lines{std::string(text)};
  for (std::string one; std::getline(lines, one);) {
    std::istringstream words(one);
    unsigned kind = 0;
    std::uint32_t function = 0;
    Count count;
    if (!(words >> kind >> function >> count.calls >> count.bytes >> count.time >> count.waited >> count.late) ||
        function >= UMW_MPI_FUNCTIONS)
      continue;
    words.get();
    std::string rest;
    std::getline(words, rest);
    std::uint32_t number = 0;
    std::istringstream(rest) >> number;
    switch (kind) {
    case UMW_MPI_COUNT_SITE:
      totals.sites[{function, rest}] += count;
      break;
    case UMW_MPI_COUNT_SIZE:
      totals.sizes[{function, number}] += count;
      break;
    case UMW_MPI_COUNT_PEER:
      totals.peers[number] += count;
      break;
    case UMW_MPI_COUNT_COMMUNICATOR:
      totals.communicators[{rest, function}] += count;
      break;
    default:
      break;
    }
  }
}

void ToldTotals::add(std::string_view text)
{
  text_ += text;
  if (text_.size() > room_) {
    text_ = totals_text(totals());
    room_ = std::max(room_, 2 * text_.size());
  }
  text_.shrink_to_fit();
}

Totals ToldTotals::totals() const
{
  Totals totals;
  add_totals(totals, text_);
  return totals;
}

} // namespace umwelt::mpi
