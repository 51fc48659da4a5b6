// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/parameter_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/csv.h"
#include "runtime/kernels/noise.h"

namespace umwelt::kernels
{
namespace
{

struct Column {
  enum class Use : std::uint8_t { parameter, node, socket, core };
  std::string name;
  Use use = Use::parameter;
  double unit = 0;    // of time; 0: none
  std::string object; // of the first cell that is no number
  std::string refused;
  std::vector<double> values;
};

Column read_header(const std::string& cell, const CsvReader& reader)
{
  Column column;
  std::tie(column.name, column.unit) = csv_header(cell, reader.object());
  if (column.name == "node")
    column.use = Column::Use::node;
  else if (column.name == "socket")
    column.use = Column::Use::socket;
  else if (column.name == "core")
    column.use = Column::Use::core;
  return column;
}

// The lower triangle L with L L^T = `matrix` (n x n, symmetric, positive semi-definite; its upper part is ignored).
// Where a row depends on those before it, its column is zero.
void cholesky(std::vector<double>& matrix, std::size_t n)
{
  constexpr double rounding = 1e-12;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i)
      for (std::size_t k = 0; k < j; ++k)
        matrix[i * n + j] -= matrix[i * n + k] * matrix[j * n + k];
    const double pivot = matrix[j * n + j] > rounding ? std::sqrt(matrix[j * n + j]) : 0;
    for (std::size_t i = j; i < n; ++i)
      matrix[i * n + j] = pivot == 0 ? 0 : i == j ? pivot : matrix[i * n + j] / pivot;
  }
}

} // namespace

ParameterTable ParameterTable::read(const std::string& path)
{
  CsvReader reader(path, "The path is relative to the kernels file.");
  std::vector<std::string> row;
  if (!reader.next(row))
    throw UsageError(path, "a line with the names of the columns", "an empty file", "For example: node,alpha,beta");
  std::vector<Column> columns;
  for (const std::string& cell : row) {
    columns.push_back(read_header(cell, reader));
    for (std::size_t i = 0; i + 1 < columns.size(); ++i)
      if (columns[i].name == columns.back().name)
        throw UsageError(reader.object(), "each column once", fmt::format("{} twice", in_quotes(columns[i].name)),
                         "Rename one of them.");
  }
  const auto keyed = [&](Column::Use use) {
    return std::any_of(columns.begin(), columns.end(), [&](const Column& column) { return column.use == use; });
  };
  if (!keyed(Column::Use::node))
    throw UsageError(reader.object(), "a column 'node'", "none",
                     "Nodes are counted from 0, like hosts of the platform.");

  std::vector<Place> places;
  while (reader.next(row)) {
    if (row.size() != columns.size())
      throw UsageError(reader.object(), fmt::format("{} cells, as in the first line", columns.size()),
                       fmt::format("{}", row.size()), "Separate cells by commas.");
    Place place;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      Column& column = columns[i];
      if (column.use == Column::Use::parameter) {
        const auto number = csv_number<double>(row[i]);
        const bool finite = number && std::isfinite(*number);
        if (!finite && column.object.empty()) {
          column.object = fmt::format("{}, column {}", reader.object(), column.name);
          column.refused = row[i];
        }
        column.values.push_back(!finite ? 0 : column.unit == 0 ? *number : *number * column.unit);
        continue;
      }
      const auto number = csv_number<std::uint32_t>(row[i]);
      if (!number)
        throw UsageError(fmt::format("{}, column {}", reader.object(), column.name), "a whole number",
                         in_quotes(row[i]), "Nodes, sockets and cores are counted from 0.");
      (column.use == Column::Use::node     ? place.node
       : column.use == Column::Use::socket ? place.socket
                                           : place.core) = *number;
    }
    places.push_back(place);
  }
  if (places.empty())
    throw UsageError(path, "a row of values", "none", "Add one line for each node.");

  std::vector<std::string> names;
  std::vector<std::uint8_t> times;
  std::vector<Refused> refused;
  const Keys keys{keyed(Column::Use::socket), keyed(Column::Use::core)};
  std::erase_if(columns, [](const Column& column) { return column.use != Column::Use::parameter; });
  for (const Column& column : columns) {
    if (!column.object.empty()) {
      refused.push_back({column.name, column.object, column.refused});
      continue;
    }
    names.push_back(column.name);
    times.push_back(column.unit != 0 ? 1 : 0);
  }
  std::erase_if(columns, [](const Column& column) { return !column.object.empty(); });
  ParameterTable table(path, std::move(names), std::move(times), keys);
  table.refused_ = std::move(refused);
  std::vector<double> values(columns.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::transform(columns.begin(), columns.end(), values.begin(), [&](const Column& c) { return c.values[i]; });
    table.add(places[i], values);
  }
  return table;
}

void ParameterTable::add(const Place& place, std::span<const double> values)
{
  rows_[key(place)].push_back(count_++);
  values_.insert(values_.end(), values.begin(), values.end());
}

void ParameterTable::check(RowChoice choice) const
{
  if (choice != RowChoice::normal)
    return;
  for (const auto& [place, rows] : rows_)
    if (rows.size() < 2)
      throw UsageError(object_, "two rows or more for each place, to fit a normal distribution to",
                       fmt::format("one for node {}", place[0]), "Use 'draw: mean' or add rows of other days.");
}

ParameterTable::Key ParameterTable::substitute(const Place& place, Missing missing, const RandomKey& random) const
{
  // Level by level: the wanted node, socket and core where there is one, the n-th of those there are otherwise.
  const Key wanted = key(place);
  Key found{};
  for (std::size_t level = 0; level < found.size(); ++level) {
    std::vector<std::uint32_t> choice;
    Key from = found;
    std::fill(from.begin() + static_cast<std::ptrdiff_t>(level), from.end(), 0);
    for (auto at = rows_.lower_bound(from);
         at != rows_.end() &&
         std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(level), at->first.begin());
         at = rows_.lower_bound(from)) {
      choice.push_back(at->first[level]);
      if (choice.back() == std::numeric_limits<std::uint32_t>::max())
        break;
      from[level] = choice.back() + 1;
    }
    if (std::find(choice.begin(), choice.end(), wanted[level]) != choice.end()) {
      found[level] = wanted[level];
    } else if (missing == Missing::draw && level == 0) {
      // Drawn for the node, so that all its sockets are those of one node.
      constexpr std::uint32_t any = std::numeric_limits<std::uint32_t>::max();
      const double number = Draws(random, wanted[0], any, any).uniform();
      found[level] = choice[static_cast<std::size_t>(number * static_cast<double>(choice.size()))];
    } else {
      found[level] = choice[wanted[level] % choice.size()];
    }
  }
  return found;
}

std::vector<double> ParameterTable::choose(const Place& place, RowChoice choice, Missing missing,
                                           const RandomKey& random) const
{
  const Key wanted = key(place);
  Draws draws(random, wanted[0], wanted[1], wanted[2]);
  if (const auto found = rows_.find(wanted); found != rows_.end())
    return pick(found->second, choice, draws);
  if (missing == Missing::draw && choice != RowChoice::mean) {
    std::vector<std::size_t> all(rows());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return pick(all, choice, draws);
  }
  return pick(rows_.at(substitute(place, missing, random)), choice, draws);
}

std::vector<double> ParameterTable::pick(std::span<const std::size_t> rows, RowChoice choice, Draws& draws) const
{
  const std::size_t n = names_.size();
  const auto count = static_cast<double>(rows.size());
  if (choice == RowChoice::row) {
    const std::span<const double> one = row(rows[static_cast<std::size_t>(draws.uniform() * count)]);
    return {one.begin(), one.end()};
  }
  std::vector<double> mean(n);
  for (const std::size_t index : rows)
    for (std::size_t i = 0; i < n; ++i)
      mean[i] += row(index)[i] / count;
  if (choice == RowChoice::mean || rows.size() < 2)
    return mean;

  // Of correlations rather than covariances, since the parameters' orders of magnitude differ.
  std::vector<double> deviation(n);
  std::vector<double> matrix(n * n);
  for (const std::size_t index : rows)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        matrix[i * n + j] += (row(index)[i] - mean[i]) * (row(index)[j] - mean[j]) / (count - 1);
  for (std::size_t i = 0; i < n; ++i)
    deviation[i] = std::sqrt(matrix[i * n + i]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      if (const double scale = deviation[i] * deviation[j]; scale != 0)
        matrix[i * n + j] /= scale;
  cholesky(matrix, n);
  std::vector<double> normal(n);
  for (double& value : normal)
    value = standard_normal_quantile(draws.uniform());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      mean[i] += deviation[i] * matrix[i * n + j] * normal[j];
  return mean;
}

} // namespace umwelt::kernels
