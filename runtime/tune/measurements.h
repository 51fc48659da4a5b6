// SPDX-License-Identifier: LGPL-2.1-or-later
// What algorithms of collectives took, and which of them is the best.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace umwelt::tune
{

// One of the ways in which an MPI library can do a collective. Number 0: whichever the library itself decides for.
struct Choice {
  unsigned number = 0;
  std::string name = "own decision"; // Open MPI has an algorithm called "default"
  std::uint64_t segment = 0;         // bytes; 0: in one piece
  unsigned fanout = 0;               // chains that a root begins; 0: this algorithm has none

  [[nodiscard]] bool is_default() const { return number == 0; }
  bool operator==(const Choice&) const = default;
};

// "chain, segments of 8 KiB, 4 chains"
std::string label(const Choice& choice);

// What one choice took, by size: the bytes that the count of a call stands for (program/calls.h).
struct Series {
  std::string function;
  unsigned ranks = 0;
  Choice choice;
  std::map<std::uint64_t, std::int64_t> times;   // nanoseconds
  std::map<std::uint64_t, std::string> problems; // sizes that have no time, and why
};

struct Best {
  const Series* series = nullptr; // null: nothing was measured
  std::int64_t time = 0;
};

// All of one function on one number of ranks, the library's own decision among them.
class Group
{
public:
  Group(std::string function, unsigned ranks, std::vector<Series> series);

  [[nodiscard]] const std::string& function() const { return function_; }
  [[nodiscard]] unsigned ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<Series>& series() const { return series_; }
  // Those that at least one choice has a time for.
  [[nodiscard]] std::vector<std::uint64_t> sizes() const;
  // The fastest; of several the one with the lowest number other than 0, so that it has a name.
  [[nodiscard]] Best best(std::uint64_t size) const;
  // If one choice has to do for all sizes: the smallest geometric mean of what it takes, among those with all times.
  [[nodiscard]] const Series* best_of_all_sizes() const;
  [[nodiscard]] const Series* default_series() const;

private:
  std::string function_;
  unsigned ranks_;
  std::vector<Series> series_;
};

// From the size on, up to the next one's.
struct Rule {
  std::uint64_t size = 0;
  Choice choice;
};

// The best choices, neighbours that are equal as one; the first begins at 0. Empty: nothing was measured.
std::vector<Rule> rules_by_size(const Group& group);
// One rule, for where sizes are not to be told apart.
std::vector<Rule> one_rule(const Group& group);
// What the rules choose for a size.
const Choice& chosen(const std::vector<Rule>& rules, std::uint64_t size);

struct Library {
  std::string key;  // "openmpi", as in names of files and tables
  std::string name; // "Open MPI"
  std::vector<Group> groups;
};

// All points: what was measured, and what was left out and why.
std::string csv(std::span<const Library> libraries);

} // namespace umwelt::tune
