// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/kernel.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"

namespace umwelt::kernels
{

bool Kernel::read(const Entry& entry, const CallRegisters& frame, const Plans& plans, std::span<double> values) const
{
  assert(values.size() >= variables.size());
  if (!entry.spelling)
    return true;
  const Spelling& spelling = *entry.spelling;
  std::vector<double> arguments(spelling.signature.parameters().size());
  spelling.signature.read(frame, arguments);
  if (asks_for_workspace(spelling, arguments))
    return false;
  for (std::size_t i = 0; i < entry.positions.size(); ++i)
    if (entry.positions[i] != Entry::unread)
      values[i] = arguments[entry.positions[i]];
  if (of_plan) {
    // Addresses have 47 bits, which a double holds.
    const PlanSizes* sizes = plans.find(static_cast<std::uint64_t>(arguments.front()));
    if (sizes == nullptr && action == Action::watch) {
      std::ranges::fill(values, std::numeric_limits<double>::quiet_NaN());
      return true;
    }
    if (sizes == nullptr)
      throw UsageError(
          where, "an FFTW plan that one of FFTW's plan functions has made",
          fmt::format("{:#x} in a call of {}", static_cast<std::uint64_t>(arguments.front()), entry.symbol),
          "Plans of fftw_mpi and of other libraries have no sizes here: use 'action: run' or 'sample' with "
          "a kernel of your own.");
    std::ranges::copy(sizes->values(), values.begin());
  }
  for (const auto& [count, variable] : {std::pair(&flops, "flops"), {&bytes, "bytes"}})
    if (*count)
      values[static_cast<std::size_t>(std::ranges::find(variables, variable) - variables.begin())] =
          (*count)->evaluate(values);
  return true;
}

bool Kernel::does_nothing(std::span<const double> values) const
{
  return std::ranges::any_of(extents, [&](std::size_t extent) { return values[extent] <= 0; });
}

void Kernel::set(const Entry& entry, const CallRegisters& frame, const Place& place, std::span<const double> values,
                 std::uint64_t call) const
{
  for (const Setting& setting : settings) {
    const Signature& signature = entry.spelling->signature;
    const std::size_t position = *signature.position(setting.parameter);
    const bool integer = !is_floating(signature.parameters()[position].kind);
    signature.set(frame, position, setting.value.evaluate(place, values, call, integer));
  }
}

std::vector<double> Kernel::classes(std::span<const double> values) const
{
  std::vector<double> result;
  result.reserve(class_expressions.size());
  for (const Expression& expression : class_expressions)
    result.push_back(expression.evaluate(values));
  return result;
}

} // namespace umwelt::kernels
