// SPDX-License-Identifier: LGPL-2.1-or-later
// The named parameters of a model at the place of a call: constants, and what a table says of the node.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/parameter_table.h"

namespace umwelt::kernels
{

struct Constant {
  std::string name;
  double value; // seconds, if it is a time
  bool is_time;
};

class PlaceParameters
{
public:
  PlaceParameters() = default; // none
  // A constant of the name of a column holds where the table has no row for the place.
  PlaceParameters(std::span<const Constant> constants, std::optional<ParameterTable> table, RowChoice choice,
                  Missing missing);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<std::uint8_t>& times() const { return times_; }
  [[nodiscard]] const std::optional<ParameterTable>& table() const { return table_; }

  // In the order of names(); as long as this object lives. What is drawn is drawn once for each place.
  [[nodiscard]] std::span<const double> at(const Place& place, const RandomKey& key) const;

  // Throws UsageError for nodes (sockets, cores of a node) without values. Cores are dealt to sockets evenly and in
  // order.
  void check(std::uint32_t nodes, std::uint32_t sockets, std::uint32_t cores) const;

private:
  [[nodiscard]] bool known(const Place& place) const
  {
    return !table_ || missing_ != Missing::error || complete_ || table_->has(place);
  }

  std::vector<std::string> names_;
  std::vector<std::uint8_t> times_;
  std::vector<double> constants_;
  bool complete_ = true;             // each parameter is a constant, too
  std::vector<std::size_t> columns_; // of the table: which of names_ they are
  std::optional<ParameterTable> table_;
  RowChoice choice_ = RowChoice::mean;
  Missing missing_ = Missing::error;
  mutable std::map<std::array<std::uint32_t, 3>, std::vector<double>> places_;
};

} // namespace umwelt::kernels
