// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/calibrate/kernel_measurements.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"
#include "runtime/kernels/csv.h"
#include "runtime/kernels/fitting/terms.h"

namespace umwelt::calibrate
{
namespace
{

constexpr double left_side = 'L';

struct Columns {
  std::optional<std::size_t> kernel, duration, node, socket, core, day;
  std::vector<std::optional<std::size_t>> sizes;
  double unit = 0; // of the duration, seconds
};

Columns read_header(const std::vector<std::string>& row, const std::string& object,
                    const kernels::KernelFunction& kernel)
{
  Columns columns;
  columns.sizes.resize(kernel.sizes.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string name = row[i].substr(0, row[i].find_first_of(" ["));
    const auto size = std::find(kernel.sizes.begin(), kernel.sizes.end(), name);
    std::optional<std::size_t>* place = name == "kernel"                    ? &columns.kernel
                                        : name == "duration"                ? &columns.duration
                                        : name == "node"                    ? &columns.node
                                        : name == "socket" || name == "cpu" ? &columns.socket
                                        : name == "core"                    ? &columns.core
                                        : name == "day"                     ? &columns.day
                                                                            : nullptr;
    if (size != kernel.sizes.end())
      place = &columns.sizes[static_cast<std::size_t>(size - kernel.sizes.begin())];
    if (place == nullptr)
      continue;
    if (*place)
      throw UsageError(object, "each column once", fmt::format("{} twice", in_quotes(name)), "Rename one of them.");
    *place = i;
    if (name == "duration")
      columns.unit = kernels::csv_header(row[i], object).second;
  }
  const auto missing = [&](const std::string& what) {
    throw UsageError(
        object, what, fmt::format("{}", fmt::join(row, ", ")),
        fmt::format("{} needs columns {}, and 'duration' with its unit.", kernel.name, fmt::join(kernel.sizes, ", ")));
  };
  if (!columns.duration || columns.unit == 0)
    missing("a column 'duration [s]', with its unit in brackets");
  for (std::size_t i = 0; i < kernel.sizes.size(); ++i)
    if (!columns.sizes[i] && !kernels::is_character(kernel, kernel.sizes[i]))
      missing(fmt::format("a column '{}'", kernel.sizes[i]));
  return columns;
}

double read_number(const std::string& cell, const std::string& object, const std::string& column)
{
  const auto number = kernels::csv_number<double>(cell);
  if (!number || !std::isfinite(*number) || *number < 0)
    throw UsageError(fmt::format("{}, column {}", object, column), "a number that is not negative", in_quotes(cell),
                     "Leave out what could not be measured.");
  return *number;
}

std::uint32_t read_index(const std::string& cell, const std::string& object, const std::string& column)
{
  const auto number = kernels::csv_number<std::uint32_t>(cell);
  if (!number)
    throw UsageError(fmt::format("{}, column {}", object, column), "a whole number", in_quotes(cell),
                     "Nodes, sockets and cores are counted from 0.");
  return *number;
}

double read_size(const std::string& cell, const std::string& object, const kernels::KernelFunction& kernel,
                 const std::string& size)
{
  const bool letter = cell.size() == 1 && cell[0] >= 'A' && cell[0] <= 'z';
  if (kernels::is_character(kernel, size) && letter)
    return cell[0] & ~0x20; // capitals
  return read_number(cell, object, size);
}

// As it is written: characters by their letters.
std::string size_cell(const kernels::KernelFunction& kernel, std::size_t size, double value)
{
  const bool letter = kernels::is_character(kernel, kernel.sizes[size]) && value >= 'A' && value <= 'Z';
  return letter ? std::string(1, static_cast<char>(value)) : fmt::format("{}", value);
}

} // namespace

KernelMeasurements read_measurements(const std::string& path, const kernels::KernelFunction& kernel)
{
  kernels::CsvReader reader(path, "Give a file with a line of column names, and one line for each call.");
  std::vector<std::string> row;
  if (!reader.next(row))
    throw UsageError(path, "a line with the names of the columns", "an empty file",
                     fmt::format("For example: {},duration [s]", fmt::join(kernel.sizes, ",")));
  const std::size_t width = row.size();
  const Columns columns = read_header(row, reader.object(), kernel);
  KernelMeasurements result{
      &kernel, columns.node.has_value(), columns.socket.has_value(), columns.core.has_value(), columns.day.has_value(),
      {}};
  while (reader.next(row)) {
    const std::string object = reader.object();
    if (row.size() != width)
      throw UsageError(object, fmt::format("{} cells, as in the first line", width), fmt::format("{}", row.size()),
                       "Separate cells by commas.");
    if (columns.kernel && row[*columns.kernel] != kernel.name)
      continue;
    MeasuredCall call;
    for (std::size_t i = 0; i < kernel.sizes.size(); ++i)
      call.sizes.push_back(columns.sizes[i] ? read_size(row[*columns.sizes[i]], object, kernel, kernel.sizes[i])
                                            : left_side);
    call.duration = read_number(row[*columns.duration], object, "duration") * columns.unit;
    if (call.duration == 0)
      throw UsageError(fmt::format("{}, column duration", object), "more than 0", in_quotes(row[*columns.duration]),
                       "Measure with a finer clock, or leave the line out.");
    if (columns.node)
      call.place.node = read_index(row[*columns.node], object, "node");
    if (columns.socket)
      call.place.socket = read_index(row[*columns.socket], object, "socket");
    if (columns.core)
      call.place.core = read_index(row[*columns.core], object, "core");
    if (columns.day)
      call.day = row[*columns.day];
    result.calls.push_back(std::move(call));
  }
  if (result.calls.empty())
    throw UsageError(path, fmt::format("calls of {}", kernel.name), "none", "Add one line for each call.");
  return result;
}

std::string measurements_csv(std::span<const KernelMeasurements> measurements)
{
  std::vector<std::string> sizes;
  const auto any = [&](bool KernelMeasurements::*what) {
    return std::any_of(measurements.begin(), measurements.end(), [&](const KernelMeasurements& m) { return m.*what; });
  };
  for (const KernelMeasurements& one : measurements)
    for (const std::string& size : one.kernel->sizes)
      if (std::find(sizes.begin(), sizes.end(), size) == sizes.end())
        sizes.push_back(size);
  const bool node = any(&KernelMeasurements::node);
  const bool socket = any(&KernelMeasurements::socket);
  const bool core = any(&KernelMeasurements::core);
  std::string text = fmt::format("kernel,{}{}{}{}{}duration [s]\n", node ? "node," : "", socket ? "socket," : "",
                                 core ? "core," : "", fmt::join(sizes, ","), sizes.empty() ? "" : ",");
  for (const KernelMeasurements& one : measurements)
    for (const MeasuredCall& call : one.calls) {
      text += one.kernel->name + ",";
      if (node)
        text += fmt::format("{},", call.place.node);
      if (socket)
        text += fmt::format("{},", call.place.socket);
      if (core)
        text += fmt::format("{},", call.place.core);
      for (const std::string& size : sizes) {
        const auto own = std::find(one.kernel->sizes.begin(), one.kernel->sizes.end(), size);
        const auto index = static_cast<std::size_t>(own - one.kernel->sizes.begin());
        text += own == one.kernel->sizes.end() ? "," : size_cell(*one.kernel, index, call.sizes[index]) + ",";
      }
      text += fmt::format("{:.6g}\n", call.duration);
    }
  return text;
}

const kernels::KernelFunction& known_kernel(const std::string& name)
{
  if (const kernels::KernelFunction* found = kernels::find_builtin(name))
    return *found;
  const std::vector<std::string> names = kernels::builtin_names();
  const std::string_view guess = plausible(name, names);
  throw UsageError(fmt::format("kernel {}", in_quotes(name)), "a function of BLAS, LAPACK or FFTW", "an unknown one",
                   guess.empty() ? "For example: dgemm" : fmt::format("The nearest known one is {}.", guess));
}

} // namespace umwelt::calibrate
