// SPDX-License-Identifier: LGPL-2.1-or-later
// Parameters of a model that differ between nodes (and their sockets and cores): rows of values, one or more for each
// place. Several rows of one place are measurements of several days.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/random.h"

namespace umwelt::kernels
{

// Where a call is made. Sockets and cores are counted within the node, ranks within the job.
struct Place {
  std::uint32_t node = 0;
  std::uint32_t socket = 0;
  std::uint32_t core = 0;
  std::uint32_t rank = 0;
};

// How several rows become one set of values.
enum class RowChoice : std::uint8_t {
  mean,
  row,   // one of them at random
  normal // one draw of the multivariate normal distribution fitted to them
};

// What holds at places that have no row.
enum class Missing : std::uint8_t {
  error,
  cycle, // the rows of place n modulo how many there are
  draw   // those of a place that is drawn; of all places, where one row or a normal distribution is drawn
};

class ParameterTable
{
public:
  // Columns of keys beside that of the node.
  struct Keys {
    bool socket = false;
    bool core = false;
  };
  // `object`: how messages call it. `times`: 1 for parameters that are times.
  ParameterTable(std::string object, std::vector<std::string> names, std::vector<std::uint8_t> times, Keys keys)
      : object_(std::move(object)), names_(std::move(names)), times_(std::move(times)), keys_(keys)
  {
  }
  // A CSV file: a line of names, then one line a row. Columns `node`, `socket` and `core` are keys, the others that
  // hold numbers are parameters; a unit of time in brackets behind a name ("alpha [us]") is that of its column. Empty
  // lines and lines that begin with # do not count. Throws UsageError.
  static ParameterTable read(const std::string& path);

  void add(const Place& place, std::span<const double> values);
  [[nodiscard]] bool has(const Place& place) const { return rows_.contains(key(place)); }
  [[nodiscard]] std::size_t rows() const { return count_; }

  [[nodiscard]] const std::string& object() const { return object_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<std::uint8_t>& times() const { return times_; }
  [[nodiscard]] Keys keys() const { return keys_; }
  // Columns that are no parameters since a cell is no number, and what to say of them.
  struct Refused {
    std::string name;
    std::string object; // file:line
    std::string cell;
  };
  [[nodiscard]] const std::vector<Refused>& refused() const { return refused_; }
  // Throws UsageError where `normal` has a place with a single row.
  void check(RowChoice choice) const;

  // Values of a place in the order of names(). The table must not be empty; `missing` must not be `error` where the
  // place has no row. What is drawn depends on `key` and the place alone.
  [[nodiscard]] std::vector<double> choose(const Place& place, RowChoice choice, Missing missing,
                                           const RandomKey& key) const;

private:
  // node, socket, core; 0 where there is no such column.
  using Key = std::array<std::uint32_t, 3>;
  [[nodiscard]] Key key(const Place& place) const
  {
    return {place.node, keys_.socket ? place.socket : 0, keys_.core ? place.core : 0};
  }
  // The row's place that stands in for one without rows.
  [[nodiscard]] Key substitute(const Place& place, Missing missing, const RandomKey& key) const;
  [[nodiscard]] std::vector<double> pick(std::span<const std::size_t> rows, RowChoice choice, Draws& draws) const;
  [[nodiscard]] std::span<const double> row(std::size_t index) const
  {
    return std::span(values_).subspan(index * names_.size(), names_.size());
  }

  std::string object_;
  std::vector<std::string> names_;
  std::vector<std::uint8_t> times_;
  Keys keys_;
  std::size_t count_ = 0;      // of rows
  std::vector<double> values_; // of all of them
  std::map<Key, std::vector<std::size_t>> rows_;
  std::vector<Refused> refused_;
};

} // namespace umwelt::kernels
