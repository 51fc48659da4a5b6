// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/mpi/totals.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <vector>

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

// Behind the seventh space; npos, if there are fewer.
std::size_t begin_of_rest(std::string_view line)
{
  std::size_t at = 0;
  for (int words = 0; words < 7; ++words)
    if (at = line.find(' ', at); at++ == std::string_view::npos)
      return std::string_view::npos;
  return at;
}

// What lines end with, by number: ranks call from the same places.
class Places
{
public:
  std::size_t number_of(std::string_view place)
  {
    const auto [found, is_new] = numbers_.emplace(place, places_.size());
    if (is_new)
      places_.push_back(&found->first);
    return found->second;
  }
  [[nodiscard]] const std::string& at(std::size_t number) const { return *places_.at(number); }

private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<const std::string*> places_;
};

Places& places()
{
  static Places all;
  return all;
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
  keep(text);
  if (text_.size() > room_) {
    const std::string all = totals_text(totals());
    text_.clear();
    keep(all);
    room_ = std::max(room_, 2 * text_.size());
  }
  text_.shrink_to_fit();
}

void ToldTotals::keep(std::string_view text)
{
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t rest = begin_of_rest(line);
    if (rest == std::string_view::npos)
      continue; // it says nothing
    text_ += line.substr(0, rest);
    text_ += fmt::format("{}\n", places().number_of(line.substr(rest)));
  }
}

Totals ToldTotals::totals() const
{
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < text_.size(); begin = end + 1) {
    end = text_.find('\n', begin);
    const std::size_t number = text_.rfind(' ', end) + 1;
    text.append(text_, begin, number - begin);
    text += places().at(std::stoul(text_.substr(number, end - number)));
    text += '\n';
  }
  Totals totals;
  add_totals(totals, text);
  return totals;
}

} // namespace umwelt::mpi
